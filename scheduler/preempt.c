// Preemption: inside a project, a workload of higher priority takes the place of preemptible ones of lower priority.
#include "scheduler/evictions.h"
#include "scheduler/explain.h"
#include "scheduler/min_run_time.h"
#include "scheduler/preemption_delay.h"
#include "scheduler/queue.h"
#include "scheduler/unit.h"

static bool may_try(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    if (!preemption_delay_allows(cycle, pool, workload))
        return false;
    if (workload->spec->preemptible)
        return true;
    const struct amounts requested = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    return !queue_check_quota(cycle_queue(pool, workload), requested).queue;
}

static bool is_victim(struct cycle *cycle, struct pool *pool, struct workload *workload, struct amounts requested,
                      struct workload *victim)
{
    (void)requested;
    if (victim->spec->project != workload->spec->project || victim->spec->priority >= workload->spec->priority)
        return false;
    return min_run_time_can_shrink(victim) ||
           min_run_time_protects_until(cycle, pool, victim, workload) == SNAPSHOT_TIME_NONE;
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct search *search = context;
    const struct workload *victim = &cycle->workloads[pod->workload];
    const char *fate = pod->state.status == SNAPSHOT_POD_PIPELINED ? "moves" : "gives way";
    return arena_printf(cycle->arena, "%s of %s (priority %lld) %s to %s (priority %lld) of the same project %s",
                        pod->spec->name, victim->spec->name, (long long)victim->spec->priority, fate,
                        search->workload->spec->name, (long long)search->workload->spec->priority,
                        cycle_queue(search->pool, victim)->name);
}

void preempt_run(struct cycle *cycle, struct pool *pool)
{
    static const struct eviction_action ACTION = {may_try, is_victim, min_run_time_allows, why, "preempt"};
    evictions_run(cycle, pool, &ACTION);
}
