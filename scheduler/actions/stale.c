// Stale gang eviction: a gang that lost pods below its minimum, and got them back in no time of grace, stops as a
// whole.
#include "scheduler/actions/evictions.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

static bool is_held(const struct workload *workload, const struct group *group)
{
    if (!group->is_set)
        return group->counts.used >= group->minimum;
    uint32_t held = 0;
    for (uint32_t i = 0; i < group->child_count; i++)
        held += is_held(workload, &workload->groups[workload->children[group->first_child + i]]);
    return held >= group->minimum;
}

bool stale_is(const struct workload *workload)
{
    return workload->counts.succeeded == 0 && workload->counts.used > 0 && !is_held(workload, &workload->groups[0]);
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct workload *workload = context;
    uint32_t needed = 0;
    for (uint32_t i = 0; i < workload->group_count; i++)
        needed += workload->groups[i].is_set ? 0 : workload->groups[i].minimum;
    (void)pod;
    return arena_printf(cycle->arena, "Stops with its gang: %u of %u pods %s left", workload->counts.used, needed,
                        workload->counts.used == 1 ? "is" : "are");
}

static enum eviction_rule rule(const struct pod *victim)
{
    (void)victim;
    return EVICTION_STALE_GANG;
}

static bool is_over_grace(struct cycle *cycle, const struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    int64_t grace = spec->staleness_grace_ms != SNAPSHOT_TIME_NONE ? spec->staleness_grace_ms
                                                                   : cycle->snapshot->settings.staleness_grace_ms;
    int64_t stale = spec->stale_ms != SNAPSHOT_TIME_NONE ? spec->stale_ms : 0;
    int64_t left, until;
    if (grace < 0 || __builtin_sub_overflow(grace, stale, &left) ||
        __builtin_add_overflow(cycle->snapshot->now_ms, left, &until))
        return false;
    return !cycle_is_before(cycle, until);
}

void stale_run(struct cycle *cycle, struct pool *pool)
{
    for (size_t i = 0; i < pool->holder_count; i++) {
        struct workload *workload = pool->holders[i];
        if (!stale_is(workload) || !is_over_grace(cycle, workload))
            continue;
        for (uint32_t p = 0; p < workload->spec->pod_count; p++) {
            const struct pod *pod = &cycle->pods[workload->spec->first_pod + p];
            if (pod_status_is_held(pod->state.status))
                statement_evict(cycle, pod->index);
        }
        struct statement_reasons reasons = {
            .beneficiary = SNAPSHOT_NONE, .evict = why, .rule = rule, .context = workload};
        statement_commit(cycle, pool->index, reasons);
    }
}
