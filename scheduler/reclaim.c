// Reclaim: a project takes back, up to its fair share, what others use of it.
#include "scheduler/evictions.h"
#include "scheduler/explain.h"
#include "scheduler/fairness.h"
#include "scheduler/min_run_time.h"
#include "scheduler/preemption_delay.h"
#include "scheduler/unit.h"

static void explain_share(struct cycle *cycle, struct pool *pool, struct workload *workload, enum resource resource)
{
    const struct queue *queue = cycle_queue(pool, workload);
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_OVER_FAIR_SHARE, queue, resource);
    explanation.requested = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib).of[resource];
    explanation.message = arena_printf(
        cycle->arena, "project %s may not reclaim: its fair share is %s, it holds %s, and %s more are asked for",
        queue->name, explain_amount(cycle->arena, resource, explanation.fair_share),
        explain_amount(cycle->arena, resource, explanation.allocated),
        explain_amount(cycle->arena, resource, explanation.requested));
    explain_add(cycle, pool, workload, explanation);
}

static bool may_try(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    if (!preemption_delay_allows(cycle, pool, workload))
        return false;
    const enum resource refused = fairness_refuses(cycle, pool, workload);
    if (refused == RESOURCE_COUNT)
        return true;
    explain_share(cycle, pool, workload, refused);
    return false;
}

static bool is_victim(struct cycle *cycle, struct pool *pool, struct workload *workload, struct amounts requested,
                      struct workload *victim)
{
    if (victim->spec->project == workload->spec->project || !fairness_is_victim(pool, workload, requested, victim))
        return false;
    return min_run_time_can_shrink(victim) ||
           min_run_time_protects_until(cycle, pool, victim, workload) == SNAPSHOT_TIME_NONE;
}

static bool is_lawful(struct search *search, const struct scenario *scenario)
{
    return fairness_allows(search, scenario) && min_run_time_allows(search, scenario);
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct search *search = context;
    const struct frozen_queues *frozen = search->context;
    struct arena *arena = cycle->arena;
    const struct workload *victim = &cycle->workloads[pod->workload];
    const struct queue *own = cycle_queue(search->pool, search->workload), *other = cycle_queue(search->pool, victim);
    // The resource that tells most: the first that the other side holds over what it deserves.
    enum resource r = RESOURCE_GPU;
    for (enum resource next = RESOURCE_GPU; next < RESOURCE_COUNT; next++) {
        if (frozen->projects[other->index].of[next] > other->spec->deserved.of[next]) {
            r = next;
            break;
        }
    }
    const char *fate = pod->state.status == SNAPSHOT_POD_PIPELINED ? "moves" : "gives way";
    return arena_printf(
        arena,
        "%s of %s %s to %s of project %s, which held %s of a fair share of %s; project %s held %s, "
        "deserves %s and has a fair share of %s",
        pod->spec->name, victim->spec->name, fate, search->workload->spec->name, own->name,
        explain_amount(arena, r, frozen->projects[own->index].of[r]), explain_amount(arena, r, own->fair_share.of[r]),
        other->name, explain_amount(arena, r, frozen->projects[other->index].of[r]),
        explain_amount(arena, r, other->spec->deserved.of[r]), explain_amount(arena, r, other->fair_share.of[r]));
}

void reclaim_run(struct cycle *cycle, struct pool *pool)
{
    static const struct eviction_action ACTION = {may_try, is_victim, is_lawful, why, "reclaim"};
    evictions_run(cycle, pool, &ACTION);
}
