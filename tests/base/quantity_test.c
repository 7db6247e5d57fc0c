// Amounts and times as people write them: what is read, and what is refused in which words.
#include "base/duration.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

enum {
    UNTOUCHED = -7
};

typedef int (*parse_fn)(const char *text, int64_t *out, struct error *err);

struct parse_case {
    const char *text;
    int64_t want;
    const char *want_message;
};

static const struct parse_case CPUS[] = {
    {"0.5", 500, ""},
    {"500m", 500, ""},
    {"2", 2000, ""},
    {"0.0001", 1, ""},
    {"1.2345", 1235, ""},
    {"m", UNTOUCHED, "m: not a number of cores"},
    {"1k", UNTOUCHED, "1k: cores like 0.5 or 500m"},
    {"-0.5", UNTOUCHED, "-0.5: not a number of cores"},
    {"1e99", UNTOUCHED, "1e99: cores like 0.5 or 500m"},
};

static const struct parse_case MEMORY[] = {
    {"100M", 100000000, ""},
    {"1Gi", 1073741824, ""},
    {"1.5G", 1500000000, ""},
    {"1500000", 1500000, ""},
    {"2e9", 2000000000, ""},
    {"0.5", 1, ""},
    {"+1Ki", 1024, ""},
    {"8Pi", 9007199254740992, ""},
    {"1Zi", UNTOUCHED, "1Zi: unknown unit; k, M, G, T, P, Ki, Mi, Gi, Ti or Pi"},
    {"lots", UNTOUCHED, "lots: not an amount of memory"},
    {"-1", UNTOUCHED, "-1: not an amount of memory"},
    {"1e", UNTOUCHED, "1e: unknown unit; k, M, G, T, P, Ki, Mi, Gi, Ti or Pi"},
    {"1e31", UNTOUCHED, "1e31: not an amount of memory"},
    {"9999999Pi", UNTOUCHED, "9999999Pi: more memory than 64 bits count"},
};

static const struct parse_case DURATIONS[] = {
    {"90s", 90000, ""},
    {"5m", 300000, ""},
    {"1h30m", 5400000, ""},
    {"2d", 172800000, ""},
    {"1w", 604800000, ""},
    {"500ms", 500, ""},
    {"30", 30000, ""},
    {"1.5h", 5400000, ""},
    {"0", 0, ""},
    {"", UNTOUCHED, ": not a duration like 90s, 5m or 1h30m"},
    {"fast", UNTOUCHED, "fast: not a duration like 90s, 5m or 1h30m"},
    {"5x", UNTOUCHED, "5x: not a duration like 90s, 5m or 1h30m"},
    {"-5s", UNTOUCHED, "-5s: not a duration like 90s, 5m or 1h30m"},
    {"999999999999w", UNTOUCHED, "999999999999w: not a duration like 90s, 5m or 1h30m"},
};

static const struct parse_case TIMES[] = {
    {"1970-01-01T00:00:00Z", 0, ""},
    {"2022-01-01T03:49:52.531Z", 1641008992531, ""},
    {"2022-01-01T03:49:52+02:00", 1641001792000, ""},
    {"2024-02-29", 1709164800000, ""},
    {"2023-02-29", UNTOUCHED, "2023-02-29: not a time like 2022-01-01T03:49:52.531Z"},
    {"2022-01-01T25:00:00Z", UNTOUCHED, "2022-01-01T25:00:00Z: not a time like 2022-01-01T03:49:52.531Z"},
    {"2022-01-01T03:49:52", UNTOUCHED, "2022-01-01T03:49:52: not a time like 2022-01-01T03:49:52.531Z"},
    {"yesterday", UNTOUCHED, "yesterday: not a time like 2022-01-01T03:49:52.531Z"},
    {"", UNTOUCHED, ": not a time like 2022-01-01T03:49:52.531Z"},
};

static void check_cases(const char *what, parse_fn parse, const struct parse_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error err = {0};
        int64_t got = UNTOUCHED;
        parse(cases[i].text, &got, &err);
        check_int(got, cases[i].want, "%s \"%s\"", what, cases[i].text);
        check_text(err.message, cases[i].want_message, "%s \"%s\"", what, cases[i].text);
    }
}

int main(void)
{
    check_cases("CPU", quantity_parse_cpu, CPUS, COUNT(CPUS));
    check_cases("memory", quantity_parse_memory, MEMORY, COUNT(MEMORY));
    check_cases("duration", duration_parse, DURATIONS, COUNT(DURATIONS));
    check_cases("time", timestamp_parse, TIMES, COUNT(TIMES));

    int64_t milli = UNTOUCHED;
    check_int(quantity_gpu_from_real(0.29, &milli, NULL), 0, "0.29 is a hundredth's multiple");
    check_int(milli, 290, "0.29");
    check_int(quantity_gpu_from_real(NAN, &milli, NULL), -1, "not a number");
    check_int(quantity_gpu_from_real(0.001, &milli, NULL), -1, "too fine");
    check_int(quantity_gpu_from_real(-1, &milli, NULL), -1, "negative");

    char text[QUANTITY_TEXT_SIZE];
    check_text(quantity_format_milli(500, text), "0.5", "half");
    check_text(quantity_format_milli(-2000, text), "-2", "minus two");
    check_text(quantity_format_memory(104857600, text), "100Mi", "100 MiB");
    check_text(quantity_format_memory(100000000, text), "100000000", "100 MB");
    check_int(quantity_add(QUANTITY_UNLIMITED, 5), QUANTITY_UNLIMITED, "unlimited stays");
    check_int(quantity_add(INT64_MAX - 1, 5), QUANTITY_UNLIMITED, "no overflow");
    return check_finish();
}
