// Times as text and back, against the C library's calendar.
#include "base/error.h"
#include "base/timestamp.h"
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

struct text_case {
    const char *name;
    int64_t time_ms;
    const char *want;
};

static const struct text_case CASES[] = {
    {"the epoch", 0, "1970-01-01T00:00:00.000Z"},
    {"the first millisecond", 1, "1970-01-01T00:00:00.001Z"},
    {"before the epoch", -1, "1969-12-31T23:59:59.999Z"},
    {"the contract's example", 1641009012531 - 19620000, "2021-12-31T22:23:12.531Z"},
    {"a leap day", 1709164800000, "2024-02-29T00:00:00.000Z"},
    {"a century without a leap day", 4107542400000, "2100-03-01T00:00:00.000Z"},
    {"the last year", 253402300799999, "9999-12-31T23:59:59.999Z"},
    {"beyond the last year", 253402300800000, "9999-12-31T23:59:59.999Z"},
    {"the end of 64 bits", INT64_MAX, "9999-12-31T23:59:59.999Z"},
    {"the beginning of 64 bits", INT64_MIN, "0000-01-01T00:00:00.000Z"},
};

static void check_against_library(int64_t time_ms)
{
    char want[TIMESTAMP_SIZE], got[TIMESTAMP_SIZE];
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t length = strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(want + length, sizeof(want) - length, ".%03dZ", (int)(time_ms % 1000));
    timestamp_format(time_ms, got);
    check_text(got, want, "%" PRId64 " ms", time_ms);
    int64_t back = -1;
    check_int(timestamp_parse(got, &back, NULL), 0, "%s is read", got);
    check_int(back, time_ms, "%s read back", got);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[TIMESTAMP_SIZE];
        timestamp_format(CASES[i].time_ms, text);
        check_text(text, CASES[i].want, "%s", CASES[i].name);
    }
    // A step prime to days and years, to 2400.
    for (int64_t time_ms = 0; time_ms < 13569465600000; time_ms += 8640000019LL)
        check_against_library(time_ms);
    return check_finish();
}
