// How long one cycle takes: each row is a cluster, planned from scratch several times; the median is printed. Memory is
// what the cycle's arena held. Run with a row's name (or its beginning) to see that row alone.
#include "scheduler/scheduler.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    GPUS_PER_NODE = 8,
    LARGEST_NAME = 32,
    RUNS = 5
};

struct cluster {
    struct arena arena;
    struct snapshot snapshot;
    struct snapshot_node *nodes;
    struct snapshot_project *projects;
    struct snapshot_queue *queues; // of projects
    struct snapshot_workload *workloads;
    struct snapshot_pod *pods;
};

static const int64_t START_MS = 1000;

static void make_nodes(struct cluster *cluster, size_t count)
{
    struct snapshot_node_pool *pool = arena_alloc(&cluster->arena, sizeof *pool);
    pool->name = "default";
    pool->fair_share_k_micro = 1000000;
    cluster->snapshot.node_pools = pool;
    cluster->snapshot.node_pool_count = 1;
    cluster->nodes = arena_array(&cluster->arena, count, sizeof *cluster->nodes);
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

static void make_projects(struct cluster *cluster, size_t departments, size_t projects, int64_t deserved_gpus)
{
    struct arena *arena = &cluster->arena;
    struct snapshot_department *all = arena_array(arena, departments, sizeof *all);
    struct snapshot_queue *unlimited = arena_alloc(arena, sizeof *unlimited);
    *unlimited = snapshot_queue_default();
    unlimited->deserved.of[RESOURCE_GPU] = QUANTITY_UNLIMITED;
    for (size_t d = 0; d < departments; d++)
        all[d] = (struct snapshot_department){.name = arena_printf(arena, "department-%03zu", d),
                                              .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                              .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                              .queues = unlimited};
    cluster->projects = arena_array(arena, projects, sizeof *cluster->projects);
    cluster->queues = arena_array(arena, projects, sizeof *cluster->queues);
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

static void reserve(struct cluster *cluster, size_t workloads, size_t pods)
{
    cluster->workloads = arena_array(&cluster->arena, workloads, sizeof *cluster->workloads);
    cluster->pods = arena_array(&cluster->arena, pods, sizeof *cluster->pods);
    cluster->snapshot.workloads = cluster->workloads;
    cluster->snapshot.pods = cluster->pods;
}

// Pods of a workload; it runs on nodes from first_node on, gpus_per_pod each, or waits where first_node is
// SNAPSHOT_NONE.
static void add_workload(struct cluster *cluster, uint32_t project, uint32_t pods, uint32_t gpus_per_pod,
                         uint32_t first_gpu)
{
    static const uint32_t POOLS[] = {0};
    struct snapshot *snapshot = &cluster->snapshot;
    const uint32_t index = (uint32_t)snapshot->workload_count++;
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
    for (uint32_t i = 0; i < pods; i++) {
        const bool runs = first_gpu != SNAPSHOT_NONE;
        cluster->pods[snapshot->pod_count++] =
            (struct snapshot_pod){.name = arena_printf(&cluster->arena, "workload-%06u-%05u", index, i),
                                  .workload = index,
                                  .sub_group = SNAPSHOT_NONE,
                                  .gpu_devices = gpus_per_pod,
                                  .cpu_milli = 1000,
                                  .memory_bytes = INT64_C(1) << 30,
                                  .status = runs ? SNAPSHOT_POD_RUNNING : SNAPSHOT_POD_PENDING,
                                  .node = runs ? (first_gpu + i * gpus_per_pod) / GPUS_PER_NODE : SNAPSHOT_NONE,
                                  .started_ms = runs ? START_MS : SNAPSHOT_TIME_NONE};
    }
}

static void nothing_to_do(struct cluster *cluster, size_t nodes)
{
    const uint32_t projects = 500;
    make_nodes(cluster, nodes);
    make_projects(cluster, 10, projects, 16);
    reserve(cluster, nodes * GPUS_PER_NODE, nodes * GPUS_PER_NODE);
    for (uint32_t i = 0; i < nodes * GPUS_PER_NODE; i++)
        add_workload(cluster, i % projects, 1, 1, i);
}

static void pending_jobs(struct cluster *cluster, size_t nodes)
{
    make_nodes(cluster, nodes);
    make_projects(cluster, 2, 10, (int64_t)nodes * GPUS_PER_NODE / 10);
    reserve(cluster, nodes * 5, nodes * 5);
    for (uint32_t i = 0; i < nodes * 5; i++)
        add_workload(cluster, i % 10, 1, 1, SNAPSHOT_NONE);
}

static void fill(struct cluster *cluster, size_t nodes)
{
    const uint32_t jobs = (uint32_t)nodes * GPUS_PER_NODE;
    make_nodes(cluster, nodes);
    make_projects(cluster, 2, 10, jobs / 10);
    reserve(cluster, jobs, jobs);
    for (uint32_t i = 0; i < jobs; i++)
        add_workload(cluster, i % 10, 1, 1, SNAPSHOT_NONE);
}

static void gang_refused(struct cluster *cluster, size_t nodes)
{
    const uint32_t running = (uint32_t)nodes * GPUS_PER_NODE;
    make_nodes(cluster, nodes);
    make_projects(cluster, 2, 10, running / 10);
    reserve(cluster, running + 1, running + 10);
    for (uint32_t i = 0; i < running; i++)
        add_workload(cluster, i % 10, 1, 1, i);
    add_workload(cluster, 0, 10, GPUS_PER_NODE, SNAPSHOT_NONE);
}

static void reclaim_gang(struct cluster *cluster, size_t nodes)
{
    const uint32_t running = (uint32_t)nodes * GPUS_PER_NODE;
    make_nodes(cluster, nodes);
    make_projects(cluster, 1, 2, running / 2);
    reserve(cluster, running + 1, running + nodes / 2);
    for (uint32_t i = 0; i < running; i++)
        add_workload(cluster, 1, 1, 1, i);
    add_workload(cluster, 0, (uint32_t)nodes / 2, GPUS_PER_NODE, SNAPSHOT_NONE);
}

// Half of each node is free; a gang of whole nodes waits.
static void consolidate(struct cluster *cluster, size_t nodes)
{
    make_nodes(cluster, nodes);
    make_projects(cluster, 1, 2, (int64_t)nodes * GPUS_PER_NODE / 2);
    reserve(cluster, nodes * GPUS_PER_NODE, nodes * GPUS_PER_NODE + 10);
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint32_t g = 0; g < GPUS_PER_NODE / 2; g++)
            add_workload(cluster, 1, 1, 1, n * GPUS_PER_NODE + g);
    }
    add_workload(cluster, 0, 10, GPUS_PER_NODE, SNAPSHOT_NONE);
    cluster->snapshot.settings.max_consolidation_victims = SNAPSHOT_COUNT_UNLIMITED;
}

static void mixed(struct cluster *cluster, size_t nodes)
{
    const uint32_t projects = 200, gpus = (uint32_t)nodes * GPUS_PER_NODE;
    make_nodes(cluster, nodes);
    make_projects(cluster, 10, projects, gpus / projects);
    reserve(cluster, nodes * 35, nodes * 35);
    for (uint32_t i = 0; i < gpus; i += 2)
        add_workload(cluster, i % projects, 1, 2, i);
    while (cluster->snapshot.pod_count < nodes * 34)
        add_workload(cluster, (uint32_t)cluster->snapshot.pod_count % projects, 1, 0,
                     (uint32_t)(cluster->snapshot.pod_count % nodes) * GPUS_PER_NODE);
    for (uint32_t i = 0; i < nodes / 40; i++)
        add_workload(cluster, i % projects, 1, 0, SNAPSHOT_NONE);
}

struct row {
    const char *name;
    const char *set_up;
    void (*make)(struct cluster *cluster, size_t nodes);
    size_t sizes[3];
};

static const struct row ROWS[] = {
    {"nothing", "all devices held by one-GPU pods of 500 projects, nothing waits", nothing_to_do, {250, 500, 1000}},
    {"pending", "empty nodes, 5 one-GPU workloads a node wait, 10 projects", pending_jobs, {25, 50, 100}},
    {"fill", "empty nodes, one-GPU workloads for all devices wait, 10 projects", fill, {125, 250, 500}},
    {"refused",
     "full nodes, all at quota, a gang of 10 whole nodes waits, every action",
     gang_refused,
     {125, 250, 500}},
    {"reclaim",
     "one project holds all in one-GPU workloads, the other's gang of half the nodes waits",
     reclaim_gang,
     {250, 500, 1000}},
    {"consolidate",
     "half of each node held by one-GPU workloads, a gang of 10 whole nodes waits",
     consolidate,
     {125, 250, 500}},
    {"mixed", "34 pods a node, full, 200 projects; a CPU pod for every 40 nodes waits", mixed, {1000, 2000, 4000}},
};

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int run(const struct row *row, size_t nodes)
{
    struct cluster cluster = {0};
    struct error err = {0};
    int64_t times_us[RUNS];
    size_t bytes = 0, decisions = 0;
    arena_init(&cluster.arena);
    snapshot_defaults(&cluster.snapshot);
    cluster.snapshot.now_ms = 1000000;
    row->make(&cluster, nodes);
    uint64_t scenarios = 0;
    for (size_t i = 0; i < RUNS; i++) {
        struct arena arena;
        struct plan *plan;
        arena_init(&arena);
        const int64_t start_us = now_us();
        if (scheduler_plan(&cluster.snapshot, &arena, &plan, &err) < 0) {
            fprintf(stderr, "%s: %s\n", row->name, err.message);
            return -1;
        }
        times_us[i] = now_us() - start_us;
        bytes = arena.used_bytes;
        decisions = plan->decision_count;
        scenarios = 0;
        for (size_t a = 0; a < ACTION_COUNT; a++)
            scenarios += plan->actions[a].scenarios_simulated;
        arena_done(&arena);
    }
    qsort(times_us, RUNS, sizeof *times_us, compare_times);
    printf("%-12s %6zu nodes %7zu pods %10.3f ms %8.1f MB %7zu decisions %6llu scenarios\n", row->name, nodes,
           cluster.snapshot.pod_count, (double)times_us[RUNS / 2] / 1000.0, (double)bytes / 1e6, decisions,
           (unsigned long long)scenarios);
    fflush(stdout);
    arena_done(&cluster.arena);
    return 0;
}

int main(int argc, char **argv)
{
    for (size_t r = 0; r < sizeof ROWS / sizeof ROWS[0]; r++) {
        if (argc > 1 && strncmp(ROWS[r].name, argv[1], strlen(argv[1])) != 0)
            continue;
        printf("%s: %s; median of %d\n", ROWS[r].name, ROWS[r].set_up, RUNS);
        for (size_t s = 0; s < 3; s++) {
            if (run(&ROWS[r], ROWS[r].sizes[s]) < 0)
                return 1;
        }
    }
    return 0;
}
