#include "scheduler/state/cycle.h"

#include "base/arena.h"
#include "model/told.h"
#include "scheduler/check.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/people.h"
#include "scheduler/state/shared_device.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

#include <stdlib.h>

// Device memory is counted in whole hundreds; where a pool knows of none, a request for memory is measured by this.
enum {
    GPU_MEMORY_STEP_MIB = 100,
    GPU_MEMORY_UNKNOWN_MIB = 100
};

// One absurd request must not stop the planning of all others: amounts end at what nothing can hold and what still adds
// up over a cluster in 64 bits. placement.c packs CPU into 40 bits.
static const int64_t LARGEST_CPU_MILLI = INT64_C(1) << 39;
static const int64_t LARGEST_MEMORY_BYTES = INT64_C(1) << 46;
static const int64_t LARGEST_ASKED_BYTES = INT64_C(1) << 53; // as model/pod_spec.c has it
static const int64_t LARGEST_GPU_MEMORY_MIB = INT32_MAX;
static const int64_t LARGEST_COUNT = 1 << 20;

static int64_t at_most(int64_t amount, int64_t largest)
{
    return amount < largest ? amount : largest;
}

static void build_node(struct cycle *cycle, uint32_t index)
{
    const struct snapshot *snapshot = cycle->snapshot;
    const struct snapshot_node *spec = &snapshot->nodes[index];
    struct node *node = &cycle->nodes[index];
    *node = (struct node){.spec = spec, .index = index, .is_open = spec->ready && !spec->cordoned};
    node->capacity[DIMENSION_CPU] = at_most(spec->cpu_milli, LARGEST_CPU_MILLI);
    node->capacity[DIMENSION_MEMORY] = at_most(spec->memory_bytes, LARGEST_MEMORY_BYTES);
    node->capacity[DIMENSION_GPU] = spec->gpu_count - (int64_t)spec->unhealthy_gpu_count;
    node->capacity[DIMENSION_PODS] = spec->max_pods;
    for (size_t d = 0; d < DIMENSION_COUNT; d++)
        node->idle[d] = node->capacity[d];
    node->gpu_memory_mib =
        at_most(spec->gpu_memory_mib, LARGEST_GPU_MEMORY_MIB) / GPU_MEMORY_STEP_MIB * GPU_MEMORY_STEP_MIB;
    size_t extended_count = snapshot->extended_resource_count;
    if (extended_count == 0)
        return;
    node->extended_capacity = arena_array(cycle->scratch, 3 * extended_count, sizeof(*node->extended_capacity));
    node->extended_idle = node->extended_capacity + extended_count;
    node->extended_releasing = node->extended_idle + extended_count;
    for (size_t i = 0; i < spec->extended_count; i++) {
        const struct snapshot_extended_amount *amount = &spec->extended[i];
        int64_t count = at_most(amount->count, LARGEST_COUNT);
        node->extended_capacity[amount->resource] += count;
        node->extended_idle[amount->resource] += count;
        node->mig_gpu_milli += snapshot->extended_resources[amount->resource].gpu_milli * count;
    }
}

static void build_queues(struct cycle *cycle, struct pool *pool)
{
    static const struct snapshot_queue EVERYBODY = {
        .rank = 100,
        .deserved = {{QUANTITY_UNLIMITED, QUANTITY_UNLIMITED, QUANTITY_UNLIMITED}},
        .limit = {{QUANTITY_UNLIMITED, QUANTITY_UNLIMITED, QUANTITY_UNLIMITED}},
        .over_quota_weight_milli = {{1000, 1000, 1000}}};
    const struct snapshot *snapshot = cycle->snapshot;
    bool full = snapshot->settings.full_hierarchy_fairness;
    pool->department_count = full ? snapshot->department_count : 1;
    pool->departments = arena_array(cycle->scratch, pool->department_count, sizeof(*pool->departments));
    for (size_t d = 0; d < pool->department_count; d++) {
        struct queue *queue = &pool->departments[d];
        *queue = (struct queue){.kind = QUEUE_KIND_DEPARTMENT, .index = (uint32_t)d};
        queue->spec = full ? &snapshot->departments[d].queues[pool->index] : &EVERYBODY;
        queue->name = told_name(cycle->scratch, TOLD_DEPARTMENT, full ? snapshot->departments[d].name : "default");
        queue->created_ms = full ? snapshot->departments[d].created_ms : 0;
    }
    pool->projects = arena_array(cycle->scratch, snapshot->project_count, sizeof(*pool->projects));
    for (size_t p = 0; p < snapshot->project_count; p++) {
        const struct snapshot_project *project = &snapshot->projects[p];
        pool->projects[p] = (struct queue){.kind = QUEUE_KIND_PROJECT,
                                           .index = (uint32_t)p,
                                           .spec = &project->queues[pool->index],
                                           .name = told_name(cycle->scratch, TOLD_PROJECT, project->name),
                                           .created_ms = project->created_ms,
                                           .parent = &pool->departments[full ? project->department : 0]};
    }
}

static void add_node_to_pool(struct cycle *cycle, struct node *node)
{
    struct pool *pool = &cycle->pools[node->spec->node_pool];
    pool->node_indices[pool->node_count] = node->index;
    node->position = (uint32_t)pool->node_count;
    pool->nodes[pool->node_count++] = node;
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++)
        if (pool->node_count == 1 || node->capacity[d] < pool->least[d])
            pool->least[d] = node->capacity[d];
    if (node->capacity[DIMENSION_GPU] > pool->largest_gpus)
        pool->largest_gpus = node->capacity[DIMENSION_GPU];
    pool->some_lack_cpu = pool->some_lack_cpu || node->capacity[DIMENSION_CPU] == 0;
    if (!node->is_open)
        return;
    pool->total.of[RESOURCE_GPU] += node->capacity[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE + node->mig_gpu_milli;
    pool->total.of[RESOURCE_CPU] += node->capacity[DIMENSION_CPU];
    pool->total.of[RESOURCE_MEMORY] += node->capacity[DIMENSION_MEMORY];
    int64_t memory = node->gpu_memory_mib;
    if (memory == 0 || node->capacity[DIMENSION_GPU] == 0)
        return;
    if (pool->smallest_gpu_memory_mib == 0 || memory < pool->smallest_gpu_memory_mib)
        pool->smallest_gpu_memory_mib = memory;
    if (memory > pool->largest_gpu_memory_mib)
        pool->largest_gpu_memory_mib = memory;
}

static void build_pools(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    cycle->pools = arena_array(cycle->scratch, snapshot->node_pool_count, sizeof(*cycle->pools));
    size_t *counts = arena_array(cycle->scratch, snapshot->node_pool_count, sizeof(*counts));
    for (size_t n = 0; n < snapshot->node_count; n++)
        counts[snapshot->nodes[n].node_pool]++;
    for (size_t p = 0; p < snapshot->node_pool_count; p++) {
        struct pool *pool = &cycle->pools[p];
        pool->index = (uint32_t)p;
        pool->spec = &snapshot->node_pools[p];
        pool->nodes = arena_array(cycle->scratch, counts[p], sizeof(*pool->nodes));
        pool->node_indices = arena_array(cycle->scratch, counts[p], sizeof(*pool->node_indices));
        build_queues(cycle, pool);
    }
    for (size_t n = 0; n < snapshot->node_count; n++)
        add_node_to_pool(cycle, &cycle->nodes[n]);
    for (size_t p = 0; p < snapshot->node_pool_count; p++) {
        struct pool *pool = &cycle->pools[p];
        if (pool->smallest_gpu_memory_mib == 0)
            pool->smallest_gpu_memory_mib = pool->largest_gpu_memory_mib = GPU_MEMORY_UNKNOWN_MIB;
    }
}

static struct request make_request(const struct snapshot *snapshot, const struct snapshot_pod *spec)
{
    struct request request = {.of = {[DIMENSION_CPU] = at_most(spec->cpu_milli, LARGEST_CPU_MILLI),
                                     [DIMENSION_MEMORY] = at_most(spec->memory_bytes, LARGEST_ASKED_BYTES),
                                     [DIMENSION_PODS] = 1},
                              .portion_milli = spec->gpu_portion_milli,
                              .memory_mib = at_most(spec->gpu_memory_mib, LARGEST_GPU_MEMORY_MIB)};
    if (request.portion_milli > 0 || request.memory_mib > 0)
        request.shared_devices = (uint32_t)at_most(spec->gpu_devices, LARGEST_COUNT);
    else
        request.of[DIMENSION_GPU] = at_most(spec->gpu_devices, LARGEST_COUNT);
    for (size_t i = 0; i < spec->extended_count; i++) {
        const struct snapshot_extended_resource *resource = &snapshot->extended_resources[spec->extended[i].resource];
        request.mig_gpu_milli += resource->gpu_milli * at_most(spec->extended[i].count, LARGEST_COUNT);
        request.is_mig = request.is_mig || (resource->is_mig && spec->extended[i].count > 0);
    }
    request.needs_gpu = spec->gpu_devices > 0 || request.is_mig;
    return request;
}

// The groups that a pod names on its node, or one of its own for each device.
static struct place find_place(struct cycle *cycle, const struct pod *pod)
{
    const struct snapshot_pod *spec = pod->spec;
    struct place place = {.node = spec->node};
    uint32_t count = pod->request.shared_devices;
    struct node *node = &cycle->nodes[spec->node];
    if (count == 0) {
        for (size_t i = 0; i < spec->gpu_index_count && node->spec->unhealthy_gpu_count > 0; i++)
            place.unhealthy += snapshot_gpu_is_unhealthy(node->spec, spec->gpu_indices[i]);
        return place;
    }
    uint32_t *shared = arena_array(cycle->scratch, count, sizeof(*shared));
    for (; place.shared_count < count && place.shared_count < spec->gpu_group_count; place.shared_count++)
        shared[place.shared_count] = shared_device_find(node, spec->gpu_groups[place.shared_count], cycle->arena);
    for (; place.shared_count < count; place.shared_count++) {
        shared[place.shared_count] = shared_device_open(node, cycle->arena);
        node->shared[shared[place.shared_count]].promised++; // holds the number while the others are found
    }
    for (uint32_t i = (uint32_t)spec->gpu_group_count; i < count; i++)
        node->shared[shared[i]].promised--;
    for (uint32_t i = 0; i < place.shared_count && i < spec->gpu_index_count; i++)
        node->shared[shared[i]].is_unhealthy = snapshot_gpu_is_unhealthy(node->spec, spec->gpu_indices[i]);
    place.shared = shared;
    return place;
}

static bool stands(const struct snapshot_pod *spec)
{
    return pod_status_is_used(spec->status) && spec->status != SNAPSHOT_POD_PIPELINED;
}

static void set_up_pod(struct cycle *cycle, struct pod *pod, struct place *start_place)
{
    struct place nowhere = {.node = SNAPSHOT_NONE};
    struct pod_state state = {.status = pod->spec->status, .place = nowhere, .held = nowhere, .origin = nowhere};
    if (state.status == SNAPSHOT_POD_PIPELINED)
        state.status = SNAPSHOT_POD_PENDING;
    if (stands(pod->spec))
        state.place = find_place(cycle, pod);
    *start_place = state.place;
    statement_set_up(cycle, pod, state);
    struct workload *workload = &cycle->workloads[pod->workload];
    if (pod_status_is_held(state.status) && pod->spec->started_ms != SNAPSHOT_TIME_NONE &&
        (workload->last_start_ms == SNAPSHOT_TIME_NONE || pod->spec->started_ms < workload->last_start_ms))
        workload->last_start_ms = pod->spec->started_ms;
}

// Pods that name their groups come first, so that one without takes a number that no other names.
static void set_up_pods(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    struct place *places = arena_array(cycle->scratch, snapshot->pod_count, sizeof(*places));
    cycle->start_places = places;
    bool some_unnamed = false;
    for (size_t p = 0; p < snapshot->pod_count; p++) {
        struct pod *pod = &cycle->pods[p];
        bool unnamed = stands(pod->spec) && pod->request.shared_devices > pod->spec->gpu_group_count;
        if (!unnamed)
            set_up_pod(cycle, pod, &places[p]);
        some_unnamed = some_unnamed || unnamed;
    }
    for (size_t p = 0; some_unnamed && p < snapshot->pod_count; p++) {
        struct pod *pod = &cycle->pods[p];
        if (stands(pod->spec) && pod->request.shared_devices > pod->spec->gpu_group_count)
            set_up_pod(cycle, pod, &places[p]);
    }
}

static const struct snapshot_topology_constraint *constraint_of(const struct snapshot_topology_constraint *constraint)
{
    return constraint->topology == SNAPSHOT_NONE ? NULL : constraint;
}

// The root and its only leaf.
static void build_plain_groups(struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    workload->groups[0].child_count = 1;
    workload->groups[0].minimum = spec->min_sub_groups == 0 ? 0 : 1;
    workload->groups[1] = (struct group){
        .parent = 0, .minimum = spec->min_pods, .sub_group = SNAPSHOT_NONE, .pod_count = spec->pod_count};
}

static void build_sub_groups(struct workload *workload, uint32_t *children)
{
    const struct snapshot_workload *spec = workload->spec;
    uint32_t child_count = 0;
    for (uint32_t g = 0; g < workload->group_count; g++) {
        struct group *group = &workload->groups[g];
        const struct snapshot_sub_group *sub_group = g > 0 ? &spec->sub_groups[g - 1] : NULL;
        if (sub_group)
            *group = (struct group){.parent = sub_group->parent == SNAPSHOT_NONE ? 0 : sub_group->parent + 1,
                                    .sub_group = g - 1,
                                    .topology = constraint_of(&sub_group->topology)};
        group->first_child = child_count;
        for (uint32_t c = 1; c < workload->group_count; c++) {
            uint32_t parent = spec->sub_groups[c - 1].parent;
            if ((parent == SNAPSHOT_NONE ? 0 : parent + 1) == g)
                children[child_count++] = c;
        }
        group->child_count = child_count - group->first_child;
        group->is_set = g == 0 || group->child_count > 0;
        uint32_t minimum = sub_group ? sub_group->min_sub_groups : spec->min_sub_groups;
        if (group->is_set)
            group->minimum = minimum == SNAPSHOT_MIN_ALL ? group->child_count : minimum;
        else
            group->minimum = sub_group->min_pods;
    }
}

static int compare_pods(const void *a, const void *b, void *pods)
{
    const struct pod *all = pods;
    return unit_compare_pods(all[*(const uint32_t *)a].spec, all[*(const uint32_t *)b].spec);
}

static bool is_in_task_order(const struct snapshot_pod *pods, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (unit_compare_pods(&pods[i - 1], &pods[i]) > 0)
            return false;
    }
    return true;
}

// The workload's pods leaf by leaf, in task order.
static void order_pods(struct cycle *cycle, struct workload *workload, uint32_t *order)
{
    const struct snapshot_workload *spec = workload->spec;
    uint32_t count = 0;
    for (uint32_t g = 0; g < workload->group_count; g++) {
        struct group *group = &workload->groups[g];
        group->first_pod = count;
        for (uint32_t i = 0; i < spec->pod_count && !group->is_set; i++) {
            if (cycle->pods[spec->first_pod + i].group == g)
                order[count++] = spec->first_pod + i;
        }
        group->pod_count = count - group->first_pod;
        if (group->pod_count > 1 && !is_in_task_order(cycle->snapshot->pods + spec->first_pod, spec->pod_count))
            qsort_r(order + group->first_pod, group->pod_count, sizeof(*order), compare_pods, cycle->pods);
    }
}

struct blocks { // memory of all workloads, cut into pieces
    struct group *groups;
    uint32_t *children;
    uint32_t *order;
};

static void build_workload(struct cycle *cycle, uint32_t index, struct blocks *blocks)
{
    static const uint32_t ONLY_CHILD[] = {1};
    struct workload *workload = &cycle->workloads[index];
    const struct snapshot_workload *spec = &cycle->snapshot->workloads[index];
    *workload = (struct workload){.spec = spec,
                                  .index = index,
                                  .home = SNAPSHOT_NONE,
                                  .last_start_ms = SNAPSHOT_TIME_NONE,
                                  .unit_cap = SNAPSHOT_COUNT_UNLIMITED};
    workload->group_count = spec->sub_group_count ? (uint32_t)spec->sub_group_count + 1 : 2;
    workload->groups = blocks->groups;
    blocks->groups += workload->group_count;
    workload->groups[0] = (struct group){.parent = SNAPSHOT_NONE,
                                         .is_set = true,
                                         .sub_group = SNAPSHOT_NONE,
                                         .topology = constraint_of(&spec->topology)};
    workload->children = ONLY_CHILD;
    if (spec->sub_group_count == 0) {
        build_plain_groups(workload);
    } else {
        workload->children = blocks->children;
        build_sub_groups(workload, blocks->children);
        blocks->children += spec->sub_group_count;
    }
    for (uint32_t i = 0; i < spec->pod_count; i++) {
        struct pod *pod = &cycle->pods[spec->first_pod + i];
        pod->spec = &cycle->snapshot->pods[spec->first_pod + i];
        pod->index = spec->first_pod + i;
        pod->workload = index;
        pod->group = pod->spec->sub_group == SNAPSHOT_NONE ? 1 : pod->spec->sub_group + 1;
        pod->request = make_request(cycle->snapshot, pod->spec);
        workload->asks_memory = workload->asks_memory || pod->request.memory_mib > 0;
        cycle->has_inexact_gpus =
            cycle->has_inexact_gpus || pod->request.memory_mib > 0 || pod->request.portion_milli % 10 != 0;
    }
    workload->order = blocks->order;
    order_pods(cycle, workload, blocks->order);
    blocks->order += spec->pod_count;
}

static void build_workloads(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    size_t groups = 0, children = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        size_t count = snapshot->workloads[i].sub_group_count;
        groups += count ? count + 1 : 2;
        children += count;
    }
    struct blocks blocks = {.groups = arena_array(cycle->scratch, groups, sizeof(*blocks.groups)),
                            .children = arena_array(cycle->scratch, children, sizeof(*blocks.children)),
                            .order = arena_array(cycle->scratch, snapshot->pod_count, sizeof(*blocks.order))};
    cycle->workloads = arena_array(cycle->scratch, snapshot->workload_count, sizeof(*cycle->workloads));
    cycle->pods = arena_array(cycle->scratch, snapshot->pod_count, sizeof(*cycle->pods));
    for (uint32_t i = 0; i < snapshot->workload_count; i++)
        build_workload(cycle, i, &blocks);
}

static bool has_min_run_time(const struct snapshot *snapshot)
{
    bool has = false;
    for (size_t p = 0; p < snapshot->node_pool_count; p++)
        has = has || snapshot->node_pools[p].preempt_min_run_time_ms > 0 ||
              snapshot->node_pools[p].reclaim_min_run_time_ms > 0;
    for (size_t d = 0; d < snapshot->department_count; d++)
        has = has || snapshot->departments[d].preempt_min_run_time_ms > 0 ||
              snapshot->departments[d].reclaim_min_run_time_ms > 0;
    for (size_t p = 0; p < snapshot->project_count; p++)
        has = has || snapshot->projects[p].preempt_min_run_time_ms > 0 ||
              snapshot->projects[p].reclaim_min_run_time_ms > 0;
    return has;
}

int cycle_open(const struct snapshot *snapshot, struct arena *arena, struct cycle **out_cycle, struct error *err)
{
    return cycle_open_with(snapshot, arena, arena, out_cycle, err);
}

int cycle_open_with(const struct snapshot *snapshot, struct arena *arena, struct arena *scratch,
                    struct cycle **out_cycle, struct error *err)
{
    if (snapshot_check(snapshot, err) < 0)
        return -1;
    struct cycle *cycle = arena_alloc(scratch, sizeof(*cycle));
    cycle->snapshot = snapshot;
    cycle->arena = arena;
    cycle->scratch = scratch;
    cycle->good_until_ms = INT64_MAX;
    cycle->has_min_run_time = has_min_run_time(snapshot);
    cycle->log = arena_alloc(scratch, sizeof(*cycle->log));
    cycle->journal = arena_alloc(scratch, sizeof(*cycle->journal));
    cycle->nodes = arena_array(scratch, snapshot->node_count, sizeof(*cycle->nodes));
    for (uint32_t n = 0; n < snapshot->node_count; n++)
        build_node(cycle, n);
    build_pools(cycle);
    build_workloads(cycle);
    people_find(cycle);
    set_up_pods(cycle);
    people_take_turns(cycle);
    *out_cycle = cycle;
    return 0;
}
