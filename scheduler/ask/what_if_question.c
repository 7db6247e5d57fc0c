#include "scheduler/ask/what_if.h"

#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/ask/what_if_answer.h"
#include "scheduler/ask/what_if_fixes.h"

#include <string.h>

const char *what_if_verdict_name(enum what_if_verdict verdict)
{
    static const char *const NAMES[] = {"Starts", "StartsAfterRelease", "StartsByEviction", "Waits"};
    return NAMES[verdict];
}

const char *what_if_fix_kind_name(enum what_if_fix_kind kind)
{
    static const char *const NAMES[FIX_KIND_COUNT] = {"OtherNodePool", "OtherPreemptibility", "FewerGpus",
                                                      "FewerPods",     "OtherPriority",       "MoreQuota"};
    return NAMES[kind];
}

static const char *find_reason(const struct plan_workload *planned)
{
    for (size_t i = 1; i < planned->explanation_count; i++) {
        if (explanation_is_cause(planned->explanations[i].code))
            return planned->explanations[i].message;
    }
    return NULL;
}

// Numbers of the workload's project and department before and with it.
static int compare_queues(struct what_if_inquiry *inquiry, const struct what_if_trial *trial,
                          struct what_if_answer *answer, struct error *err)
{
    const struct snapshot_workload *workload = &trial->snapshot->workloads[trial->workload];
    size_t pools = inquiry->snapshot->node_pool_count;
    const struct snapshot *without = inquiry->snapshot;
    const struct plan *before = trial->is_new ? inquiry->question->before : NULL;
    if (!trial->is_new)
        without = what_if_without(inquiry->snapshot, trial->workload, &inquiry->scratch);
    if (!before && what_if_plan(inquiry, without, &inquiry->scratch, &before, err) < 0)
        return -1;
    answer->queue_node_pool = answer->node_pool != SNAPSHOT_NONE ? answer->node_pool : workload->node_pools[0];
    answer->project = workload->project;
    answer->department = inquiry->snapshot->projects[workload->project].department;
    size_t project = answer->project * pools + answer->queue_node_pool;
    size_t department = answer->department * pools + answer->queue_node_pool;
    answer->project_before = before->projects[project];
    answer->project_with = trial->plan->projects[project];
    answer->department_before = before->departments[department];
    answer->department_with = trial->plan->departments[department];
    arena_clear(&inquiry->scratch);
    return 0;
}

// With the cluster to itself.
enum alone {
    ALONE_STARTS,
    ALONE_NOT_FOUND, // no place was found, which proves nothing
    ALONE_NEVER
};

// out_why says what is lacking where it does not start.
static int plan_alone(struct what_if_inquiry *inquiry, const struct what_if_trial *asked, enum alone *out_alone,
                      const char **out_why, struct error *err)
{
    struct what_if_trial trial = {.snapshot = what_if_alone(asked->snapshot, asked->workload, &inquiry->scratch)};
    if (what_if_plan(inquiry, trial.snapshot, &inquiry->scratch, &trial.plan, err) < 0)
        return -1;
    struct what_if_outcome outcome = what_if_read(&trial, &inquiry->scratch);
    const struct plan_workload *planned = &trial.plan->workloads[trial.workload];
    *out_alone = outcome.verdict == WHAT_IF_WAITS ? ALONE_NEVER : ALONE_STARTS;
    for (size_t i = 0; i < planned->explanation_count; i++) {
        if (*out_alone == ALONE_NEVER && planned->explanations[i].may_fit_otherwise)
            *out_alone = ALONE_NOT_FOUND;
    }
    *out_why = arena_strdup(inquiry->arena, outcome.sentence);
    arena_clear(&inquiry->scratch);
    return 0;
}

// Whether it starts at that time if nothing else changes; where not, the time at which the next rule lets go, or
// SNAPSHOT_TIME_NONE.
static int starts_at(struct what_if_inquiry *inquiry, const struct what_if_trial *asked, int64_t time_ms,
                     bool *out_starts, int64_t *out_next_ms, struct error *err)
{
    struct what_if_trial trial = *asked;
    trial.snapshot = what_if_later(asked->snapshot, time_ms, &inquiry->scratch);
    if (what_if_plan(inquiry, trial.snapshot, &inquiry->scratch, &trial.plan, err) < 0)
        return -1;
    *out_starts = what_if_read(&trial, &inquiry->scratch).verdict != WHAT_IF_WAITS;
    *out_next_ms = plan_forecast_of(&trial.plan->workloads[trial.workload], &inquiry->scratch).at_ms;
    arena_clear(&inquiry->scratch);
    return 0;
}

// Goes through the times at which rules let go, of those close together only the last ones.
static int find_start(struct what_if_inquiry *inquiry, const struct what_if_trial *asked, int64_t first_ms,
                      int64_t *out_start_ms, struct error *err)
{
    bool starts = false;
    int64_t time_ms = first_ms, next_ms, step_ms = 1000;
    *out_start_ms = SNAPSHOT_TIME_NONE;
    for (unsigned tries = 0; tries < WHAT_IF_TIMES_MAXIMUM; tries++, step_ms *= 2) {
        if (starts_at(inquiry, asked, time_ms, &starts, &next_ms, err) < 0)
            return -1;
        if (starts)
            *out_start_ms = time_ms;
        if (starts || next_ms == SNAPSHOT_TIME_NONE)
            return 0;
        time_ms = next_ms > time_ms + step_ms ? next_ms : time_ms + step_ms;
    }
    return 0;
}

// The sentence behind a colon: its first word small, unless it may be a name.
static const char *inside_sentence(const char *sentence, struct arena *arena)
{
    static const char *const STARTS[] = {"Needs ", "None of ", "No ", "Non-preemptible "};
    for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++) {
        if (strncmp(sentence, STARTS[i], strlen(STARTS[i])) == 0)
            return arena_printf(arena, "n%s", sentence + 1);
    }
    return sentence;
}

static bool has_reservation(const struct plan_workload *planned)
{
    for (size_t i = 0; i < planned->explanation_count; i++) {
        if (planned->explanations[i].code == EXPLANATION_HAS_RESERVATION)
            return true;
    }
    return false;
}

static int forecast(struct what_if_inquiry *inquiry, const struct what_if_trial *asked, struct what_if_answer *answer,
                    struct error *err)
{
    struct arena *arena = inquiry->arena;
    answer->forecast = plan_forecast_of(&asked->plan->workloads[asked->workload], arena);
    if (answer->verdict == WHAT_IF_STARTS) {
        answer->forecast = (struct plan_forecast){FORECAST_NOW, SNAPSHOT_TIME_NONE,
                                                  "Starts in the next cycle, unless new submissions change that"};
    }
    if (answer->verdict != WHAT_IF_WAITS || asked->plan->workloads[asked->workload].explanation_count == 0)
        return 0;
    enum alone alone;
    const char *why;
    if (plan_alone(inquiry, asked, &alone, &why, err) < 0)
        return -1;
    if (alone != ALONE_STARTS) {
        answer->forecast = (struct plan_forecast){
            alone == ALONE_NEVER ? FORECAST_NEVER : FORECAST_UNKNOWN, SNAPSHOT_TIME_NONE,
            arena_printf(arena,
                         alone == ALONE_NEVER ? "Cannot start as asked, even with all other work gone: %s"
                                              : "No place was found for it, even with all other work gone: %s",
                         inside_sentence(why, arena))};
        return 0;
    }
    // The end of others' runs is known to a reservation alone.
    if (answer->forecast.kind != FORECAST_RULE || has_reservation(&asked->plan->workloads[asked->workload]))
        return 0;
    int64_t first_ms = answer->forecast.at_ms;
    int64_t start_ms;
    char text[TIMESTAMP_SIZE];
    if (find_start(inquiry, asked, first_ms, &start_ms, err) < 0)
        return -1;
    if (start_ms != SNAPSHOT_TIME_NONE) {
        timestamp_format(start_ms, text);
        answer->forecast.at_ms = start_ms;
        answer->forecast.sentence = arena_printf(
            arena,
            start_ms == first_ms ? "Gets its place at %s if nothing else changes: the blocking rule ends then"
                                 : "Gets its place by %s if nothing else changes: the blocking rules end by then",
            text);
        return 0;
    }
    timestamp_format(first_ms, text);
    answer->forecast = (struct plan_forecast){
        FORECAST_UNKNOWN, SNAPSHOT_TIME_NONE,
        arena_printf(arena, "Depends on others to free or yield room; what ends from %s on is not enough", text)};
    return 0;
}

static int answer_question(struct what_if_inquiry *inquiry, struct what_if_answer *answer, struct error *err)
{
    struct what_if_trial asked;
    if (what_if_try(inquiry, NULL, inquiry->arena, &asked, err) < 0)
        return -1;
    const struct plan_workload *planned = &asked.plan->workloads[asked.workload];
    struct what_if_outcome outcome = what_if_read(&asked, inquiry->arena);
    answer->verdict = outcome.verdict;
    answer->sentence = outcome.sentence;
    answer->node_pool = outcome.node_pool;
    answer->nodes = outcome.nodes;
    answer->node_count = outcome.node_count;
    answer->displaced = outcome.displaced;
    answer->displaced_count = outcome.displaced_count;
    inquiry->asked = &asked;
    if (outcome.verdict == WHAT_IF_WAITS) {
        answer->reason = find_reason(planned);
        answer->explanations = planned->explanations;
        answer->explanation_count = planned->explanation_count;
    } else {
        answer->could_lose_to = what_if_could_lose_to(&asked, outcome.node_pool, inquiry->arena);
    }
    if (compare_queues(inquiry, &asked, answer, err) < 0 || forecast(inquiry, &asked, answer, err) < 0)
        return -1;
    if (outcome.verdict != WHAT_IF_WAITS || !inquiry->question->wants_fixes || planned->node_pool != SNAPSHOT_NONE)
        return 0;
    return what_if_find_fixes(inquiry, answer, err);
}

int scheduler_what_if(const struct snapshot *snapshot, const struct what_if_question *question, struct arena *arena,
                      struct what_if_answer **out_answer, struct error *err)
{
    struct what_if_answer *answer = arena_alloc(arena, sizeof(*answer));
    struct what_if_inquiry inquiry = {.snapshot = snapshot, .question = question, .arena = arena, .answer = answer};
    arena_init(&inquiry.scratch);
    int rc = answer_question(&inquiry, answer, err);
    arena_done(&inquiry.scratch);
    answer->plan_count = inquiry.plan_count;
    if (rc == 0)
        *out_answer = answer;
    return rc;
}
