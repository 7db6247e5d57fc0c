#include "scheduler/check.h"

#include "base/error.h"
#include "scheduler/pod_status.h"
#include "scheduler/snapshot.h"

#include <string.h>

enum {
    LARGEST_SUB_GROUP_DEPTH = 16
};

// Names stand in order, one by one.
static int check_names(const char *list, const void *array, size_t count, size_t size, struct error *err)
{
    const char *before = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)array + i * size); // the first member of each
        if (!name)
            return error_set(err, ERROR_INVALID, "%s[%zu]: no name", list, i);
        if (before && strcmp(before, name) > 0)
            return error_set(err, ERROR_INVALID, "%s[%zu]: %s stands behind %s", list, i, name, before);
        before = name;
    }
    return 0;
}

static int check_extended(const struct snapshot *snapshot, const struct snapshot_extended_amount *extended,
                          size_t count, const char *kind, const char *name, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (extended[i].resource >= snapshot->extended_resource_count || extended[i].count < 0)
            return error_set(err, ERROR_INVALID, "%s %s: extended[%zu] is out of range", kind, name, i);
    }
    return 0;
}

static int check_nodes(const struct snapshot *snapshot, struct error *err)
{
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (node->node_pool >= snapshot->node_pool_count)
            return error_set(err, ERROR_INVALID, "node %s: no such node pool", node->name);
        if (node->memory_bytes < 0 || node->cpu_milli < 0 || node->gpu_memory_mib < 0 || node->gpu_count > UINT16_MAX)
            return error_set(err, ERROR_INVALID, "node %s: an amount is out of range", node->name);
        for (size_t g = 0; g < node->unhealthy_gpu_count; g++) {
            if (node->unhealthy_gpus[g] >= node->gpu_count ||
                (g > 0 && node->unhealthy_gpus[g] <= node->unhealthy_gpus[g - 1]))
                return error_set(err, ERROR_INVALID, "node %s: unhealthy_gpus[%zu] is out of range or out of order",
                                 node->name, g);
        }
        if (check_extended(snapshot, node->extended, node->extended_count, "node", node->name, err) < 0)
            return -1;
    }
    return 0;
}

static int check_queue(const struct snapshot_queue *queue, const char *kind, const char *name, struct error *err)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (queue->deserved.of[r] < 0 || queue->limit.of[r] < 0 || queue->over_quota_weight_milli.of[r] < 0 ||
            queue->usage_micro.of[r] < 0)
            return error_set(err, ERROR_INVALID, "%s %s: an amount is out of range", kind, name);
    }
    return 0;
}

static int check_people(const struct snapshot_project *project, struct error *err)
{
    for (size_t i = 0; i < project->person_count; i++)
        if (project->people[i].use_gpu_hours_milli < 0)
            return error_set(err, ERROR_INVALID, "project %s: an amount of a person is out of range", project->name);
    return check_names("people", project->people, project->person_count, sizeof(*project->people), err);
}

static int check_queues(const struct snapshot *snapshot, struct error *err)
{
    for (size_t i = 0; i < snapshot->department_count; i++) {
        const struct snapshot_department *department = &snapshot->departments[i];
        for (size_t p = 0; p < snapshot->node_pool_count; p++) {
            if (check_queue(&department->queues[p], "department", department->name, err) < 0)
                return -1;
        }
    }
    for (size_t i = 0; i < snapshot->project_count; i++) {
        const struct snapshot_project *project = &snapshot->projects[i];
        if (project->department >= snapshot->department_count)
            return error_set(err, ERROR_INVALID, "project %s: no such department", project->name);
        if (project->person_gpu_limit_milli < 0)
            return error_set(err, ERROR_INVALID, "project %s: an amount is out of range", project->name);
        if (check_people(project, err) < 0)
            return -1;
        for (size_t p = 0; p < snapshot->node_pool_count; p++) {
            if (check_queue(&project->queues[p], "project", project->name, err) < 0)
                return -1;
        }
    }
    return 0;
}

static int check_topology(const struct snapshot *snapshot, const struct snapshot_topology_constraint *constraint,
                          const char *name, struct error *err)
{
    if (constraint->topology == SNAPSHOT_NONE)
        return 0;
    if (constraint->topology >= snapshot->topology_count)
        return error_set(err, ERROR_INVALID, "workload %s: no such topology", name);
    size_t levels = snapshot->topologies[constraint->topology].level_count;
    if ((constraint->required != SNAPSHOT_NONE && constraint->required >= levels) ||
        (constraint->preferred != SNAPSHOT_NONE && constraint->preferred >= levels))
        return error_set(err, ERROR_INVALID, "workload %s: no such topology level", name);
    if (constraint->required == SNAPSHOT_NONE && constraint->preferred == SNAPSHOT_NONE)
        return error_set(err, ERROR_INVALID, "workload %s: a topology without a level", name);
    return 0;
}

static int check_sub_groups(const struct snapshot *snapshot, const struct snapshot_workload *workload,
                            struct error *err)
{
    for (size_t i = 0; i < workload->sub_group_count; i++) {
        const struct snapshot_sub_group *group = &workload->sub_groups[i];
        if (check_topology(snapshot, &group->topology, workload->name, err) < 0)
            return -1;
        size_t depth = 1;
        uint32_t parent = group->parent;
        for (; parent != SNAPSHOT_NONE && depth <= LARGEST_SUB_GROUP_DEPTH; depth++) {
            if (parent >= workload->sub_group_count)
                return error_set(err, ERROR_INVALID, "workload %s: sub-group %s: no such parent", workload->name,
                                 group->name);
            parent = workload->sub_groups[parent].parent;
        }
        if (depth > LARGEST_SUB_GROUP_DEPTH)
            return error_set(err, ERROR_INVALID, "workload %s: sub-group %s: nested deeper than %d", workload->name,
                             group->name, LARGEST_SUB_GROUP_DEPTH);
    }
    return check_names("sub-groups", workload->sub_groups, workload->sub_group_count, sizeof(*workload->sub_groups),
                       err);
}

static bool is_leaf(const struct snapshot_workload *workload, uint32_t sub_group)
{
    if (sub_group == SNAPSHOT_NONE)
        return workload->sub_group_count == 0;
    if (sub_group >= workload->sub_group_count)
        return false;
    for (size_t i = 0; i < workload->sub_group_count; i++) {
        if (workload->sub_groups[i].parent == sub_group)
            return false;
    }
    return true;
}

static int check_pod(const struct snapshot *snapshot, const struct snapshot_workload *workload, uint32_t index,
                     const struct snapshot_pod *pod, struct error *err)
{
    if (pod->workload != index || !is_leaf(workload, pod->sub_group))
        return error_set(err, ERROR_INVALID, "pod %s: belongs to no leaf of its workload", pod->name);
    if (pod->memory_bytes < 0 || pod->cpu_milli < 0 || pod->gpu_memory_mib < 0 || pod->gpu_portion_milli < 0 ||
        pod->gpu_portion_milli > GPU_MILLI_PER_DEVICE)
        return error_set(err, ERROR_INVALID, "pod %s: an amount is out of range", pod->name);
    if ((pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0) &&
        (pod->gpu_devices == 0 || (pod->gpu_portion_milli > 0 && pod->gpu_memory_mib > 0)))
        return error_set(err, ERROR_INVALID, "pod %s: a shared request names a number of devices and one amount",
                         pod->name);
    bool stands = pod_status_is_used(pod->status) && pod->status != SNAPSHOT_POD_PIPELINED;
    if (stands && pod->node >= snapshot->node_count)
        return error_set(err, ERROR_INVALID, "pod %s: %s on no node", pod->name, snapshot_pod_status_name(pod->status));
    if (pod->status == SNAPSHOT_POD_PIPELINED && pod->node != SNAPSHOT_NONE && pod->node >= snapshot->node_count)
        return error_set(err, ERROR_INVALID, "pod %s: promised no node that is there", pod->name);
    return check_extended(snapshot, pod->extended, pod->extended_count, "pod", pod->name, err);
}

static int check_workload(const struct snapshot *snapshot, uint32_t index, struct error *err)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    if (workload->project >= snapshot->project_count)
        return error_set(err, ERROR_INVALID, "workload %s: no such project", workload->name);
    if (workload->first_pod > snapshot->pod_count || workload->pod_count > snapshot->pod_count - workload->first_pod)
        return error_set(err, ERROR_INVALID, "workload %s: its pods are out of range", workload->name);
    for (size_t i = 0; i < workload->node_pool_count; i++) {
        if (workload->node_pools[i] >= snapshot->node_pool_count)
            return error_set(err, ERROR_INVALID, "workload %s: no such node pool", workload->name);
    }
    if (check_topology(snapshot, &workload->topology, workload->name, err) < 0)
        return -1;
    if (workload->sub_group_count > 0 && check_sub_groups(snapshot, workload, err) < 0)
        return -1;
    const struct snapshot_pod *pods = snapshot->pods + workload->first_pod;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        if (check_pod(snapshot, workload, index, &pods[i], err) < 0)
            return -1;
    }
    return workload->pod_count > 1 ? check_names("pods", pods, workload->pod_count, sizeof(*pods), err) : 0;
}

int snapshot_check(const struct snapshot *snapshot, struct error *err)
{
#define CHECK_NAMES(list) check_names(#list, snapshot->list##s, snapshot->list##_count, sizeof(*snapshot->list##s), err)
    if (CHECK_NAMES(node_pool) < 0 || CHECK_NAMES(node) < 0 || CHECK_NAMES(department) < 0 ||
        CHECK_NAMES(project) < 0 || CHECK_NAMES(workload) < 0)
        return -1;
#undef CHECK_NAMES
    if (check_nodes(snapshot, err) < 0 || check_queues(snapshot, err) < 0)
        return -1;
    uint32_t pods = 0;
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        if (check_workload(snapshot, i, err) < 0)
            return -1;
        if (snapshot->workloads[i].first_pod != pods)
            return error_set(err, ERROR_INVALID, "workload %s: its pods do not follow those before",
                             snapshot->workloads[i].name);
        pods += snapshot->workloads[i].pod_count;
    }
    if (pods != snapshot->pod_count)
        return error_set(err, ERROR_INVALID, "pods: %zu, but workloads have %u", snapshot->pod_count, pods);
    return 0;
}
