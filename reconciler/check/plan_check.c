#include "reconciler/check/plan_check.h"

#include "base/arena.h"
#include "base/error.h"
#include "reconciler/check/plan_reading.h"
#include "scheduler/pod_status.h"

#include <string.h>

struct device_use {
    bool is_taken;
    const char *group; // NULL: whole
    int64_t mib;       // of a shared one
};

struct node_use {
    int64_t cpu_milli, new_cpu_milli;
    int64_t memory_bytes, new_memory_bytes;
    int64_t pods;
    int64_t *extended; // of each extended resource
    struct device_use *devices;
};

static bool is_shared(const struct snapshot_pod *pod)
{
    return pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
}

// A device belongs to one pod whole, or to one group up to its memory.
static int use_device(struct device_use *use, const struct snapshot_pod *pod, const struct snapshot_node *node,
                      uint32_t index, const char *group, struct error *err)
{
    bool is_foreign = use->is_taken && (!use->group || !group || strcmp(use->group, group) != 0);
    use->mib += pod->gpu_memory_mib > 0 ? pod->gpu_memory_mib : node->gpu_memory_mib * pod->gpu_portion_milli / 1000;
    if (is_foreign || (group && use->mib > node->gpu_memory_mib))
        return error_set(err, ERROR_INTERNAL, "pod %s: device %u of node %s is held already", pod->name, index,
                         node->name);
    use->is_taken = true;
    use->group = group;
    return 0;
}

static int use_devices(struct node_use *use, const struct snapshot_pod *pod, const struct snapshot_node *node,
                       const struct plan_devices *devices, bool is_new, struct error *err)
{
    bool is_grouped = is_shared(pod) && devices->gpu_group_count == devices->gpu_index_count;
    for (size_t i = 0; i < devices->gpu_index_count; i++) {
        uint32_t index = devices->gpu_indices[i];
        if (index >= node->gpu_count)
            return error_set(err, ERROR_INTERNAL, "pod %s: node %s has no device %u", pod->name, node->name, index);
        if (is_new && snapshot_gpu_is_unhealthy(node, index))
            return error_set(err, ERROR_INTERNAL, "pod %s: device %u of node %s is not healthy", pod->name, index,
                             node->name);
        if (use_device(&use->devices[index], pod, node, index, is_grouped ? devices->gpu_groups[i] : NULL, err) < 0)
            return -1;
    }
    return 0;
}

static struct node_use *use_of(struct node_use *uses, const struct snapshot *snapshot, uint32_t node,
                               struct arena *arena)
{
    if (!uses[node].devices) {
        uses[node].devices = arena_array(arena, snapshot->nodes[node].gpu_count + 1, sizeof(struct device_use));
        uses[node].extended = arena_array(arena, snapshot->extended_resource_count + 1, sizeof(int64_t));
    }
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
        bool is_new = !plan_reading_holds(pod->status) && after->status == SNAPSHOT_POD_BINDING;
        uint32_t node = is_new ? after->node : pod->node;
        if ((!is_new && !plan_reading_holds(pod->status)) || node == SNAPSHOT_NONE || !gets_new[node])
            continue;
        struct node_use *use = use_of(uses, snapshot, node, arena);
        use->cpu_milli += pod->cpu_milli;
        use->memory_bytes += pod->memory_bytes;
        use->new_cpu_milli += is_new ? pod->cpu_milli : 0;
        use->new_memory_bytes += is_new ? pod->memory_bytes : 0;
        use->pods++;
        for (size_t e = 0; e < pod->extended_count; e++)
            use->extended[pod->extended[e].resource] += pod->extended[e].count;
        struct plan_devices held = {pod->gpu_groups, pod->gpu_group_count, pod->gpu_indices, pod->gpu_index_count};
        if (is_new && after->devices.gpu_index_count != pod->gpu_devices)
            return error_set(err, ERROR_INTERNAL, "pod %s: %zu devices instead of %u", pod->name,
                             after->devices.gpu_index_count, pod->gpu_devices);
        if (use_devices(use, pod, &snapshot->nodes[node], is_new ? &after->devices : &held, is_new, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (!gets_new[i] || !uses[i].devices)
            continue;
        // What stands there may be more than others leave by now: nothing may be added to it.
        bool exceeds = (uses[i].new_cpu_milli > 0 && uses[i].cpu_milli > node->cpu_milli) ||
                       (uses[i].new_memory_bytes > 0 && uses[i].memory_bytes > node->memory_bytes) ||
                       uses[i].pods > (int64_t)node->max_pods;
        for (size_t e = 0; e < node->extended_count; e++)
            exceeds = exceeds || uses[i].extended[node->extended[e].resource] > node->extended[e].count;
        if (exceeds)
            return error_set(err, ERROR_INTERNAL, "node %s would hold more than it has", node->name);
    }
    return 0;
}

static int check_decision(const struct snapshot *snapshot, const struct plan_decision *decision, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[decision->workload];
    const struct snapshot_pod *pod = &snapshot->pods[decision->pod];
    if (decision->verb == PLAN_EVICT) {
        if (!workload->preemptible && decision->action != ACTION_STALE_GANG_EVICTION)
            return error_set(err, ERROR_INTERNAL, "workload %s is not preemptible and would be evicted",
                             workload->name);
        if (!plan_reading_holds(pod->status))
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
    bool is_wanted = false;
    for (size_t i = 0; i < workload->node_pool_count; i++)
        is_wanted = is_wanted || workload->node_pools[i] == node->node_pool;
    if (!is_wanted)
        return error_set(err, ERROR_INTERNAL, "pod %s: node %s is in none of its pools", pod->name, node->name);
    return 0;
}

int plan_check(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err)
{
    bool *gets_new = arena_array(arena, snapshot->node_count, sizeof(*gets_new));
    const bool *is_undone = plan_undone(snapshot, plan, arena);
    bool any = false;
    for (size_t i = 0; i < plan->decision_count; i++) {
        if (is_undone[i])
            continue;
        if (check_decision(snapshot, &plan->decisions[i], err) < 0)
            return -1;
        if (plan->decisions[i].verb == PLAN_BIND)
            gets_new[plan->decisions[i].node] = any = true;
    }
    if (any && check_nodes(snapshot, plan, gets_new, arena, err) < 0)
        return -1;
    if (plan->decision_count == 0)
        return 0;
    if (plan_check_evictions(snapshot, plan, arena, err) < 0 || plan_check_gangs(snapshot, plan, arena, err) < 0 ||
        plan_check_reclaims(snapshot, plan, arena, err) < 0)
        return -1;
    return plan_check_queues(snapshot, plan, arena, err);
}
