#include "scheduler/snapshot.h"

#include <assert.h>
#include <string.h>

static const char *const POD_STATUS_NAMES[SNAPSHOT_POD_STATUS_COUNT] = {
    [SNAPSHOT_POD_PENDING] = "Pending",     [SNAPSHOT_POD_GATED] = "Gated",
    [SNAPSHOT_POD_PIPELINED] = "Pipelined", [SNAPSHOT_POD_BINDING] = "Binding",
    [SNAPSHOT_POD_BOUND] = "Bound",         [SNAPSHOT_POD_RUNNING] = "Running",
    [SNAPSHOT_POD_RELEASING] = "Releasing", [SNAPSHOT_POD_STUCK_IN_RELEASING] = "StuckInReleasing",
    [SNAPSHOT_POD_SUCCEEDED] = "Succeeded", [SNAPSHOT_POD_FAILED] = "Failed",
};

static const char *const ACTION_NAMES[ACTION_COUNT] = {
    [ACTION_ALLOCATE] = "allocate", [ACTION_CONSOLIDATION] = "consolidation",           [ACTION_RECLAIM] = "reclaim",
    [ACTION_PREEMPT] = "preempt",   [ACTION_STALE_GANG_EVICTION] = "stalegangeviction",
};

const char *snapshot_pod_status_name(enum snapshot_pod_status status)
{
    assert(status < SNAPSHOT_POD_STATUS_COUNT);
    return POD_STATUS_NAMES[status];
}

const char *scheduler_action_name(enum scheduler_action action)
{
    assert(action < ACTION_COUNT);
    return ACTION_NAMES[action];
}

void snapshot_defaults(struct snapshot *out_snapshot)
{
    memset(out_snapshot, 0, sizeof(*out_snapshot));
    for (size_t i = 0; i < ACTION_COUNT; i++)
        out_snapshot->actions[i] = (enum scheduler_action)i;
    out_snapshot->action_count = ACTION_COUNT;
    out_snapshot->searches_for = SNAPSHOT_NONE;
    struct snapshot_settings *settings = &out_snapshot->settings;
    settings->staleness_grace_ms = 60 * 1000;
    settings->max_consolidation_victims = 16;
    settings->full_hierarchy_fairness = true;
    for (size_t i = 0; i < ACTION_COUNT; i++)
        settings->depth[i] = SNAPSHOT_COUNT_UNLIMITED;
    settings->reclaim_min_run_time_method = RECLAIM_MIN_RUN_TIME_LCA;
    settings->saturation_multiplier_milli = 1000;
    settings->scenarios_per_workload = SNAPSHOT_COUNT_UNLIMITED;
    settings->scenarios_per_action = SNAPSHOT_COUNT_UNLIMITED;
    settings->search_steps = SNAPSHOT_STEPS_UNLIMITED;
}

struct snapshot_queue snapshot_queue_default(void)
{
    return (struct snapshot_queue){
        .rank = 100,
        .deserved = {{[RESOURCE_GPU] = 0, [RESOURCE_CPU] = QUANTITY_UNLIMITED, [RESOURCE_MEMORY] = QUANTITY_UNLIMITED}},
        .limit = {{QUANTITY_UNLIMITED, QUANTITY_UNLIMITED, QUANTITY_UNLIMITED}},
        .over_quota_weight_milli = {{1000, 1000, 1000}},
    };
}

uint32_t snapshot_displaced_again(const struct snapshot_workload *workload, int64_t now_ms)
{
    if (workload->displaced_count == 0 || now_ms - workload->displaced_ms > SNAPSHOT_PEACE_MS)
        return 1;
    return workload->displaced_count < UINT32_MAX ? workload->displaced_count + 1 : UINT32_MAX;
}

bool snapshot_gpu_is_unhealthy(const struct snapshot_node *node, uint32_t gpu)
{
    for (size_t i = 0; i < node->unhealthy_gpu_count; i++) {
        if (node->unhealthy_gpus[i] == gpu)
            return true;
    }
    return false;
}
