#include "cli/submit/start_time.h"

#include "base/duration.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *word, *clock;
} WORDS[] = {{"midnight", "00:00"}, {"noon", "12:00"}};

static const struct {
    const char *word;
    int64_t ms;
} UNITS[] = {{"second", 1000}, {"minute", 60000}, {"hour", 3600000}, {"day", 86400000}, {"week", 604800000}};

// 90, 2h, 1h30m; 2hours, 1day.
static bool parse_rest(const char *text, int64_t *out_ms)
{
    struct error cause = {0};
    char *end;
    long count = strtol(text, &end, 10);
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        size_t length = strlen(UNITS[i].word);
        if (count >= 0 && count < 1000000 && end > text && strncmp(end, UNITS[i].word, length) == 0 &&
            (!end[length] || strcmp(end + length, "s") == 0)) {
            *out_ms = count * UNITS[i].ms;
            return true;
        }
    }
    return duration_parse(text, out_ms, &cause) == 0;
}

// The whole text has that form of strptime's.
static bool has_form(const char *text, const char *form, struct tm *out)
{
    const char *end = strptime(text, form, out);
    return end && !*end;
}

// Seconds since the epoch; -1 where there is no such time.
static int64_t local_time(struct tm time)
{
    struct tm wanted = time;
    time.tm_isdst = -1;
    time_t seconds = mktime(&time);
    bool is_same_day = time.tm_mday == wanted.tm_mday && time.tm_mon == wanted.tm_mon;
    return is_same_day ? seconds : -1; // strptime takes the 31st of February
}

static int64_t parse_day(const char *text)
{
    static const char *const FORMS[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
        struct tm time = {0};
        if (has_form(text, FORMS[i], &time))
            return local_time(time);
    }
    return -1;
}

static int64_t parse_clock(const char *text, int64_t now_ms)
{
    time_t now = (time_t)(now_ms / 1000);
    struct tm today;
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(text, WORDS[i].word) == 0)
            text = WORDS[i].clock;
    if (!localtime_r(&now, &today))
        return -1;
    today.tm_sec = 0;
    if (!has_form(text, "%H:%M", &today) && !has_form(text, "%H:%M:%S", &today))
        return -1;
    today.tm_isdst = -1;
    struct tm tomorrow = today;
    int64_t seconds = mktime(&today);
    if (seconds * 1000 > now_ms)
        return seconds;
    tomorrow.tm_mday++;
    return mktime(&tomorrow);
}

int start_time_parse(const char *text, int64_t now_ms, int64_t *out_time_ms, struct error *err)
{
    struct error cause = {0};
    int64_t rest_ms = 0;
    if (strcmp(text, "now") == 0 ||
        (strncmp(text, "now+", strlen("now+")) == 0 && parse_rest(text + strlen("now+"), &rest_ms))) {
        *out_time_ms = now_ms + rest_ms;
        return 0;
    }
    int64_t seconds = parse_day(text);
    if (seconds < 0)
        seconds = parse_clock(text, now_ms);
    if (seconds >= 0) {
        *out_time_ms = seconds * 1000;
        return 0;
    }
    if (strpbrk(text, "Tt") && timestamp_parse(text, out_time_ms, &cause) == 0)
        return 0;
    return error_set(err, ERROR_INVALID, "%s is no time such as now+2h, 22:00, 2026-01-31 or 2026-01-31T22:00", text);
}
