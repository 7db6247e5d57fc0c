// Budgets of GPU hours: what a project, or one person of it, may use in each week, month or quarter. docs/rules.md.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget_period { // of UTC
    BUDGET_WEEK,     // from Monday
    BUDGET_MONTH,
    BUDGET_QUARTER,
    BUDGET_PERIOD_COUNT
};

#define BUDGET_NONE (-1)

// GPU hours in thousandths; BUDGET_NONE: no bound.
struct budget {
    int64_t hours_milli;        // of the whole project
    int64_t person_hours_milli; // of each person
    enum budget_period period;
    bool refuses; // where it is used up, submissions that ask for GPUs are refused
};

// What of it is used.
struct budget_use {
    const char *name;      // of the person; NULL: the whole project's
    int64_t used_milli_ms; // thousandths of a device times milliseconds
    int64_t held_milli;    // GPUs at the moment
    int64_t hours_milli;   // the budget; BUDGET_NONE
    bool is_over;
    int64_t used_up_ms; // when it will be, if what is held stays so; INT64_MAX: not in this period
};
struct budget_state {
    struct budget terms;
    int64_t start_ms, end_ms; // of the period
    struct budget_use whole;
    struct budget_use *people; // by name
    size_t people_count;
};

// "week", "month", "quarter": as in the API. Static text.
const char *budget_period_text(enum budget_period period);
// BUDGET_MONTH where text is NULL or none of them.
enum budget_period budget_period_of(const char *text);
// The period that has this moment: its first millisecond, and that of the next one.
void budget_period_around(enum budget_period period, int64_t time_ms, int64_t *out_start_ms, int64_t *out_end_ms);
// "November 2026", "the quarter from October 2026", "the week from 23 November 2026".
enum {
    BUDGET_WORDS_SIZE = 64
};
void budget_period_words(enum budget_period period, int64_t start_ms, char out[BUDGET_WORDS_SIZE]);
