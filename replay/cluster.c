#include "replay/cluster.h"

#include "base/arena.h"
#include "base/error.h"
#include "replay/policy.h"
#include "replay/trace.h"
#include "scheduler/aftermath.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MIB = INT64_C(1) << 20;
static const uint32_t ONLY_POOL[] = {0};

enum {
    SAME_PRIORITY = 50
};

static struct snapshot_queue *copy_queues(const struct snapshot_queue *queues, struct snapshot_queue *copy)
{
    *copy = *queues;
    return copy;
}

void cluster_init(struct cluster *cluster, const struct snapshot *base, const struct trace *trace,
                  const struct policy *policy, struct arena *arena)
{
    *cluster = (struct cluster){.snapshot = *base, .trace = trace, .policy = policy};
    assert(base->node_pool_count == 1);
    struct snapshot_project *projects = arena_array(arena, base->project_count, sizeof(*projects));
    struct snapshot_department *departments = arena_array(arena, base->department_count, sizeof(*departments));
    cluster->projects = arena_array(arena, base->project_count, sizeof(*cluster->projects));
    cluster->departments = arena_array(arena, base->department_count, sizeof(*cluster->departments));
    for (size_t p = 0; p < base->project_count; p++) {
        projects[p] = base->projects[p];
        projects[p].queues = copy_queues(base->projects[p].queues, &cluster->projects[p]);
    }
    for (size_t d = 0; d < base->department_count; d++) {
        departments[d] = base->departments[d];
        departments[d].queues = copy_queues(base->departments[d].queues, &cluster->departments[d]);
    }
    cluster->snapshot.projects = projects;
    cluster->snapshot.departments = departments;
    devices_init(&cluster->devices, base->nodes, base->node_count, trace, arena);
}

static void clear_devices(struct snapshot_pod *pod)
{
    free((void *)pod->gpu_groups); // the indices stand in the same block
    pod->gpu_groups = NULL;
    pod->gpu_indices = NULL;
    pod->gpu_group_count = pod->gpu_index_count = 0;
}

void cluster_done(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->snapshot.pod_count; i++)
        clear_devices(&cluster->pods[i]);
    free(cluster->workloads);
    free(cluster->pods);
    free(cluster->jobs);
    free(cluster->touched);
    *cluster = (struct cluster){0};
}

// The first workload whose job is not before this one: jobs are numbered in the order of their ids.
static uint32_t find_job(const struct cluster *cluster, uint32_t job)
{
    size_t low = 0, high = cluster->snapshot.workload_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cluster->jobs[middle] < job)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void *make_room(void *items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return items;
    *capacity = needed * 2;
    return memory_realloc(items, *capacity * size);
}

// Moves what stands from the workload on by so many workloads and pods.
static void shift(struct cluster *cluster, uint32_t from, int workloads, int64_t pods)
{
    struct snapshot *snapshot = &cluster->snapshot;
    size_t count = snapshot->workload_count - from;
    size_t first_pod = from < snapshot->workload_count ? cluster->workloads[from].first_pod : snapshot->pod_count;
    memmove(cluster->pods + (int64_t)first_pod + pods, cluster->pods + first_pod,
            (snapshot->pod_count - first_pod) * sizeof(*cluster->pods));
    memmove(cluster->workloads + from + workloads, cluster->workloads + from, count * sizeof(*cluster->workloads));
    memmove(cluster->jobs + from + workloads, cluster->jobs + from, count * sizeof(*cluster->jobs));
    snapshot->workload_count = (size_t)((int64_t)snapshot->workload_count + workloads);
    snapshot->pod_count = (size_t)((int64_t)snapshot->pod_count + pods);
    for (size_t i = (size_t)((int64_t)from + workloads); i < snapshot->workload_count; i++)
        cluster->workloads[i].first_pod = (uint32_t)(cluster->workloads[i].first_pod + pods);
    for (size_t i = (size_t)((int64_t)first_pod + pods); i < snapshot->pod_count; i++)
        cluster->pods[i].workload = (uint32_t)((int64_t)cluster->pods[i].workload + workloads);
}

static struct snapshot_pod make_pod(const struct cluster *cluster, const struct trace_job *job, uint32_t workload,
                                    uint32_t index)
{
    const struct trace_shape *shape = &cluster->trace->shapes[job->shape];
    return (struct snapshot_pod){.name = job->pod_names ? job->pod_names[index] : job->id,
                                 .workload = workload,
                                 .sub_group = SNAPSHOT_NONE,
                                 .gpu_devices = shape->gpu_devices,
                                 .gpu_portion_milli = shape->gpu_portion_milli,
                                 .cpu_milli = shape->cpu_milli,
                                 .memory_bytes = shape->memory_mib * MIB,
                                 .rules = shape->rules,
                                 .status = SNAPSHOT_POD_PENDING,
                                 .node = SNAPSHOT_NONE,
                                 .started_ms = SNAPSHOT_TIME_NONE};
}

void cluster_add(struct cluster *cluster, uint32_t index)
{
    struct snapshot *snapshot = &cluster->snapshot;
    const struct trace_job *job = &cluster->trace->jobs[index];
    uint32_t at = find_job(cluster, index);
    size_t capacity = cluster->workload_capacity;
    cluster->workloads = make_room(cluster->workloads, &cluster->workload_capacity, snapshot->workload_count + 1,
                                   sizeof(*cluster->workloads));
    if (capacity != cluster->workload_capacity)
        cluster->jobs = memory_realloc(cluster->jobs, cluster->workload_capacity * sizeof(*cluster->jobs));
    cluster->pods =
        make_room(cluster->pods, &cluster->pod_capacity, snapshot->pod_count + job->pod_count, sizeof(*cluster->pods));
    snapshot->workloads = cluster->workloads;
    snapshot->pods = cluster->pods;
    uint32_t first_pod =
        (uint32_t)(at < snapshot->workload_count ? cluster->workloads[at].first_pod : snapshot->pod_count);
    shift(cluster, at, 1, job->pod_count);
    struct snapshot_topology_constraint anywhere = {SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE};
    cluster->workloads[at] = (struct snapshot_workload){
        .name = job->id,
        .project = cluster->policy->is_one_project ? 0 : job->project,
        .created_ms = job->submit_ms,
        .priority = cluster->policy->has_one_priority ? SAME_PRIORITY : job->priority,
        .preemptible = job->preemptible,
        .min_pods = job->pod_count,
        .min_sub_groups = SNAPSHOT_MIN_ALL,
        .node_pools = ONLY_POOL,
        .node_pool_count = 1,
        .topology = anywhere,
        .staleness_grace_ms = SNAPSHOT_TIME_NONE,
        .stale_ms = SNAPSHOT_TIME_NONE,
        .last_eviction_ms = SNAPSHOT_TIME_NONE,
        .max_run_ms = cluster->policy->knows_run_times && !cluster->trace->is_drawn ? job->duration_ms : 0,
        .promise = SNAPSHOT_PROMISE_NONE,
        .first_pod = first_pod,
        .pod_count = job->pod_count,
    };
    cluster->jobs[at] = index;
    for (uint32_t i = 0; i < job->pod_count; i++)
        cluster->pods[first_pod + i] = make_pod(cluster, job, at, i);
    cluster->waiting++;
}

static void stop_pod(struct cluster *cluster, struct snapshot_pod *pod)
{
    const struct trace_job *job = &cluster->trace->jobs[cluster->jobs[pod->workload]];
    devices_give_back(&cluster->devices, pod->node, job->shape, pod->gpu_indices, pod->gpu_index_count);
}

uint32_t cluster_running_pods(const struct cluster *cluster, uint32_t index)
{
    const struct snapshot_workload *workload = &cluster->workloads[index];
    uint32_t count = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++)
        count += cluster->pods[workload->first_pod + i].status == SNAPSHOT_POD_RUNNING;
    return count;
}

void cluster_remove(struct cluster *cluster, uint32_t job)
{
    uint32_t at = find_job(cluster, job);
    assert(at < cluster->snapshot.workload_count && cluster->jobs[at] == job);
    const struct snapshot_workload *workload = &cluster->workloads[at];
    uint32_t pod_count = workload->pod_count;
    if (cluster_running_pods(cluster, at) < pod_count)
        cluster->waiting--;
    for (uint32_t i = 0; i < pod_count; i++) {
        struct snapshot_pod *pod = &cluster->pods[workload->first_pod + i];
        if (pod->status == SNAPSHOT_POD_RUNNING)
            stop_pod(cluster, pod);
        clear_devices(pod);
    }
    shift(cluster, at + 1, -1, -(int64_t)pod_count);
}

// The pod's devices, which are the plan's, in one block of its own: the pointers to the groups, the indices, the
// groups' names.
static void own_devices(struct snapshot_pod *pod)
{
    size_t bytes = pod->gpu_group_count * sizeof(char *) + pod->gpu_index_count * sizeof(uint32_t);
    for (size_t i = 0; i < pod->gpu_group_count; i++)
        bytes += strlen(pod->gpu_groups[i]) + 1;
    if (bytes == 0) {
        pod->gpu_groups = NULL;
        pod->gpu_indices = NULL;
        return;
    }
    const char **groups = memory_alloc(bytes);
    uint32_t *indices = (uint32_t *)(groups + pod->gpu_group_count);
    char *names = (char *)(indices + pod->gpu_index_count);
    for (size_t i = 0; i < pod->gpu_group_count; i++) {
        groups[i] = strcpy(names, pod->gpu_groups[i]);
        names += strlen(names) + 1;
    }
    if (pod->gpu_index_count > 0)
        memcpy(indices, pod->gpu_indices, pod->gpu_index_count * sizeof(*indices));
    pod->gpu_groups = groups;
    pod->gpu_indices = indices;
}

static void touch(struct cluster *cluster, uint32_t workload)
{
    if (cluster->touched_count > 0 && cluster->touched[cluster->touched_count - 1] == workload)
        return;
    cluster->touched =
        make_room(cluster->touched, &cluster->touched_capacity, cluster->touched_count + 1, sizeof(*cluster->touched));
    cluster->touched[cluster->touched_count++] = workload;
}

static bool stays(const struct snapshot_pod *pod, const struct plan_pod *planned)
{
    return pod->status == planned->status &&
           (pod->status == SNAPSHOT_POD_RUNNING || pod->status == SNAPSHOT_POD_PENDING);
}

static int obey_for_pod(struct cluster *cluster, struct snapshot_pod *pod, const struct plan_pod *planned,
                        struct error *err)
{
    clear_devices(pod);
    aftermath_at_once(pod, planned, false, cluster->snapshot.now_ms);
    own_devices(pod);
    if (aftermath_waits(pod))
        return 0;
    if (planned->status != SNAPSHOT_POD_BINDING)
        return error_set(err, ERROR_INTERNAL, "the plan leaves pod %.60s %s", pod->name,
                         snapshot_pod_status_name(planned->status));
    const struct trace_job *job = &cluster->trace->jobs[cluster->jobs[pod->workload]];
    touch(cluster, pod->workload);
    return devices_take(&cluster->devices, pod->node, job->shape, pod->gpu_indices, pod->gpu_index_count, err);
}

int cluster_obey(struct cluster *cluster, const struct plan *plan, struct error *err)
{
    struct snapshot *snapshot = &cluster->snapshot;
    cluster->touched_count = 0;
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        struct snapshot_pod *pod = &cluster->pods[i];
        if (pod->status == SNAPSHOT_POD_RUNNING && plan->pods[i].status != SNAPSHOT_POD_RUNNING)
            stop_pod(cluster, pod);
    }
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        struct snapshot_pod *pod = &cluster->pods[i];
        if (stays(pod, &plan->pods[i]))
            continue;
        if (pod->status == SNAPSHOT_POD_RUNNING)
            touch(cluster, pod->workload);
        if (obey_for_pod(cluster, pod, &plan->pods[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; i < plan->decision_count; i++)
        if (plan->decisions[i].verb == PLAN_EVICT)
            cluster->workloads[plan->decisions[i].workload].last_eviction_ms = snapshot->now_ms;
    cluster->waiting = 0;
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        aftermath_of_workload(&cluster->workloads[i], &plan->workloads[i], snapshot->now_ms);
        if (cluster_running_pods(cluster, i) < cluster->workloads[i].pod_count)
            cluster->waiting++;
    }
    return 0;
}
