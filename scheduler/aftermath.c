#include "scheduler/aftermath.h"

#include "base/arena.h"

void aftermath_of_workload(struct snapshot_workload *workload, const struct plan_workload *planned, int64_t now_ms)
{
    if (planned->was_displaced) {
        workload->displaced_count = snapshot_displaced_again(workload, now_ms);
        workload->displaced_ms = now_ms;
    }
    workload->promise = planned->promise;
    if (!planned->is_stale)
        workload->stale_ms = SNAPSHOT_TIME_NONE;
    else if (workload->stale_ms == SNAPSHOT_TIME_NONE)
        workload->stale_ms = 0;
}

struct snapshot_search_turn *aftermath_of_turns(const struct plan *plan, bool has_changed, struct arena *arena)
{
    struct snapshot_search_turn *turns = arena_array(arena, plan->search_turn_count, sizeof(*turns));
    for (size_t i = 0; i < plan->search_turn_count; i++) {
        turns[i] = plan->search_turns[i];
        turns[i].has_changed = turns[i].has_changed || has_changed;
    }
    return turns;
}

static void put(struct snapshot_pod *pod, enum snapshot_pod_status status, uint32_t node,
                const struct plan_devices *devices)
{
    pod->status = status;
    pod->node = node;
    pod->gpu_groups = devices->gpu_groups;
    pod->gpu_group_count = devices->gpu_group_count;
    pod->gpu_indices = devices->gpu_indices;
    // Which devices a promise will be is found when it starts.
    pod->gpu_index_count = status == SNAPSHOT_POD_PIPELINED ? 0 : devices->gpu_index_count;
}

static void put_nowhere(struct snapshot_pod *pod, enum snapshot_pod_status status)
{
    put(pod, status, SNAPSHOT_NONE, &(struct plan_devices){0});
}

void aftermath_at_once(struct snapshot_pod *pod, const struct plan_pod *planned, bool is_deleting, int64_t now_ms)
{
    enum snapshot_pod_status status = planned->status;
    if (status == SNAPSHOT_POD_BINDING) {
        status = SNAPSHOT_POD_RUNNING;
        pod->started_ms = now_ms;
    }
    if (status == SNAPSHOT_POD_RELEASING && !is_deleting)
        status = SNAPSHOT_POD_PENDING;
    if (status == SNAPSHOT_POD_PENDING || status == SNAPSHOT_POD_PIPELINED)
        pod->started_ms = SNAPSHOT_TIME_NONE;
    if (status == SNAPSHOT_POD_PENDING || status == SNAPSHOT_POD_GATED)
        put_nowhere(pod, status);
    else
        put(pod, status, planned->node, &planned->devices);
}

void aftermath_as_told(struct snapshot_pod *pod, const struct plan_pod *planned, bool is_evicted)
{
    bool has_place = planned->status == SNAPSHOT_POD_BINDING ||
                     (planned->status == SNAPSHOT_POD_PIPELINED && planned->node != SNAPSHOT_NONE);
    if (is_evicted)
        pod->status = SNAPSHOT_POD_RELEASING;
    else if (aftermath_waits(pod) && has_place)
        put(pod, planned->status, planned->node, &planned->devices);
    else if (aftermath_waits(pod))
        put_nowhere(pod, SNAPSHOT_POD_PENDING);
}
