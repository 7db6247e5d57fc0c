#include "base/error.h"
#include "reconciler/carry_out.h"

#include <string.h>

struct node_use {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t pods;
    int64_t *device_milli; // one per device
};

static bool holds_place(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_BINDING || status == SNAPSHOT_POD_BOUND || status == SNAPSHOT_POD_RUNNING ||
           status == SNAPSHOT_POD_RELEASING || status == SNAPSHOT_POD_STUCK_IN_RELEASING;
}

static int64_t per_device_milli(const struct snapshot_pod *pod, const struct snapshot_node *node)
{
    if (pod->gpu_portion_milli > 0)
        return pod->gpu_portion_milli;
    if (pod->gpu_memory_mib > 0 && node->gpu_memory_mib > 0)
        return (pod->gpu_memory_mib * 100 + node->gpu_memory_mib - 1) / node->gpu_memory_mib * 10;
    return GPU_MILLI_PER_DEVICE;
}

static int use_devices(struct node_use *use, const struct snapshot_pod *pod, const struct snapshot_node *node,
                       const uint32_t *indices, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (indices[i] >= node->gpu_count)
            return error_set(err, ERROR_INTERNAL, "pod %s: node %s has no device %u", pod->name, node->name,
                             indices[i]);
        use->device_milli[indices[i]] += per_device_milli(pod, node);
        if (use->device_milli[indices[i]] > GPU_MILLI_PER_DEVICE)
            return error_set(err, ERROR_INTERNAL, "pod %s: device %u of node %s is held already", pod->name, indices[i],
                             node->name);
    }
    return 0;
}

static struct node_use *use_of(struct node_use *uses, const struct snapshot *snapshot, uint32_t node,
                               struct arena *arena)
{
    if (!uses[node].device_milli)
        uses[node].device_milli = arena_array(arena, snapshot->nodes[node].gpu_count + 1, sizeof(int64_t));
    return &uses[node];
}

// Counts every pod of the nodes that get something new.
static int check_nodes(const struct snapshot *snapshot, const struct plan *plan, const bool *gets_new,
                       struct arena *arena, struct error *err)
{
    struct node_use *uses = arena_array(arena, snapshot->node_count, sizeof(*uses));
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        const struct snapshot_pod *pod = &snapshot->pods[i];
        const struct plan_pod *after = &plan->pods[i];
        bool is_new = !holds_place(pod->status) && after->status == SNAPSHOT_POD_BINDING;
        uint32_t node = is_new ? after->node : pod->node;
        if ((!is_new && !holds_place(pod->status)) || node == SNAPSHOT_NONE || !gets_new[node])
            continue;
        struct node_use *use = use_of(uses, snapshot, node, arena);
        use->cpu_milli += pod->cpu_milli;
        use->memory_bytes += pod->memory_bytes;
        use->pods++;
        const uint32_t *indices = is_new ? after->devices.gpu_indices : pod->gpu_indices;
        size_t count = is_new ? after->devices.gpu_index_count : pod->gpu_index_count;
        if (use_devices(use, pod, &snapshot->nodes[node], indices, count, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (gets_new[i] && (uses[i].cpu_milli > node->cpu_milli || uses[i].memory_bytes > node->memory_bytes ||
                            uses[i].pods > (int64_t)node->max_pods))
            return error_set(err, ERROR_INTERNAL, "node %s would hold more than it has", node->name);
    }
    return 0;
}

static int check_gang(const struct snapshot *snapshot, const struct plan *plan, uint32_t index, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    uint32_t held = 0;
    for (uint32_t i = workload->first_pod; i < workload->first_pod + workload->pod_count; i++)
        held += holds_place(plan->pods[i].status) || holds_place(snapshot->pods[i].status) ||
                snapshot->pods[i].status == SNAPSHOT_POD_SUCCEEDED;
    if (held < workload->min_pods)
        return error_set(err, ERROR_INTERNAL, "workload %s: %u pods would be started of a gang of %u", workload->name,
                         held, workload->min_pods);
    return 0;
}

static int check_decision(const struct snapshot *snapshot, const struct plan *plan,
                          const struct plan_decision *decision, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[decision->workload];
    const struct snapshot_pod *pod = &snapshot->pods[decision->pod];
    if (decision->verb == PLAN_EVICT) {
        if (!workload->preemptible && decision->action != ACTION_STALE_GANG_EVICTION)
            return error_set(err, ERROR_INTERNAL, "workload %s is not preemptible and would be evicted",
                             workload->name);
        if (!holds_place(pod->status))
            return error_set(err, ERROR_INTERNAL, "pod %s holds no place and would be evicted", pod->name);
    }
    if (decision->verb != PLAN_BIND)
        return 0;
    const struct snapshot_node *node = &snapshot->nodes[decision->node];
    if (pod->status != SNAPSHOT_POD_PENDING && pod->status != SNAPSHOT_POD_PIPELINED)
        return error_set(err, ERROR_INTERNAL, "pod %s has a place already", pod->name);
    if (!node->ready || node->cordoned)
        return error_set(err, ERROR_INTERNAL, "pod %s: node %s takes nothing new", pod->name, node->name);
    if (workload->deleting)
        return error_set(err, ERROR_INTERNAL, "workload %s is going and would be started", workload->name);
    return check_gang(snapshot, plan, decision->workload, err);
}

int plan_check(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err)
{
    bool *gets_new = arena_array(arena, snapshot->node_count, sizeof(*gets_new));
    const bool *is_undone = plan_undone(snapshot, plan, arena);
    bool any = false;
    for (size_t i = 0; i < plan->decision_count; i++) {
        if (is_undone[i])
            continue;
        if (check_decision(snapshot, plan, &plan->decisions[i], err) < 0)
            return -1;
        if (plan->decisions[i].verb == PLAN_BIND)
            gets_new[plan->decisions[i].node] = any = true;
    }
    return any ? check_nodes(snapshot, plan, gets_new, arena, err) : 0;
}
