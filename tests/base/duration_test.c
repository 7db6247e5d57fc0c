// Durations as sentences have them.
#include "base/duration.h"
#include "tests/support/check.h"

#include <stddef.h>

struct words_case {
    const char *name;
    int64_t ms;
    const char *want;
};

static const struct words_case WORDS[] = {
    {"nothing", 0, "0 s"},
    {"parts of a second go", 1999, "1 s"},
    {"a minute is seconds", 60000, "60 s"},
    {"up to two minutes", 119999, "119 s"},
    {"minutes with what is left", 125000, "2 min 5 s"},
    {"whole minutes", 3000000, "50 min"},
    {"an hour is minutes", 3600000, "60 min"},
    {"hours with what is left", 85800000, "23 h 50 min"},
    {"seconds beside hours go", 85859000, "23 h 50 min"},
    {"a day is hours", 86400000, "24 h"},
    {"days", 259200000, "3 d"},
    {"days with what is left", 266400000, "3 d 2 h"},
    {"the longest", INT64_MAX, "106751991167 d 7 h"},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        char text[DURATION_WORDS_SIZE];
        check_text(duration_words(WORDS[i].ms, text), WORDS[i].want, "%s", WORDS[i].name);
    }
    return check_finish();
}
