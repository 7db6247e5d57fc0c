// Ours: whether a reclaim lasts: see fairness.h.
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/ranking.h"

// Whether a workload that waits would be entitled to reclaim its unit from `own`, its project and its side holding this
// much: the project stays within its allocatable share, the side within quota, and `own` is beyond its quota or ranks
// below. (Its fair share may be that of an earlier round, in which not all that waits is counted; it is at least what
// it deserves and asks for.)
static bool is_entitled(struct search *search, struct workload *workload, const struct queue *own,
                        const struct queue *side, struct amounts project_held, struct amounts side_held)
{
    const struct queue *project = cycle_queue(search->pool, workload);
    unit_find(search->cycle, workload);
    struct amounts requested = unit_amounts(search->cycle, workload, search->pool->smallest_gpu_memory_mib);
    return !queue_exceeds_share(project, amounts_add(project_held, requested)) &&
           !queue_exceeds_deserved(side, amounts_add(side_held, requested)) &&
           (queue_exceeds_deserved(own, own->allocated) ||
            ranking_may_take(project, project_held, side, side_held, requested, own));
}

// Whether it is entitled now to take back from the reclaimer's side. One that lost nothing itself counts only where it
// was not entitled before.
static bool may_take_back(struct search *search, struct workload *workload, bool is_victim)
{
    const struct frozen_queues *frozen = search->context;
    const struct queue *project = cycle_queue(search->pool, workload);
    struct queue *own, *side;
    queue_find_sides(cycle_queue(search->pool, search->workload), cycle_queue(search->pool, workload), &own, &side);
    if (!is_entitled(search, workload, own, side, project->allocated, side->allocated))
        return false;
    struct amounts held_before =
        side->kind == QUEUE_KIND_PROJECT ? frozen->projects[side->index] : frozen->departments[side->index];
    return is_victim || !is_entitled(search, workload, own, side, frozen->projects[project->index], held_before);
}

// Projects whose side lost something to the reclaimer and is not beyond its quota any more.
static bool *find_losers(struct search *search, const struct scenario *scenario, bool *out_some)
{
    const struct cycle *cycle = search->cycle;
    const struct pool *pool = search->pool;
    size_t project_count = cycle->snapshot->project_count;
    bool *has_lost = arena_array(&search->arena, project_count + pool->department_count, sizeof(*has_lost));
    *out_some = false;
    for (size_t i = 0; i < scenario->count; i++) {
        const struct pod *pod = &cycle->pods[scenario->pods[i]];
        struct queue *own, *side;
        queue_find_sides(cycle_queue(pool, search->workload), cycle_queue(pool, &cycle->workloads[pod->workload]), &own,
                         &side);
        if (!pod->state.evicted || queue_exceeds_deserved(side, side->allocated))
            continue;
        has_lost[side->kind == QUEUE_KIND_PROJECT ? side->index : project_count + side->index] = true;
        *out_some = true;
    }
    for (size_t p = 0; p < project_count; p++) {
        has_lost[p] = has_lost[p] || has_lost[project_count + pool->projects[p].parent->index];
    }
    return has_lost;
}

// Whether the pool is tried for it in this cycle, be it in a later round.
static bool may_wait_for(const struct pool *pool, const struct workload *workload)
{
    if (!unit_is_candidate(workload) || (workload->home != SNAPSHOT_NONE && workload->home != pool->index))
        return false;
    for (size_t i = 0; i < workload->spec->node_pool_count; i++) {
        if (workload->spec->node_pools[i] == pool->index)
            return true;
    }
    return false;
}

bool fairness_lasts(struct search *search, const struct scenario *scenario)
{
    struct cycle *cycle = search->cycle;
    bool some;
    if (!search->workload->spec->preemptible || search->pending_count < search->unit_count)
        return true;
    const bool *has_lost = find_losers(search, scenario, &some);
    for (size_t i = 0; some && i < scenario->count; i++) {
        const struct pod *pod = &cycle->pods[scenario->pods[i]];
        if (pod->state.evicted && may_take_back(search, &cycle->workloads[pod->workload], true))
            return false;
    }
    for (size_t i = 0; some && i < cycle->snapshot->workload_count; i++) {
        struct workload *waiting = &cycle->workloads[i];
        if (waiting != search->workload && has_lost[waiting->spec->project] && may_wait_for(search->pool, waiting) &&
            may_take_back(search, waiting, false))
            return false;
    }
    return true;
}
