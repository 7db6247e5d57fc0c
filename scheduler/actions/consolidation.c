// Consolidation: moves preemptible pods together so that a waiting workload finds room. Nobody loses a place.
#include "model/told.h"
#include "scheduler/actions/evictions.h"
#include "scheduler/placing/explain.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/preemption_delay.h"

// Whether all that is free in the pool together would be enough.
static bool free_gpus_suffice(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    struct amounts requested = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    const struct search_bounds *bounds = search_bounds_of(cycle, pool);
    __int128 requested_mib = 0;
    bool asks_memory = false;
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        const struct request *request = &cycle->pods[workload->unit[i]].request;
        asks_memory = asks_memory || request->memory_mib > 0;
        requested_mib += (__int128)request->memory_mib * request->shared_devices * GPU_MILLI_PER_DEVICE;
    }
    return bounds->free_gpu_milli >= requested.of[RESOURCE_GPU] &&
           (!asks_memory || bounds->free_gpu_mib >= requested_mib);
}

static bool may_try(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    return workload->spec->preemptible && preemption_delay_allows(cycle, pool, workload) &&
           !evictions_would_not_help(cycle, pool, workload) && free_gpus_suffice(cycle, pool, workload);
}

static bool may_take_from(const struct pool *pool, const struct workload *workload, struct amounts requested,
                          uint32_t project)
{
    (void)pool, (void)workload, (void)requested, (void)project;
    return true;
}

static bool is_victim(struct cycle *cycle, struct pool *pool, struct workload *workload, struct workload *victim)
{
    (void)cycle, (void)pool, (void)workload, (void)victim;
    return true;
}

// Everybody who was evicted has a new place.
static bool is_lawful(struct search *search, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->count; i++) {
        if (search->cycle->pods[scenario->pods[i]].state.evicted)
            return false;
    }
    return true;
}

static bool may_lose(const struct search *search, const struct workload *victim)
{
    (void)search, (void)victim;
    return false;
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct search *search = context;
    return arena_printf(cycle->arena, "Moves to %s to make room for %s of project %s",
                        cycle->nodes[pod->state.place.node].spec->name,
                        told_name(cycle->arena, TOLD_WORKLOAD, search->workload->spec->name),
                        cycle_queue(search->pool, search->workload)->name);
}

static enum eviction_rule rule(const struct pod *victim)
{
    (void)victim;
    return EVICTION_MOVED;
}

void consolidation_run(struct cycle *cycle, struct pool *pool)
{
    static const struct eviction_action ACTION = {.may_try = may_try,
                                                  .may_take_from = may_take_from,
                                                  .is_victim = is_victim,
                                                  .is_lawful = is_lawful,
                                                  .may_lose = may_lose,
                                                  .why = why,
                                                  .rule = rule};
    if (cycle->snapshot->settings.max_consolidation_victims == 0 || pool->spec->gpu_placement == PLACEMENT_SPREAD ||
        pool->spec->cpu_placement == PLACEMENT_SPREAD)
        return;
    evictions_run(cycle, pool, &ACTION);
}
