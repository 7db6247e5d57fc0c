#include "scheduler/what_if.h"

#include "base/arena.h"
#include "scheduler/scheduler.h"
#include "scheduler/what_if_answer.h"

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
static void compare_queues(const struct snapshot *snapshot, const struct plan *before,
                           const struct what_if_trial *trial, struct what_if_answer *answer)
{
    const struct snapshot_workload *workload = &trial->snapshot->workloads[trial->workload];
    const size_t pools = snapshot->node_pool_count;
    answer->queue_node_pool = answer->node_pool != SNAPSHOT_NONE ? answer->node_pool : workload->node_pools[0];
    answer->project = workload->project;
    answer->department = snapshot->projects[workload->project].department;
    const size_t project = answer->project * pools + answer->queue_node_pool;
    const size_t department = answer->department * pools + answer->queue_node_pool;
    answer->project_before = before->projects[project];
    answer->project_with = trial->plan->projects[project];
    answer->department_before = before->departments[department];
    answer->department_with = trial->plan->departments[department];
}

static int plan_trial(struct what_if_trial *trial, struct arena *arena, struct error *err)
{
    struct plan *plan;
    if (scheduler_plan(trial->snapshot, arena, &plan, err) < 0)
        return -1;
    trial->plan = plan;
    return 0;
}

int scheduler_what_if(const struct snapshot *snapshot, const struct what_if_question *question, struct arena *arena,
                      struct what_if_answer **out_answer, struct error *err)
{
    struct what_if_trial trial = {.is_new = question->workload != NULL};
    struct what_if_answer *answer = arena_alloc(arena, sizeof *answer);
    struct snapshot *copy;
    struct plan *before;
    if (what_if_apply(snapshot, question, NULL, arena, &copy, &trial.workload, err) < 0 ||
        scheduler_plan(snapshot, arena, &before, err) < 0)
        return -1;
    trial.snapshot = copy;
    if (plan_trial(&trial, arena, err) < 0)
        return -1;
    const struct plan_workload *planned = &trial.plan->workloads[trial.workload];
    const struct what_if_outcome outcome = what_if_read(&trial, arena);
    answer->plan_count = 2;
    answer->verdict = outcome.verdict;
    answer->sentence = outcome.sentence;
    answer->node_pool = outcome.node_pool;
    answer->nodes = outcome.nodes;
    answer->node_count = outcome.node_count;
    answer->displaced = outcome.displaced;
    answer->displaced_count = outcome.displaced_count;
    answer->forecast = plan_forecast_of(planned, arena);
    if (outcome.verdict == WHAT_IF_WAITS) {
        answer->reason = find_reason(planned);
        answer->explanations = planned->explanations;
        answer->explanation_count = planned->explanation_count;
    } else {
        answer->could_lose_to = what_if_could_lose_to(&trial, outcome.node_pool, arena);
    }
    compare_queues(snapshot, before, &trial, answer);
    *out_answer = answer;
    return 0;
}
