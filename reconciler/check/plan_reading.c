#include "reconciler/check/plan_reading.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"

enum {
    GPU_MEMORY_STEP_MIB = 100 // docs/scheduler.md, 5.5: device memory is known in these steps, and as one where unknown
};

bool *plan_undone(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena)
{
    bool *is_undone = arena_array(arena, plan->decision_count + 1, sizeof(*is_undone));
    size_t *bound_by = arena_array(arena, snapshot->pod_count + 1, sizeof(*bound_by)); // a decision's number, from 1
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        if (decision->verb == PLAN_BIND) {
            bound_by[decision->pod] = i + 1;
        } else if (decision->verb == PLAN_EVICT && bound_by[decision->pod]) {
            is_undone[i] = is_undone[bound_by[decision->pod] - 1] = true;
            bound_by[decision->pod] = 0;
        }
    }
    return is_undone;
}

bool plan_reading_holds(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_BINDING || status == SNAPSHOT_POD_BOUND || status == SNAPSHOT_POD_RUNNING ||
           status == SNAPSHOT_POD_RELEASING || status == SNAPSHOT_POD_STUCK_IN_RELEASING;
}

bool plan_reading_is_new(const struct snapshot *snapshot, const struct plan *plan, size_t pod)
{
    const struct plan_pod *after = &plan->pods[pod];
    return pod_status_is_held(after->status) &&
           (after->status == SNAPSHOT_POD_PIPELINED || !plan_reading_holds(snapshot->pods[pod].status) ||
            after->node != snapshot->pods[pod].node);
}

struct amounts plan_reading_charge(const struct snapshot *snapshot, const struct snapshot_pod *pod,
                                   const struct snapshot_node *node)
{
    struct amounts amounts = {.of = {[RESOURCE_CPU] = pod->cpu_milli, [RESOURCE_MEMORY] = pod->memory_bytes}};
    int64_t each = pod->gpu_portion_milli > 0 ? pod->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
    if (pod->gpu_memory_mib > 0) {
        int64_t known = node->gpu_memory_mib / GPU_MEMORY_STEP_MIB * GPU_MEMORY_STEP_MIB;
        int64_t memory = known > 0 ? known : GPU_MEMORY_STEP_MIB;
        each = (pod->gpu_memory_mib * 100 + memory - 1) / memory * 10;
    }
    amounts.of[RESOURCE_GPU] = pod->gpu_devices * each;
    for (size_t i = 0; i < pod->extended_count; i++)
        amounts.of[RESOURCE_GPU] +=
            pod->extended[i].count * snapshot->extended_resources[pod->extended[i].resource].gpu_milli;
    return amounts;
}
