#include "base/arena.h"
#include "base/error.h"
#include "scheduler/ask/what_if_answer.h"

#include <string.h>

// Where a new name goes among the workloads; ERROR_CONFLICT where it is there.
static int find_position(const struct snapshot *snapshot, const char *name, uint32_t *out_position, struct error *err)
{
    size_t low = 0, high = snapshot->workload_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(snapshot->workloads[middle].name, name);
        if (order == 0)
            return error_set(err, ERROR_CONFLICT, "workload %s: the name is taken", name);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_position = (uint32_t)low;
    return 0;
}

// The arrays of workloads and pods with room for a new workload at its place; all others are shared.
static int insert(const struct snapshot *snapshot, const struct what_if_question *question, struct arena *arena,
                  struct snapshot *copy, uint32_t *out_workload, struct error *err)
{
    uint32_t added = question->workload->pod_count;
    uint32_t at = 0;
    if (find_position(snapshot, question->workload->name, &at, err) < 0)
        return -1;
    struct snapshot_workload *workloads = arena_array(arena, snapshot->workload_count + 1, sizeof(*workloads));
    struct snapshot_pod *pods = arena_array(arena, snapshot->pod_count + added, sizeof(*pods));
    uint32_t first_pod =
        at < snapshot->workload_count ? snapshot->workloads[at].first_pod : (uint32_t)snapshot->pod_count;
    if (at > 0)
        memcpy(workloads, snapshot->workloads, at * sizeof(*workloads));
    workloads[at] = *question->workload;
    workloads[at].first_pod = first_pod;
    for (size_t i = at; i < snapshot->workload_count; i++) {
        workloads[i + 1] = snapshot->workloads[i];
        workloads[i + 1].first_pod += added;
    }
    if (first_pod > 0)
        memcpy(pods, snapshot->pods, first_pod * sizeof(*pods));
    for (uint32_t i = 0; i < added; i++) {
        pods[first_pod + i] = question->pods[i];
        pods[first_pod + i].workload = at;
    }
    for (size_t i = first_pod; i < snapshot->pod_count; i++) {
        pods[added + i] = snapshot->pods[i];
        pods[added + i].workload++;
    }
    copy->workloads = workloads;
    copy->workload_count = snapshot->workload_count + 1;
    copy->pods = pods;
    copy->pod_count = snapshot->pod_count + added;
    *out_workload = at;
    return 0;
}

// The workload's own entry of the copy, to be changed.
static struct snapshot_workload *own_workload(struct snapshot *copy, uint32_t workload, struct arena *arena)
{
    struct snapshot_workload *workloads = arena_array(arena, copy->workload_count, sizeof(*workloads));
    memcpy(workloads, copy->workloads, copy->workload_count * sizeof(*workloads));
    copy->workloads = workloads;
    return &workloads[workload];
}

static struct snapshot_pod *own_pods(struct snapshot *copy, struct arena *arena)
{
    struct snapshot_pod *pods = arena_array(arena, copy->pod_count, sizeof(*pods));
    memcpy(pods, copy->pods, copy->pod_count * sizeof(*pods));
    copy->pods = pods;
    return pods;
}

static void change_gpus(struct snapshot *copy, uint32_t workload, uint32_t gpu_devices, struct arena *arena)
{
    struct snapshot_pod *pods = own_pods(copy, arena) + copy->workloads[workload].first_pod;
    for (uint32_t i = 0; i < copy->workloads[workload].pod_count; i++) {
        if (pods[i].gpu_devices > gpu_devices)
            pods[i].gpu_devices = gpu_devices;
    }
}

static bool leads(const struct snapshot_pod *pod)
{
    return pod->role != POD_ROLE_NONE;
}

// No group asks for more pods than it has.
static void lower_minimums(const struct snapshot *copy, struct snapshot_workload *workload, struct arena *arena)
{
    if (workload->min_pods > workload->pod_count)
        workload->min_pods = workload->pod_count;
    if (workload->sub_group_count == 0)
        return;
    struct snapshot_sub_group *groups = arena_array(arena, workload->sub_group_count, sizeof(*groups));
    memcpy(groups, workload->sub_groups, workload->sub_group_count * sizeof(*groups));
    for (uint32_t g = 0; g < workload->sub_group_count; g++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < workload->pod_count; i++)
            count += copy->pods[workload->first_pod + i].sub_group == g;
        if (groups[g].min_pods > count)
            groups[g].min_pods = count;
    }
    workload->sub_groups = groups;
}

// Takes pods off from the end, those that lead last.
static void change_pods(struct snapshot *copy, uint32_t index, uint32_t count, struct arena *arena)
{
    struct snapshot_workload *workload = own_workload(copy, index, arena);
    struct snapshot_pod *pods = own_pods(copy, arena);
    uint32_t before = workload->pod_count, dropped = before > count ? before - count : 0;
    uint32_t followers = 0;
    for (uint32_t i = 0; i < before; i++)
        followers += !leads(&pods[workload->first_pod + i]);
    uint32_t follower = 0, kept = 0;
    for (uint32_t i = 0; i < before; i++) {
        const struct snapshot_pod *pod = &pods[workload->first_pod + i];
        bool goes =
            dropped >= followers ? kept >= count || !leads(pod) : !leads(pod) && follower + dropped >= followers;
        follower += !leads(pod);
        if (!goes)
            pods[workload->first_pod + kept++] = *pod;
    }
    size_t rest = workload->first_pod + before;
    memmove(pods + workload->first_pod + kept, pods + rest, (copy->pod_count - rest) * sizeof(*pods));
    copy->pod_count -= before - kept;
    workload->pod_count = kept;
    lower_minimums(copy, workload, arena);
    struct snapshot_workload *all = (struct snapshot_workload *)copy->workloads;
    for (size_t i = index + 1; i < copy->workload_count; i++)
        all[i].first_pod -= before - kept;
}

static const struct snapshot_queue *change_queue(const struct snapshot *copy, const struct snapshot_queue *queues,
                                                 uint32_t node_pool, int64_t deserved, int64_t limit,
                                                 struct arena *arena)
{
    struct snapshot_queue *changed = arena_array(arena, copy->node_pool_count, sizeof(*changed));
    memcpy(changed, queues, copy->node_pool_count * sizeof(*changed));
    changed[node_pool].deserved.of[RESOURCE_GPU] = deserved;
    changed[node_pool].limit.of[RESOURCE_GPU] = limit;
    return changed;
}

static void change_quota(struct snapshot *copy, const struct what_if_change *change, struct arena *arena)
{
    if (change->changes_project) {
        struct snapshot_project *projects = arena_array(arena, copy->project_count, sizeof(*projects));
        memcpy(projects, copy->projects, copy->project_count * sizeof(*projects));
        projects[change->project].queues = change_queue(copy, projects[change->project].queues, change->node_pool,
                                                        change->project_deserved, change->project_limit, arena);
        copy->projects = projects;
    }
    if (change->changes_department) {
        struct snapshot_department *departments = arena_array(arena, copy->department_count, sizeof(*departments));
        memcpy(departments, copy->departments, copy->department_count * sizeof(*departments));
        departments[change->department].queues =
            change_queue(copy, departments[change->department].queues, change->node_pool, change->department_deserved,
                         change->department_limit, arena);
        copy->departments = departments;
    }
}

static void apply_change(struct snapshot *copy, uint32_t workload, const struct what_if_change *change,
                         struct arena *arena)
{
    switch (change->kind) {
    case FIX_OTHER_NODE_POOL: {
        uint32_t *pools = arena_array(arena, 1, sizeof(*pools));
        pools[0] = change->node_pool;
        struct snapshot_workload *own = own_workload(copy, workload, arena);
        own->node_pools = pools;
        own->node_pool_count = 1;
        break;
    }
    case FIX_OTHER_PREEMPTIBILITY:
        own_workload(copy, workload, arena)->preemptible = change->preemptible;
        break;
    case FIX_OTHER_PRIORITY:
        own_workload(copy, workload, arena)->priority = change->priority;
        break;
    case FIX_FEWER_GPUS:
        change_gpus(copy, workload, change->gpu_devices, arena);
        break;
    case FIX_FEWER_PODS:
        change_pods(copy, workload, change->pods, arena);
        break;
    default:
        change_quota(copy, change, arena);
    }
}

int what_if_apply(const struct snapshot *snapshot, const struct what_if_question *question,
                  const struct what_if_change *change, struct arena *arena, struct snapshot **out_snapshot,
                  uint32_t *out_workload, struct error *err)
{
    struct snapshot *copy = arena_alloc(arena, sizeof(*copy));
    uint32_t workload = question->existing;
    *copy = *snapshot;
    if (question->workload && insert(snapshot, question, arena, copy, &workload, err) < 0)
        return -1;
    if (!question->workload && workload >= snapshot->workload_count)
        return error_set(err, ERROR_NOT_FOUND, "no such workload");
    if (change)
        apply_change(copy, workload, change, arena);
    *out_snapshot = copy;
    *out_workload = workload;
    return 0;
}

const struct snapshot *what_if_without(const struct snapshot *snapshot, uint32_t workload, struct arena *arena)
{
    struct snapshot *copy = arena_alloc(arena, sizeof(*copy));
    struct snapshot_workload *workloads = arena_array(arena, snapshot->workload_count, sizeof(*workloads));
    struct snapshot_pod *pods = arena_array(arena, snapshot->pod_count, sizeof(*pods));
    *copy = *snapshot;
    copy->workload_count = copy->pod_count = 0;
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        const struct snapshot_workload *kept = &snapshot->workloads[i];
        if (i == workload)
            continue;
        workloads[copy->workload_count] = *kept;
        workloads[copy->workload_count].first_pod = (uint32_t)copy->pod_count;
        for (uint32_t p = 0; p < kept->pod_count; p++) {
            pods[copy->pod_count] = snapshot->pods[kept->first_pod + p];
            pods[copy->pod_count++].workload = (uint32_t)copy->workload_count;
        }
        copy->workload_count++;
    }
    copy->workloads = workloads;
    copy->pods = pods;
    return copy;
}

// pods are those of the workload.
static void open_gate(struct snapshot_workload *workload, struct snapshot_pod *pods)
{
    workload->gate = NULL;
    workload->gate_until_ms = 0;
    for (uint32_t p = 0; p < workload->pod_count; p++)
        if (pods[p].status == SNAPSHOT_POD_GATED)
            pods[p].status = SNAPSHOT_POD_PENDING;
}

static bool is_over_by(int64_t until_ms, int64_t time_ms)
{
    return until_ms > 0 && until_ms <= time_ms;
}

const struct snapshot *what_if_later(const struct snapshot *snapshot, int64_t time_ms, struct arena *arena)
{
    struct snapshot *copy = arena_alloc(arena, sizeof(*copy));
    struct snapshot_workload *workloads = NULL;
    struct snapshot_pod *pods = NULL;
    *copy = *snapshot;
    copy->now_ms = time_ms;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        bool opens = is_over_by(snapshot->workloads[i].gate_until_ms, time_ms);
        bool may_spend = is_over_by(snapshot->workloads[i].over_budget_until_ms, time_ms);
        if (!opens && !may_spend)
            continue;
        if (!workloads) {
            workloads = arena_array(arena, snapshot->workload_count, sizeof(*workloads));
            pods = arena_array(arena, snapshot->pod_count, sizeof(*pods));
            memcpy(workloads, snapshot->workloads, snapshot->workload_count * sizeof(*workloads));
            memcpy(pods, snapshot->pods, snapshot->pod_count * sizeof(*pods));
            copy->workloads = workloads;
            copy->pods = pods;
        }
        if (opens)
            open_gate(&workloads[i], pods + workloads[i].first_pod);
        if (may_spend)
            workloads[i].over_budget = NULL;
    }
    return copy;
}

const struct snapshot *what_if_alone(const struct snapshot *snapshot, uint32_t workload, struct arena *arena)
{
    struct snapshot *copy = arena_alloc(arena, sizeof(*copy));
    struct snapshot_workload *own = arena_alloc(arena, sizeof(*own));
    *copy = *snapshot;
    *own = snapshot->workloads[workload];
    struct snapshot_pod *pods = arena_array(arena, own->pod_count, sizeof(*pods));
    for (uint32_t p = 0; p < own->pod_count; p++) {
        pods[p] = snapshot->pods[own->first_pod + p];
        pods[p].workload = 0;
    }
    own->first_pod = 0;
    if (!own->gate_is_final)
        open_gate(own, pods);
    copy->workloads = own;
    copy->workload_count = 1;
    copy->pods = pods;
    copy->pod_count = own->pod_count;
    return copy;
}
