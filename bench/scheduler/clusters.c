#include "bench/scheduler/clusters.h"

#include "scheduler/scheduler.h"

enum {
    GPUS_PER_NODE = CLUSTER_GPUS_PER_NODE
};

static const int64_t NOW_MS = 1000000;
static const int64_t START_MS = 1000;

void cluster_init(struct cluster *cluster)
{
    *cluster = (struct cluster){0};
    arena_init(&cluster->arena);
    snapshot_defaults(&cluster->snapshot);
    cluster->snapshot.now_ms = NOW_MS;
}

void cluster_done(struct cluster *cluster)
{
    arena_done(&cluster->arena);
}

void cluster_make_nodes(struct cluster *cluster, size_t count)
{
    struct snapshot_node_pool *pool = arena_alloc(&cluster->arena, sizeof(*pool));
    pool->name = "default";
    pool->fair_share_k_micro = 1000000;
    cluster->snapshot.node_pools = pool;
    cluster->snapshot.node_pool_count = 1;
    cluster->nodes = arena_array(&cluster->arena, count, sizeof(*cluster->nodes));
    for (size_t n = 0; n < count; n++)
        cluster->nodes[n] = (struct snapshot_node){.name = arena_printf(&cluster->arena, "node-%05zu", n),
                                                   .gpu_count = GPUS_PER_NODE,
                                                   .gpu_memory_mib = 80000,
                                                   .cpu_milli = 128000,
                                                   .memory_bytes = INT64_C(1) << 40,
                                                   .max_pods = 250,
                                                   .ready = true};
    cluster->snapshot.nodes = cluster->nodes;
    cluster->snapshot.node_count = count;
}

void cluster_make_projects(struct cluster *cluster, size_t departments, size_t projects, int64_t deserved_gpus)
{
    struct arena *arena = &cluster->arena;
    struct snapshot_department *all = arena_array(arena, departments, sizeof(*all));
    struct snapshot_queue *sum = arena_alloc(arena, sizeof(*sum)); // what its projects deserve together
    *sum = snapshot_queue_default();
    sum->deserved.of[RESOURCE_GPU] = deserved_gpus * (int64_t)(projects / departments) * GPU_MILLI_PER_DEVICE;
    for (size_t d = 0; d < departments; d++)
        all[d] = (struct snapshot_department){.name = arena_printf(arena, "department-%03zu", d),
                                              .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                              .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                              .queues = sum};
    cluster->projects = arena_array(arena, projects, sizeof(*cluster->projects));
    cluster->queues = arena_array(arena, projects, sizeof(*cluster->queues));
    for (size_t p = 0; p < projects; p++) {
        cluster->queues[p] = snapshot_queue_default();
        cluster->queues[p].deserved.of[RESOURCE_GPU] = deserved_gpus * GPU_MILLI_PER_DEVICE;
        cluster->projects[p] = (struct snapshot_project){.name = arena_printf(arena, "project-%04zu", p),
                                                         .department = (uint32_t)(p * departments / projects),
                                                         .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                         .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                                         .queues = &cluster->queues[p]};
    }
    cluster->snapshot.departments = all;
    cluster->snapshot.department_count = departments;
    cluster->snapshot.projects = cluster->projects;
    cluster->snapshot.project_count = projects;
}

void cluster_reserve(struct cluster *cluster, size_t workloads, size_t pods)
{
    cluster->workloads = arena_array(&cluster->arena, workloads, sizeof(*cluster->workloads));
    cluster->pods = arena_array(&cluster->arena, pods, sizeof(*cluster->pods));
    cluster->snapshot.workloads = cluster->workloads;
    cluster->snapshot.pods = cluster->pods;
}

struct snapshot_workload *cluster_add(struct cluster *cluster, uint32_t project, uint32_t pods, uint32_t gpus_per_pod,
                                      uint32_t first_gpu, uint32_t step)
{
    static const uint32_t POOLS[] = {0};
    struct snapshot *snapshot = &cluster->snapshot;
    uint32_t index = (uint32_t)snapshot->workload_count++;
    bool runs = first_gpu != SNAPSHOT_NONE;
    cluster->workloads[index] =
        (struct snapshot_workload){.name = arena_printf(&cluster->arena, "workload-%06u", index),
                                   .project = project,
                                   .created_ms = index,
                                   .priority = 50,
                                   .preemptible = true,
                                   .min_pods = pods,
                                   .min_sub_groups = SNAPSHOT_MIN_ALL,
                                   .node_pools = POOLS,
                                   .node_pool_count = 1,
                                   .topology = {.topology = SNAPSHOT_NONE},
                                   .staleness_grace_ms = SNAPSHOT_TIME_NONE,
                                   .stale_ms = SNAPSHOT_TIME_NONE,
                                   .last_eviction_ms = SNAPSHOT_TIME_NONE,
                                   .promise = SNAPSHOT_PROMISE_NONE,
                                   .first_pod = (uint32_t)snapshot->pod_count,
                                   .pod_count = pods};
    for (uint32_t i = 0; i < pods; i++)
        cluster->pods[snapshot->pod_count++] =
            (struct snapshot_pod){.name = arena_printf(&cluster->arena, "workload-%06u-%05u", index, i),
                                  .workload = index,
                                  .sub_group = SNAPSHOT_NONE,
                                  .gpu_devices = gpus_per_pod,
                                  .cpu_milli = 1000,
                                  .memory_bytes = INT64_C(1) << 30,
                                  .status = runs ? SNAPSHOT_POD_RUNNING : SNAPSHOT_POD_PENDING,
                                  .node = runs ? (first_gpu + i * step) / GPUS_PER_NODE : SNAPSHOT_NONE,
                                  .started_ms = runs ? START_MS : SNAPSHOT_TIME_NONE};
    return &cluster->workloads[index];
}

void cluster_make_idle(struct cluster *cluster, size_t nodes)
{
    uint32_t projects = 500;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 10, projects, 16);
    cluster_reserve(cluster, nodes * GPUS_PER_NODE, nodes * GPUS_PER_NODE);
    for (uint32_t i = 0; i < nodes * GPUS_PER_NODE; i++)
        cluster_add(cluster, i % projects, 1, 1, i, 1);
}

static void make_waiting(struct cluster *cluster, size_t nodes, uint32_t jobs)
{
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 2, 10, (int64_t)nodes * GPUS_PER_NODE / 10);
    cluster_reserve(cluster, jobs, jobs);
    for (uint32_t i = 0; i < jobs; i++)
        cluster_add(cluster, i % 10, 1, 1, SNAPSHOT_NONE, 0);
}

void cluster_make_pending(struct cluster *cluster, size_t nodes)
{
    make_waiting(cluster, nodes, (uint32_t)nodes * 5);
}

void cluster_make_fill(struct cluster *cluster, size_t nodes)
{
    make_waiting(cluster, nodes, (uint32_t)nodes * GPUS_PER_NODE);
}

// Project 0 holds nothing and deserves a tenth, so it may reclaim; but a non-preemptible pod stands on all nodes but
// nine.
void cluster_make_refused(struct cluster *cluster, size_t nodes)
{
    uint32_t running = (uint32_t)nodes * GPUS_PER_NODE;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 2, 10, running / 10);
    cluster_reserve(cluster, running + 1, running + 10);
    for (uint32_t i = 0; i < running; i++) {
        struct snapshot_workload *workload = cluster_add(cluster, 1 + i % 9, 1, 1, i, 1);
        bool blocks = i % GPUS_PER_NODE == 0 && i / GPUS_PER_NODE % (nodes / 9 + 1) != 0;
        workload->preemptible = !blocks;
    }
    cluster_add(cluster, 0, 10, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
}

// Project 0 deserves the ten nodes that its gang asks for, project 1 what is left and one GPU more, and nothing is
// handed out beyond that: whoever clears ten nodes takes one GPU that may not be taken.
static void make_one_short(struct cluster *cluster, size_t nodes, bool has_pair)
{
    enum {
        GANG = 10
    };
    uint32_t running = (uint32_t)nodes * GPUS_PER_NODE;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 1, 2, running / 2);
    cluster->queues[0].deserved.of[RESOURCE_GPU] = GANG * GPUS_PER_NODE * GPU_MILLI_PER_DEVICE;
    cluster->queues[1].deserved.of[RESOURCE_GPU] = (running - GANG * GPUS_PER_NODE + 1) * GPU_MILLI_PER_DEVICE;
    cluster->queues[0].over_quota_weight_milli.of[RESOURCE_GPU] = 0;
    cluster->queues[1].over_quota_weight_milli.of[RESOURCE_GPU] = 0;
    cluster_reserve(cluster, running + 1, running + GANG);
    for (uint32_t i = 0; i < running; i++) { // side by side in the order of giving way, no two on a node
        bool is_pair = has_pair && i + 1 == running;
        if (has_pair && i + 1 + nodes == running)
            continue; // the pair's second device
        cluster_add(cluster, 1, 1, is_pair ? 2 : 1, i % (uint32_t)nodes * GPUS_PER_NODE + i / (uint32_t)nodes, 1);
    }
    cluster_add(cluster, 0, GANG, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
}

void cluster_make_one_short(struct cluster *cluster, size_t nodes)
{
    make_one_short(cluster, nodes, false);
}

// The workload that goes first holds two GPUs: only if it went last could it be the one GPU too many.
void cluster_make_pair_short(struct cluster *cluster, size_t nodes)
{
    make_one_short(cluster, nodes, true);
}

void cluster_make_reclaim(struct cluster *cluster, size_t nodes)
{
    uint32_t running = (uint32_t)nodes * GPUS_PER_NODE;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 1, 2, running / 2);
    cluster_reserve(cluster, running + 1, running + nodes / 2);
    for (uint32_t i = 0; i < running; i++)
        cluster_add(cluster, 1, 1, 1, i, 1);
    cluster_add(cluster, 0, (uint32_t)nodes / 2, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
}

void cluster_make_consolidation(struct cluster *cluster, size_t nodes)
{
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 1, 2, (int64_t)nodes * GPUS_PER_NODE / 2);
    cluster_reserve(cluster, nodes * GPUS_PER_NODE, nodes * GPUS_PER_NODE + 10);
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t g = 0; g < GPUS_PER_NODE / 2; g++)
            cluster_add(cluster, 1, 1, 1, n * GPUS_PER_NODE + g, 1);
    }
    cluster_add(cluster, 0, 10, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
    cluster->snapshot.settings.max_consolidation_victims = SNAPSHOT_COUNT_UNLIMITED;
}

// With 500 nodes 41 gangs of 10 pods have to move to empty 410 nodes: the other 90 have room for 630 pods.
void cluster_make_gangs_to_move(struct cluster *cluster, size_t nodes)
{
    enum {
        GANG = 10
    };
    uint32_t gangs = (uint32_t)nodes / GANG, moved = gangs * 41 / 50;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 1, 2, (int64_t)nodes * GPUS_PER_NODE / 2);
    cluster_reserve(cluster, gangs + 1, nodes * 2);
    for (uint32_t g = 0; g < gangs; g++)
        cluster_add(cluster, 1, GANG, 1, g * GANG * GPUS_PER_NODE, GPUS_PER_NODE);
    cluster_add(cluster, 0, moved * GANG, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
    cluster->snapshot.settings.max_consolidation_victims = SNAPSHOT_COUNT_UNLIMITED;
}

static void share_devices(struct cluster *cluster, const struct snapshot_workload *workload, int64_t portion_milli)
{
    static const char *const GROUPS[] = {"0"};
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct snapshot_pod *pod = &cluster->pods[workload->first_pod + i];
        pod->gpu_devices = 1;
        pod->gpu_portion_milli = portion_milli;
        if (pod->status != SNAPSHOT_POD_RUNNING)
            continue;
        pod->gpu_groups = GROUPS;
        pod->gpu_group_count = 1;
    }
}

// GPU pods of nodes [first, first + 8), all devices held: gangs, workloads of 1 to 8 GPUs, and a shared device.
static void run_on_block(struct cluster *cluster, uint32_t block, uint32_t projects)
{
    uint32_t first = block * 8 * GPUS_PER_NODE;
    uint32_t project = block * 7;
    if (block % 4 == 0) { // a gang of eight whole nodes
        cluster_add(cluster, project % projects, 8, GPUS_PER_NODE, first, GPUS_PER_NODE);
        return;
    }
    for (uint32_t n = 0; n < 8; n++) {
        uint32_t gpu = first + n * GPUS_PER_NODE;
        share_devices(cluster, cluster_add(cluster, project++ % projects, 3, 0, gpu, 0), 250);
        cluster_add(cluster, project++ % projects, 1, 1, gpu + 1, 1);
        cluster_add(cluster, project++ % projects, 1, 2, gpu + 2, 1);
        cluster_add(cluster, project++ % projects, 2, 2, gpu + 4, 2)->min_pods = 1;
    }
}

// What waits: CPU pods for which there is room, and GPU work of every kind for which there is none.
static void add_mixed_waiting(struct cluster *cluster, uint32_t i, uint32_t projects)
{
    uint32_t project = i * 13 % projects;
    struct snapshot_workload *workload;
    switch (i % 5) {
    case 0:
        cluster_add(cluster, project, 1, 0, SNAPSHOT_NONE, 0);
        break;
    case 1:
        cluster_add(cluster, project, 1, 1 + i % 4, SNAPSHOT_NONE, 0);
        break;
    case 2:
        cluster_add(cluster, project, 4, GPUS_PER_NODE, SNAPSHOT_NONE, 0);
        break;
    case 3:
        workload = cluster_add(cluster, project, 1, 0, SNAPSHOT_NONE, 0);
        share_devices(cluster, workload, 500);
        break;
    default:
        workload = cluster_add(cluster, project, 2, 4, SNAPSHOT_NONE, 0);
        workload->preemptible = false;
        workload->priority = 100;
        break;
    }
}

void cluster_make_mixed(struct cluster *cluster, size_t nodes)
{
    uint32_t projects = 200, waiting = (uint32_t)nodes / 10;
    size_t running_pods = nodes * 35 - waiting * 2;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, 10, projects, (int64_t)nodes * GPUS_PER_NODE / projects);
    cluster_reserve(cluster, nodes * 35, nodes * 36);
    for (uint32_t block = 0; block < nodes / 8; block++)
        run_on_block(cluster, block, projects);
    for (uint32_t i = 0; cluster->snapshot.pod_count < running_pods; i++) {
        uint32_t pods = 1 + i % 3; // CPU pods of one to three
        cluster_add(cluster, i % projects, pods, 0, i * 5 % (uint32_t)(nodes - 2) * GPUS_PER_NODE, GPUS_PER_NODE)
            ->min_pods = 1;
    }
    for (uint32_t i = 0; i < waiting; i++)
        add_mixed_waiting(cluster, i, projects);
}

void cluster_make_backlog(struct cluster *cluster, size_t nodes)
{
    uint32_t projects = (uint32_t)nodes, running = projects * GPUS_PER_NODE, waiting = projects * 4;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, nodes / 20, projects, 0);
    struct snapshot_department *departments =
        arena_array(&cluster->arena, cluster->snapshot.department_count, sizeof(*departments));
    struct snapshot_queue *unlimited = arena_alloc(&cluster->arena, sizeof(*unlimited));
    *unlimited = snapshot_queue_default();
    unlimited->deserved.of[RESOURCE_GPU] = QUANTITY_UNLIMITED;
    for (size_t d = 0; d < cluster->snapshot.department_count; d++) {
        departments[d] = cluster->snapshot.departments[d];
        departments[d].queues = unlimited;
    }
    cluster->snapshot.departments = departments;
    for (uint32_t p = 0; p < projects; p++)
        cluster->queues[p].deserved.of[RESOURCE_GPU] = (p % 2 ? 9 : 12) * GPU_MILLI_PER_DEVICE;
    cluster_reserve(cluster, running + waiting, running + waiting);
    for (uint32_t i = 0; i < running; i++)
        cluster_add(cluster, i % projects, 1, 1, i, 1);
    for (uint32_t i = 0; i < waiting; i++)
        cluster_add(cluster, i % projects, 1, 1 + i / projects % 4, SNAPSHOT_NONE, 0);
}

static uint32_t draw(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % bound);
}

static void add_of_site(struct cluster *cluster, uint32_t project, uint64_t *state)
{
    static const uint32_t SINGLE[] = {1, 1, 1, 2, 2, 4};
    uint32_t kind = draw(state, 20);
    if (kind < 3) { // a gang
        cluster_add(cluster, project, 2 + draw(state, 4), kind ? 4 : 8, SNAPSHOT_NONE, 0);
        return;
    }
    struct snapshot_workload *workload = cluster_add(cluster, project, 1, SINGLE[draw(state, 6)], SNAPSHOT_NONE, 0);
    if (kind < 6) { // in the order of priorities before the others, and not to be stopped
        struct snapshot_pod *pod = &cluster->pods[workload->first_pod];
        pod->gpu_devices = 1;
        pod->gpu_portion_milli = draw(state, 2) ? 250 : 500;
        workload->priority = 125;
        workload->preemptible = false;
    }
}

void cluster_make_site_from(struct cluster *cluster, size_t nodes, uint64_t seed)
{
    uint32_t projects = nodes > 16 ? (uint32_t)nodes / 4 : 4, departments = projects >= 40 ? projects / 10 : 4;
    uint32_t workloads = (uint32_t)nodes * 10;
    uint64_t state = seed;
    cluster_make_nodes(cluster, nodes);
    cluster_make_projects(cluster, departments, projects, 1);
    cluster_reserve(cluster, workloads, workloads * 5);
    struct snapshot_queue *queues = arena_array(&cluster->arena, departments, sizeof(*queues));
    struct snapshot_department *all = (struct snapshot_department *)cluster->snapshot.departments; // ours
    for (uint32_t d = 0; d < departments; d++) {
        queues[d] = snapshot_queue_default();
        all[d].queues = &queues[d];
    }
    for (uint32_t p = 0; p < projects; p++) {
        int64_t quota = (int64_t)draw(&state, 4) * (int64_t)nodes * GPUS_PER_NODE / (projects * 2);
        cluster->queues[p].deserved.of[RESOURCE_GPU] = quota * GPU_MILLI_PER_DEVICE;
        queues[cluster->projects[p].department].deserved.of[RESOURCE_GPU] += quota * GPU_MILLI_PER_DEVICE;
    }
    for (uint32_t i = 0; i < workloads; i++)
        add_of_site(cluster, draw(&state, projects), &state);
}

void cluster_make_site(struct cluster *cluster, size_t nodes)
{
    cluster_make_site_from(cluster, nodes, 4711);
    cluster->snapshot.settings.search_steps = 400 * SCHEDULER_STEPS_PER_MS; // as the server has it
}
