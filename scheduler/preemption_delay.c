#include "scheduler/preemption_delay.h"

#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/explain.h"

bool preemption_delay_allows(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    int64_t start = spec->created_ms;
    if (spec->last_eviction_ms != SNAPSHOT_TIME_NONE && spec->last_eviction_ms > start)
        start = spec->last_eviction_ms;
    int64_t until;
    if (spec->preemption_delay_ms <= 0 || __builtin_add_overflow(start, spec->preemption_delay_ms, &until) ||
        !cycle_is_before(cycle, until))
        return true;
    struct plan_explanation explanation =
        explain_blank(pool, EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED, NULL, RESOURCE_GPU);
    char text[TIMESTAMP_SIZE];
    timestamp_format(until, text);
    explanation.until_ms = until;
    explanation.message =
        arena_printf(cycle->arena, "May displace nobody before %s; its preemption delay is %lld seconds", text,
                     (long long)(spec->preemption_delay_ms / 1000));
    explain_add(cycle, pool, workload, explanation);
    return false;
}
