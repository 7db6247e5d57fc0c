#include "reconciler/turn/clock_back.h"

static bool pull(int64_t *moment_ms, int64_t now_ms)
{
    if (*moment_ms <= now_ms)
        return false;
    *moment_ms = now_ms;
    return true;
}

static void pull_pod(struct turn *turn, struct cache_pod *pod)
{
    int64_t *moments[] = {&pod->scheduled_ms, &pod->started_ms,    &pod->stopping_ms,
                          &pod->completed_ms, &pod->idle_since_ms, &pod->unused_since_ms};
    bool any = false;
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
        any |= pull(moments[i], turn->now_ms);
    if (any)
        turn_touch_pod(turn, pod);
}

static void pull_workload(struct turn *turn, struct cache_workload *workload)
{
    int64_t *moments[] = {&workload->phase_updated_ms, &workload->started_ms,     &workload->completed_ms,
                          &workload->last_eviction_ms, &workload->stale_since_ms, &workload->displaced_ms,
                          &workload->time_warned_ms,   &workload->idle_warned_ms};
    bool any = false;
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
        any |= pull(moments[i], turn->now_ms);
    if (any)
        turn_touch_workload(turn, workload);
    for (size_t i = 0; i < workload->pod_count; i++)
        pull_pod(turn, workload->pods[i]);
}

void clock_set_back(struct turn *turn)
{
    for (size_t i = 0; i < turn->cache->workload_count; i++)
        pull_workload(turn, turn->cache->order[i]);
    turn->cache->needs_plan = true;
}
