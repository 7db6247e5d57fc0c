// Command lines as words.
#include "base/arena.h"
#include "base/error.h"
#include "model/shell_words.h"
#include "tests/support/check.h"

#include <string.h>

struct words_case {
    const char *name;
    const char *text;
    const char *want; // words joined by |; NULL: refused
    const char *want_message;
};

static const struct words_case CASES[] = {
    {"nothing", "", "", ""},
    {"blanks alone", " \t\n ", "", ""},
    {"plain words", "python  train.py --epochs 3", "python|train.py|--epochs|3", ""},
    {"single quotes keep everything", "sh -c 'echo \"$HOME\" \\n'", "sh|-c|echo \"$HOME\" \\n", ""},
    {"double quotes take four escapes", "\"a\\\"b\\\\c\\$d\\`e\\n\"", "a\"b\\c$d`e\\n", ""},
    {"quotes inside a word", "a'b c'd\"e f\"", "ab cde f", ""},
    {"an empty word", "a '' b", "a||b", ""},
    {"a backslash takes a blank", "a\\ b c", "a b|c", ""},
    {"a line goes on behind a backslash", "a \\\nb", "a|b", ""},
    {"variables stay as they are", "echo ${NAME}", "echo|${NAME}", ""},
    {"a single quote left open", "a 'b", NULL, "the quote before b is not closed"},
    {"a double quote left open", "\"a b", NULL, "the quote before a b is not closed"},
    {"a double quote escaped at the end", "\"a\\\"", NULL, "the quote before a\\\" is not closed"},
    {"a backslash at the end", "a \\", NULL, "a backslash at the end"},
    {"a quote alone", "'", NULL, "the quote before  is not closed"},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct error err = {0};
        struct arena arena;
        const char *const *words;
        size_t count;
        arena_init(&arena);
        int rc = shell_words_split(CASES[i].text, &arena, &words, &count, &err);
        check_int(rc, CASES[i].want ? 0 : -1, "%s", CASES[i].name);
        check_text(err.message, CASES[i].want_message, "%s: message", CASES[i].name);
        const char *joined = "";
        for (size_t j = 0; rc == 0 && j < count; j++)
            joined = arena_printf(&arena, "%s%s%s", joined, j ? "|" : "", words[j]);
        if (rc == 0)
            check_text(joined, CASES[i].want, "%s", CASES[i].name);
        arena_done(&arena);
    }
    return check_finish();
}
