#include "model/budget.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MONTHS_OF_QUARTER = 3,
    DAYS_OF_WEEK = 7
};
static const int64_t DAY_MS = INT64_C(86400000);

static const char *const TEXTS[BUDGET_PERIOD_COUNT] = {"week", "month", "quarter"};

const char *budget_period_text(enum budget_period period)
{
    return TEXTS[period];
}

enum budget_period budget_period_of(const char *text)
{
    for (enum budget_period period = 0; text && period < BUDGET_PERIOD_COUNT; period++)
        if (strcmp(text, TEXTS[period]) == 0)
            return period;
    return BUDGET_MONTH;
}

static struct tm day_of(int64_t time_ms)
{
    struct tm tm;
    time_t seconds = (time_t)(time_ms / 1000);
    gmtime_r(&seconds, &tm);
    return tm;
}

static int64_t month_start(int year, int month)
{
    struct tm tm = {.tm_year = year, .tm_mon = month, .tm_mday = 1};
    return (int64_t)timegm(&tm) * 1000; // a month after December is the next year's
}

void budget_period_around(enum budget_period period, int64_t time_ms, int64_t *out_start_ms, int64_t *out_end_ms)
{
    struct tm tm = day_of(time_ms);
    if (period == BUDGET_WEEK) {
        int since_monday = (tm.tm_wday + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK;
        *out_start_ms = (time_ms / DAY_MS - since_monday) * DAY_MS;
        *out_end_ms = *out_start_ms + DAYS_OF_WEEK * DAY_MS;
        return;
    }
    int months = period == BUDGET_QUARTER ? MONTHS_OF_QUARTER : 1;
    int first = tm.tm_mon - tm.tm_mon % months;
    *out_start_ms = month_start(tm.tm_year, first);
    *out_end_ms = month_start(tm.tm_year, first + months);
}

void budget_period_words(enum budget_period period, int64_t start_ms, char out[BUDGET_WORDS_SIZE])
{
    static const char *const FORMS[BUDGET_PERIOD_COUNT] = {"the week from %-d %B %Y", "%B %Y",
                                                           "the quarter from %B %Y"};
    struct tm tm = day_of(start_ms);
    if (strftime(out, BUDGET_WORDS_SIZE, FORMS[period], &tm) == 0) // year of more digits than any clock shows
        snprintf(out, BUDGET_WORDS_SIZE, "the %s", TEXTS[period]);
}
