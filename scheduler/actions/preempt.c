// Preemption: inside a project, a workload of higher priority takes the place of preemptible ones of lower priority.
#include "model/told.h"
#include "scheduler/actions/evictions.h"
#include "scheduler/actions/evidence.h"
#include "scheduler/placing/explain.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/state/wording.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/min_run_time.h"
#include "scheduler/victims/preemption_delay.h"

#include <inttypes.h>

static bool may_try(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    if (!preemption_delay_allows(cycle, pool, workload))
        return false;
    workload->takes_own = evictions_submitter_refuses(cycle, pool, workload);
    workload->takes_kept = evictions_budget_refuses(cycle, pool, workload);
    if (workload->spec->preemptible)
        return true;
    struct amounts requested = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    return !queue_check_quota(cycle_queue(pool, workload), requested).queue;
}

static bool may_take_from(const struct pool *pool, const struct workload *workload, struct amounts requested,
                          uint32_t project)
{
    (void)pool, (void)requested;
    return project == workload->spec->project;
}

static bool is_victim(struct cycle *cycle, struct pool *pool, struct workload *workload, struct workload *victim)
{
    if (victim->spec->priority >= workload->spec->priority ||
        (workload->takes_own && victim->person != workload->person) ||
        (workload->takes_kept && !victim->spec->over_budget))
        return false;
    return !cycle->has_min_run_time || min_run_time_can_shrink(victim) ||
           min_run_time_protects_until(cycle, pool, victim, workload) == SNAPSHOT_TIME_NONE;
}

static bool is_hopeless(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                        struct amounts requested, size_t *out_candidates)
{
    (void)requested;
    *out_candidates = 0;
    return search_bounds_of(cycle, pool)->projects[workload->spec->project].lowest_priority >= workload->spec->priority;
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct search *search = context;
    const struct workload *victim = &cycle->workloads[pod->workload];
    const char *fate =
        pod->state.status == SNAPSHOT_POD_PIPELINED
            ? arena_printf(cycle->arena, "Moves to %s for", cycle->nodes[pod->state.place.node].spec->name)
            : "Yields to";
    return arena_printf(
        cycle->arena, "%s %s of the same project %s, whose priority %" PRId64 " is above its own %" PRId64, fate,
        told_name(cycle->arena, TOLD_WORKLOAD, search->workload->spec->name), cycle_queue(search->pool, victim)->name,
        search->workload->spec->priority, victim->spec->priority);
}

static enum eviction_rule rule(const struct pod *victim)
{
    (void)victim;
    return EVICTION_HIGHER_PRIORITY;
}

// Where reclaim would take too much for the project's share, and preemption finds too little in the project, both
// together might do: docs/scheduler.md, 12.8. Who the other is; NULL where it is not so.
static const struct queue *find_other_side(const struct search *search, const struct queue *queue,
                                           struct amounts requested)
{
    const struct pool *pool = search->pool;
    if (!queue_exceeds_share(queue, amounts_add(queue->allocated, requested)))
        return NULL;
    for (size_t i = 0; i < search->cycle->snapshot->project_count; i++)
        if (&pool->projects[i] != queue && queue_exceeds_share(&pool->projects[i], pool->projects[i].allocated))
            return &pool->projects[i];
    return NULL;
}

static const char *say_no_room(struct search *search, const struct queue *queue, struct amounts requested)
{
    struct arena *arena = search->cycle->arena;
    const struct queue *other = find_other_side(search, queue, requested);
    const char *whose =
        search->workload->takes_own ? arena_printf(arena, "its submitter in %s", queue->name) : queue->name;
    const char *room =
        arena_printf(arena, "%zu %s of %s in node pool %s with a lower priority could give way, but that makes no room",
                     search->candidate_count, search->candidate_count == 1 ? "workload" : "workloads", whose,
                     search->pool->spec->name);
    return other ? arena_printf(arena, "%s; work of %s, over its fair share, never goes along with them", room,
                                other->name)
                 : room;
}

static void explain_nobody(struct search *search)
{
    struct cycle *cycle = search->cycle;
    const struct queue *queue = cycle_queue(search->pool, search->workload);
    if (search->candidate_count == 0 && (search->workload->takes_own || search->workload->takes_kept))
        return; // the submitter's bound or the budget says it all
    struct amounts requested = unit_amounts(cycle, search->workload, search->pool->smallest_gpu_memory_mib);
    enum resource r = wording_resource(requested);
    struct plan_explanation explanation = explain_blank(search->pool, EXPLANATION_NOTHING_TO_PREEMPT, queue, r);
    struct evidence evidence = evidence_of_preemption(search, requested);
    evidence_attach(&explanation, &evidence);
    explanation.requested = requested.of[r];
    const char *pool = search->pool->spec->name;
    if (search->candidate_count == 0 && evidence.first_end_ms != SNAPSHOT_TIME_NONE)
        explanation.message =
            explain_protection(cycle->arena, arena_printf(cycle->arena, "lower-priority work of %s", queue->name), pool,
                               evidence.first_end_ms);
    else if (search->candidate_count == 0)
        explanation.message = arena_printf(
            cycle->arena, "No workload of %s with a lower priority can be stopped in node pool %s", queue->name, pool);
    else
        explanation.message = say_no_room(search, queue, requested);
    explain_add(cycle, search->pool, search->workload, explanation);
}

void preempt_run(struct cycle *cycle, struct pool *pool)
{
    static const struct eviction_action ACTION = {.may_try = may_try,
                                                  .may_take_from = may_take_from,
                                                  .is_victim = is_victim,
                                                  .is_lawful = min_run_time_allows,
                                                  .is_hopeless = is_hopeless,
                                                  .why = why,
                                                  .rule = rule,
                                                  .explain_nobody = explain_nobody};
    evictions_run(cycle, pool, &ACTION);
}
