#include "scheduler/victims/preemption_delay.h"

#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/placing/explain.h"

#include <inttypes.h>

enum {
    FREE_DISPLACEMENTS = 3, // after which no patience is asked for yet
    FIRST_PATIENCE_MS = 60 * 1000,
    MOST_DOUBLINGS = 5
};

// Until when its own delay runs; SNAPSHOT_TIME_NONE: there is none.
static int64_t delay_until(const struct snapshot_workload *spec)
{
    int64_t start = spec->created_ms, until;
    if (spec->last_eviction_ms != SNAPSHOT_TIME_NONE && spec->last_eviction_ms > start)
        start = spec->last_eviction_ms;
    if (spec->preemption_delay_ms <= 0 || __builtin_add_overflow(start, spec->preemption_delay_ms, &until))
        return SNAPSHOT_TIME_NONE;
    return until;
}

// After the fourth displacement in a row a minute, then twice as long each time: two that displace each other in turn
// come to rest.
static int64_t patience_until(const struct snapshot_workload *spec)
{
    int64_t until;
    if (spec->displaced_count <= FREE_DISPLACEMENTS)
        return SNAPSHOT_TIME_NONE;
    uint32_t doublings = spec->displaced_count - FREE_DISPLACEMENTS - 1;
    doublings = doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS;
    if (__builtin_add_overflow(spec->displaced_ms, (int64_t)FIRST_PATIENCE_MS << doublings, &until))
        return SNAPSHOT_TIME_NONE;
    return until;
}

bool preemption_delay_allows(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    int64_t delay = delay_until(spec), patience = patience_until(spec);
    int64_t until = delay > patience ? delay : patience;
    if (until == SNAPSHOT_TIME_NONE || !cycle_is_before(cycle, until))
        return true;
    if (cycle->is_silent)
        return false;
    struct plan_explanation explanation =
        explain_blank(pool, EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED, NULL, RESOURCE_GPU);
    char text[TIMESTAMP_SIZE];
    timestamp_format(until, text);
    explanation.until_ms = until;
    if (delay >= patience)
        explanation.message =
            arena_printf(cycle->arena, "May displace nobody before %s; its preemption delay is %" PRId64 " seconds",
                         text, (int64_t)(spec->preemption_delay_ms / 1000));
    else
        explanation.message =
            arena_printf(cycle->arena, "May displace nobody before %s; others displaced it %u times in a row", text,
                         spec->displaced_count);
    explain_add(cycle, pool, workload, explanation);
    return false;
}
