#include "tests/support/random_cluster.h"

#include "base/arena.h"

enum {
    MOST_NODES = 6,
    MOST_PROJECTS = 5,
    MOST_DEPARTMENTS = 3,
    MOST_WORKLOADS = 24,
    MOST_PODS = 5,
    MOST_GPUS = 8,
    NODE_CPU_MILLI = 16000,
    MEMORY_BYTES = 1 << 30,
    NOW_MS = 1000000000
};

struct maker {
    uint64_t random;
    struct arena *arena;
    struct snapshot *snapshot;
    struct snapshot_node_pool *node_pools;
    struct snapshot_node *nodes;
    struct snapshot_workload *workloads;
    struct snapshot_pod *pods;
    // What is left on the nodes for pods that run already.
    uint32_t gpus[MOST_NODES];
    int64_t cpu_milli[MOST_NODES];
    uint32_t next_group[MOST_NODES];
    int64_t open_portion[MOST_NODES]; // of the device opened last
};

uint64_t random_next(uint64_t *state)
{
    uint64_t value = (*state += UINT64_C(0x9e3779b97f4a7c15));
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(random_next(state) % bound);
}

static uint32_t below(struct maker *maker, uint32_t bound)
{
    return random_below(&maker->random, bound);
}

static bool one_in(struct maker *maker, uint32_t bound)
{
    return below(maker, bound) == 0;
}

static void make_nodes(struct maker *maker)
{
    static const char *const RACK_NAMES[] = {"r0", "r1"};
    struct snapshot *snapshot = maker->snapshot;
    snapshot->node_pool_count = one_in(maker, 4) ? 2 : 1;
    struct snapshot_node_pool *pools = arena_array(maker->arena, snapshot->node_pool_count, sizeof(*pools));
    for (size_t p = 0; p < snapshot->node_pool_count; p++) {
        pools[p].name = arena_printf(maker->arena, "pool%zu", p);
        pools[p].gpu_placement = one_in(maker, 4) ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
        pools[p].cpu_placement = pools[p].gpu_placement;
    }
    snapshot->node_pools = maker->node_pools = pools;
    snapshot->node_count = 1 + below(maker, MOST_NODES);
    maker->nodes = arena_array(maker->arena, snapshot->node_count, sizeof(*maker->nodes));
    for (size_t n = 0; n < snapshot->node_count; n++) {
        struct snapshot_node *node = &maker->nodes[n];
        struct snapshot_label *labels = arena_array(maker->arena, 2, sizeof(*labels));
        node->name = arena_printf(maker->arena, "node%zu", n);
        labels[0] = (struct snapshot_label){"rack", RACK_NAMES[n % 2]};
        labels[1] = (struct snapshot_label){"host", node->name};
        node->labels = labels;
        node->label_count = 2;
        node->node_pool = below(maker, (uint32_t)snapshot->node_pool_count);
        node->gpu_count = below(maker, MOST_GPUS + 1);
        node->gpu_memory_mib = 16000;
        node->cpu_milli = NODE_CPU_MILLI;
        node->memory_bytes = (int64_t)64 * MEMORY_BYTES;
        node->max_pods = 110;
        node->ready = !one_in(maker, 10);
        maker->gpus[n] = node->gpu_count;
        maker->cpu_milli[n] = node->cpu_milli;
    }
    snapshot->nodes = maker->nodes;
    static const char *const LEVELS[] = {"rack", "host"};
    struct snapshot_topology *topology = arena_alloc(maker->arena, sizeof(*topology));
    *topology = (struct snapshot_topology){.name = "dc", .levels = LEVELS, .level_count = 2};
    snapshot->topologies = topology;
    snapshot->topology_count = 1;
}

static struct snapshot_queue *make_queues(struct maker *maker, uint32_t most)
{
    size_t count = maker->snapshot->node_pool_count;
    struct snapshot_queue *queues = arena_array(maker->arena, count, sizeof(*queues));
    for (size_t p = 0; p < count; p++) {
        queues[p] = snapshot_queue_default();
        queues[p].deserved.of[RESOURCE_GPU] = (int64_t)below(maker, most) * GPU_MILLI_PER_DEVICE;
        if (one_in(maker, 8))
            queues[p].deserved.of[RESOURCE_GPU] = QUANTITY_UNLIMITED;
        if (one_in(maker, 4))
            queues[p].limit.of[RESOURCE_GPU] = (int64_t)(1 + below(maker, most)) * GPU_MILLI_PER_DEVICE;
        if (one_in(maker, 6))
            queues[p].deserved.of[RESOURCE_CPU] = (int64_t)below(maker, 20) * 1000;
        queues[p].over_quota_weight_milli.of[RESOURCE_GPU] = (int64_t)below(maker, 4) * 1000;
        queues[p].rank = one_in(maker, 5) ? 200 : 100;
    }
    return queues;
}

static void make_projects(struct maker *maker)
{
    struct snapshot *snapshot = maker->snapshot;
    snapshot->department_count = 1 + below(maker, MOST_DEPARTMENTS);
    struct snapshot_department *departments =
        arena_array(maker->arena, snapshot->department_count, sizeof(*departments));
    for (size_t d = 0; d < snapshot->department_count; d++)
        departments[d] = (struct snapshot_department){.name = arena_printf(maker->arena, "department%zu", d),
                                                      .created_ms = below(maker, 3),
                                                      .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                      .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                      .queues = make_queues(maker, 16)};
    snapshot->departments = departments;
    snapshot->project_count = 1 + below(maker, MOST_PROJECTS);
    struct snapshot_project *projects = arena_array(maker->arena, snapshot->project_count, sizeof(*projects));
    for (size_t p = 0; p < snapshot->project_count; p++)
        projects[p] = (struct snapshot_project){.name = arena_printf(maker->arena, "project%zu", p),
                                                .department = below(maker, (uint32_t)snapshot->department_count),
                                                .created_ms = below(maker, 3),
                                                .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                .person_gpu_limit_milli = QUANTITY_UNLIMITED,
                                                .person_workload_limit = SNAPSHOT_COUNT_UNLIMITED,
                                                .queues = make_queues(maker, 8)};
    snapshot->projects = projects;
}

static void make_request(struct maker *maker, struct snapshot_pod *pod, uint32_t kind)
{
    pod->cpu_milli = (int64_t)below(maker, 20) * 100;
    pod->memory_bytes = MEMORY_BYTES / 4;
    if (kind < 6)
        pod->gpu_devices = 1 + (kind == 5 ? below(maker, 4) : 0);
    if (kind == 6 || kind == 7) {
        pod->gpu_devices = one_in(maker, 6) ? 2 : 1;
        pod->gpu_portion_milli = (int64_t)(1 + below(maker, 9)) * 100;
    } else if (kind == 8) {
        pod->gpu_devices = 1;
        pod->gpu_memory_mib = 1000 * (1 + below(maker, 16));
    }
}

// Lets the pod run on the node if there is room for it.
static bool start_pod(struct maker *maker, struct snapshot_pod *pod, uint32_t node)
{
    bool is_shared = pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
    int64_t portion = pod->gpu_memory_mib > 0 ? pod->gpu_memory_mib * 1000 / 16000 + 1 : pod->gpu_portion_milli;
    bool joins = is_shared && pod->gpu_devices == 1 && maker->open_portion[node] >= portion;
    uint32_t devices = joins ? 0 : pod->gpu_devices;
    if (maker->gpus[node] < devices || maker->cpu_milli[node] < pod->cpu_milli)
        return false;
    maker->gpus[node] -= devices;
    maker->cpu_milli[node] -= pod->cpu_milli;
    pod->node = node;
    pod->status = one_in(maker, 8) ? SNAPSHOT_POD_RELEASING : SNAPSHOT_POD_RUNNING;
    pod->started_ms = NOW_MS - 1000 * (int64_t)below(maker, 1000);
    if (!is_shared)
        return true;
    const char **groups = arena_array(maker->arena, pod->gpu_devices, sizeof(*groups));
    for (uint32_t i = 0; i < pod->gpu_devices; i++) {
        maker->next_group[node] += !joins;
        groups[i] = arena_printf(maker->arena, "%u", maker->next_group[node] - 1);
    }
    maker->open_portion[node] = pod->gpu_devices > 1 ? 0 : (joins ? maker->open_portion[node] : 1000) - portion;
    pod->gpu_groups = groups;
    pod->gpu_group_count = pod->gpu_devices;
    return true;
}

static void make_sub_groups(struct maker *maker, struct snapshot_workload *workload)
{
    struct snapshot_sub_group *groups = arena_array(maker->arena, 2, sizeof(*groups));
    for (uint32_t g = 0; g < 2; g++)
        groups[g] = (struct snapshot_sub_group){.name = g ? "b" : "a",
                                                .parent = SNAPSHOT_NONE,
                                                .min_pods = 1 + below(maker, 2),
                                                .min_sub_groups = SNAPSHOT_MIN_ALL,
                                                .topology = {.topology = SNAPSHOT_NONE}};
    workload->sub_groups = groups;
    workload->sub_group_count = 2;
    if (one_in(maker, 3))
        workload->min_sub_groups = 1;
}

// Pods of a workload that runs: on nodes of one pool, as many as find room; a gang that finds too little waits whole.
static void start_workload(struct maker *maker, struct snapshot_workload *workload)
{
    uint32_t pool = workload->node_pools[0];
    struct maker before = *maker;
    uint32_t started = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct snapshot_pod *pod = &maker->pods[workload->first_pod + i];
        uint32_t first = below(maker, (uint32_t)maker->snapshot->node_count);
        for (uint32_t n = 0; n < maker->snapshot->node_count && pod->node == SNAPSHOT_NONE; n++) {
            uint32_t node = (first + n) % (uint32_t)maker->snapshot->node_count;
            if (maker->nodes[node].node_pool == pool && start_pod(maker, pod, node))
                started++;
        }
    }
    if (started >= workload->min_pods && (workload->sub_group_count == 0 || started == workload->pod_count))
        return;
    before.random = maker->random;
    *maker = before;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct snapshot_pod *pod = &maker->pods[workload->first_pod + i];
        pod->status = SNAPSHOT_POD_PENDING;
        pod->node = SNAPSHOT_NONE;
        pod->gpu_group_count = 0;
    }
}

static void make_workload(struct maker *maker, uint32_t index)
{
    struct snapshot *snapshot = maker->snapshot;
    struct snapshot_workload *workload = &maker->workloads[index];
    uint32_t *pools = arena_array(maker->arena, 2, sizeof(*pools));
    pools[0] = below(maker, (uint32_t)snapshot->node_pool_count);
    pools[1] = 1 - pools[0];
    *workload =
        (struct snapshot_workload){.name = arena_printf(maker->arena, "w%02u", index),
                                   .project = below(maker, (uint32_t)snapshot->project_count),
                                   .created_ms = below(maker, 4),
                                   .priority = 50 + 25 * (int64_t)below(maker, 4),
                                   .min_sub_groups = SNAPSHOT_MIN_ALL,
                                   .node_pools = pools,
                                   .node_pool_count = snapshot->node_pool_count == 2 && one_in(maker, 2) ? 2 : 1,
                                   .topology = {.topology = SNAPSHOT_NONE},
                                   .staleness_grace_ms = SNAPSHOT_TIME_NONE,
                                   .stale_ms = SNAPSHOT_TIME_NONE,
                                   .last_eviction_ms = SNAPSHOT_TIME_NONE,
                                   .promise = SNAPSHOT_PROMISE_NONE,
                                   .first_pod = (uint32_t)snapshot->pod_count};
    workload->preemptible = workload->priority < 100 ? !one_in(maker, 8) : one_in(maker, 3);
    workload->pod_count = one_in(maker, 2) ? 1 : 1 + below(maker, MOST_PODS);
    workload->min_pods = one_in(maker, 3) ? 1 : workload->pod_count;
    if (workload->pod_count >= 4 && one_in(maker, 3))
        make_sub_groups(maker, workload);
    if (one_in(maker, 8))
        workload->topology = (struct snapshot_topology_constraint){0, one_in(maker, 2) ? 0 : SNAPSHOT_NONE, 1};
    uint32_t kind = below(maker, 10);
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct snapshot_pod *pod = &maker->pods[snapshot->pod_count++];
        *pod = (struct snapshot_pod){.name = arena_printf(maker->arena, "w%02u-%u", index, i),
                                     .workload = index,
                                     .sub_group = workload->sub_group_count ? i % 2 : SNAPSHOT_NONE,
                                     .status = SNAPSHOT_POD_PENDING,
                                     .node = SNAPSHOT_NONE,
                                     .started_ms = SNAPSHOT_TIME_NONE};
        make_request(maker, pod, kind);
    }
    if (!one_in(maker, 3))
        start_workload(maker, workload);
}

// From the seed, not from the dice, as what else came later: bounds on people in every fourth cluster, and projects
// that are fair among them in as many; and budgets that are used up, in every fifth.
static void speak_of_people(struct maker *maker, uint64_t seed)
{
    static const char *const PEOPLE[] = {"ann", "bob", NULL, "ann", "cy"};
    struct snapshot *snapshot = maker->snapshot;
    struct snapshot_project *projects = (struct snapshot_project *)snapshot->projects;
    for (size_t p = 0; p < snapshot->project_count && seed % 4 == 1; p++) {
        projects[p].person_gpu_limit_milli = (int64_t)((seed / 4 + p) % 5) * 1500;
        if ((seed / 4 + p) % 3 == 0)
            projects[p].person_workload_limit = 1 + (uint32_t)(seed / 12 + p) % 3;
    }
    static const struct snapshot_person USED[] = {{"ann", 2500}, {"bob", 1000}};
    for (size_t p = 0; p < snapshot->project_count && seed % 4 == 3; p++) {
        projects[p].is_fair_among_people = true;
        projects[p].people = USED;
        projects[p].person_count = (seed / 4 + p) % 3;
    }
    for (size_t i = 0; i < snapshot->workload_count; i++)
        maker->workloads[i].person = PEOPLE[(seed / 4 + i) % 5];
    for (size_t i = 0; i < snapshot->workload_count && seed % 5 == 2; i++)
        maker->workloads[i].over_budget = (seed / 5 + i) % 3 ? "The budget is used up" : NULL;
}

struct snapshot *random_cluster(uint64_t seed, struct arena *arena)
{
    struct maker maker = {.random = seed, .arena = arena, .snapshot = arena_alloc(arena, sizeof(struct snapshot))};
    snapshot_defaults(maker.snapshot);
    maker.snapshot->now_ms = NOW_MS;
    if (one_in(&maker, 10))
        maker.snapshot->settings.full_hierarchy_fairness = false;
    make_nodes(&maker);
    // From the seed, not from the dice: strategies that came later leave the clusters as they were.
    for (size_t p = 0; p < maker.snapshot->node_pool_count; p++) {
        if ((seed + p) % 5 == 0)
            maker.node_pools[p].gpu_placement = PLACEMENT_FRAGMENTATION;
        maker.node_pools[p].reserves = (seed + p) % 7 == 0;
        maker.node_pools[p].reclaims_by_rank = (seed + p) % 3 == 0;
        if ((seed + p) % 10 == 0)
            maker.node_pools[p].cpu_placement = PLACEMENT_FRAGMENTATION;
    }
    make_projects(&maker);
    size_t count = 1 + below(&maker, MOST_WORKLOADS);
    maker.workloads = arena_array(arena, count, sizeof(*maker.workloads));
    maker.pods = arena_array(arena, count * MOST_PODS, sizeof(*maker.pods));
    maker.snapshot->workloads = maker.workloads;
    maker.snapshot->workload_count = count;
    maker.snapshot->pods = maker.pods;
    for (uint32_t i = 0; i < count; i++)
        make_workload(&maker, i);
    speak_of_people(&maker, seed);
    return maker.snapshot;
}
