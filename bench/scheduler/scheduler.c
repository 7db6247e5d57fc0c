// What a cycle costs: each row is a cluster at three sizes, planned from scratch again and again. Printed are processor
// time (median and least of the runs), what the cycle's arena held, what the whole process held at most, snapshot
// included, bytes of arena for a pod, and how time grows with the size: the exponent between the smallest and the
// largest. Every size runs in a process of its own. Run with a row's name (or its beginning) to see that row
// alone, and with a size to see that alone.
#include "scheduler/scheduler.h"
#include "base/error.h"
#include "bench/scheduler/clusters.h"
#include "bench/scheduler/measure.h"
#include "bench/scheduler/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIZES = 3,
    LEAST_RUNS = 5,
    MOST_RUNS = 101
};

static const int64_t LONG_ENOUGH_NS = 400 * 1000 * 1000; // so much time for the runs of a size

struct figures {
    double median_ms;
    double least_ms;
    double peak_mb; // of the process
    size_t arena_bytes;
    size_t pods;
    char note[200];
};

struct row {
    const char *name;
    const char *set_up;
    const char *aim;
    const char *others; // what others publish
    size_t sizes[SIZES];
    void (*make)(struct cluster *cluster, size_t nodes);                 // a cluster to be planned; or
    int (*measure)(size_t size, struct figures *out, struct error *err); // something of its own
};

static int measure_cluster(const struct row *row, size_t size, struct figures *out, struct error *err)
{
    struct cluster cluster;
    int64_t times_ns[MOST_RUNS], spent_ns = 0;
    size_t runs = 0;
    uint64_t scenarios = 0;
    cluster_init(&cluster);
    row->make(&cluster, size);
    out->pods = cluster.snapshot.pod_count;
    for (; runs < LEAST_RUNS || (runs < MOST_RUNS && spent_ns < LONG_ENOUGH_NS); runs++) {
        struct arena arena;
        struct plan *plan;
        arena_init(&arena);
        int64_t start_ns = measure_now_ns();
        if (scheduler_plan(&cluster.snapshot, &arena, &plan, err) < 0)
            return -1;
        times_ns[runs] = measure_now_ns() - start_ns;
        spent_ns += times_ns[runs];
        out->arena_bytes = arena.used_bytes;
        scenarios = 0;
        for (size_t a = 0; a < ACTION_COUNT; a++)
            scenarios += plan->actions[a].scenarios_simulated;
        snprintf(out->note, sizeof(out->note), "%zu decisions, %" PRIu64 " scenarios%s", plan->decision_count,
                 scenarios, plan->search_cut_count ? ", cut" : "");
        arena_done(&arena);
    }
    out->median_ms = measure_median_ms(times_ns, runs);
    out->least_ms = (double)times_ns[0] / 1e6;
    cluster_done(&cluster);
    return 0;
}

static int measure_stream(const struct stream_spec *spec, struct figures *out, struct error *err)
{
    struct stream_figures figures;
    if (stream_run(spec, &figures, err) < 0)
        return -1;
    out->median_ms = figures.median_ms;
    out->least_ms = figures.longest_ms;
    out->arena_bytes = figures.arena_bytes;
    out->pods = figures.pods;
    snprintf(out->note, sizeof(out->note),
             "%.0f workloads and %.0f pods a second: %zu in %zu cycles, %.2f s (plans %.2f s); %zu evicted; most %zu "
             "live, %zu waiting",
             (double)spec->workloads / figures.seconds, (double)figures.bound_pods / figures.seconds,
             figures.bound_pods, figures.cycles, figures.seconds, figures.plan_seconds, figures.evicted_pods,
             figures.most_live, figures.most_waiting);
    return 0;
}

// 1,000 nodes get 65,000 pods of 2.5 GPUs on average in 50,000 workloads, arriving at 500 a second.
static int measure_load(size_t projects, uint32_t run_ms, uint32_t budget, struct figures *out, struct error *err)
{
    struct stream_spec spec = {.nodes = projects,
                               .departments = 10,
                               .projects = projects,
                               .workloads = projects * 50,
                               .gap_us = (uint32_t)(2000 * 1000 / projects),
                               .period_ms = 100,
                               .run_ms = run_ms,
                               .budget = budget,
                               .largest = 8};
    return measure_stream(&spec, out, err);
}

// Demand is 93 % of the devices.
static int measure_arrivals(size_t projects, struct figures *out, struct error *err)
{
    return measure_load(projects, 4600, 0, out, err);
}

// Demand is 142 % of the devices while workloads arrive.
static int measure_overload(size_t projects, struct figures *out, struct error *err)
{
    return measure_load(projects, 7000, 8, out, err);
}

static const struct row ROWS[] = {
    {"nothing",
     "all devices held by one-GPU pods of 500 projects, nothing waits; from scratch",
     "< 5 ms",
     "-",
     {250, 500, 1000},
     .make = cluster_make_idle},
    {"pending",
     "empty nodes, 5 one-GPU workloads a node wait, 10 projects",
     "< 2 ms",
     "149 ms",
     {25, 50, 100},
     .make = cluster_make_pending},
    {"fill",
     "empty nodes, one-GPU workloads for all devices wait, 10 projects",
     "< 50 ms",
     "398 s through an API server",
     {125, 250, 500},
     .make = cluster_make_fill},
    {"refused",
     "full nodes, all but nine with a pod that stays, a gang of 10 whole nodes may reclaim; every action",
     "< 20 ms",
     "249.5 s",
     {125, 250, 500},
     .make = cluster_make_refused},
    {"short",
     "one project holds all in one-GPU workloads and may lose 79, the other's gang of 10 whole nodes waits",
     "< 50 ms at 500, < 200 ms at 1000, growth < 1.3",
     "over 110 s at 200",
     {100, 500, 1000},
     .make = cluster_make_one_short},
    {"pair",
     "the same, but the workload that gives way first holds two GPUs",
     "-",
     "-",
     {100, 500, 1000},
     .make = cluster_make_pair_short},
    {"reclaim",
     "one project holds all in one-GPU workloads, the other's gang of half the nodes waits",
     "< 40 ms at 500, < 100 ms and 200 MB at 1000",
     "9.2 s at 500; 76.3 s and 7.9 GiB at 1000",
     {250, 500, 1000},
     .make = cluster_make_reclaim},
    {"consolidate",
     "half of each node held by one-GPU workloads, a gang of 10 whole nodes waits",
     "-",
     "-",
     {125, 250, 500},
     .make = cluster_make_consolidation},
    {"gangs",
     "a pod of a gang of 10 on each node, 500 nodes: 41 gangs must move for one of 410 whole nodes",
     "< 500 ms",
     "456 s",
     {125, 250, 500},
     .make = cluster_make_gangs_to_move},
    {"mixed",
     "35 pods a node, all devices held (gangs, parts, elastic), 200 projects; one workload for 10 nodes waits",
     "< 50 ms",
     "2.5 s",
     {1000, 2000, 4000},
     .make = cluster_make_mixed},
    {"backlog",
     "full nodes, each project holds 8 of the 9 or 12 it deserves and waits with 4 workloads of 1 to 4 GPUs; all of it "
     "is explained",
     "-",
     "-",
     {125, 250, 500},
     .make = cluster_make_backlog},
    {"site",
     "10 workloads a node, single pods, parts of devices and gangs, of a project for each 4 nodes ask for more than "
     "there "
     "is; searches for 400 ms at most",
     "< 0.5 s at 400, < 5 s at 2000",
     "-",
     {400, 1000, 2000},
     .make = cluster_make_site},
    {"arrivals",
     "50 workloads for each of so many projects arrive on as many nodes at 93 % load, a cycle each 100 ms",
     ">= 5000 workloads/s",
     "42/s",
     {250, 500, 1000},
     .measure = measure_arrivals},
    {"overload",
     "the same at 142 % load, with a budget of 8 scenarios for each search; cut searches are in the plans",
     "-",
     "-",
     {60, 125, 250},
     .measure = measure_overload},
};

static int measure(const struct row *row, size_t size, struct figures *out)
{
    struct error err = {0};
    int rc = row->make ? measure_cluster(row, size, out, &err) : row->measure(size, out, &err);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", row->name, err.message);
    return rc;
}

// Measures in a process of its own, so that its memory is that of this size alone.
static int measure_apart(const struct row *row, size_t size, struct figures *out)
{
    int ends[2], status;
    struct rusage usage;
    if (pipe(ends) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        struct figures figures = {0};
        int rc = measure(row, size, &figures);
        bool is_written = write(ends[1], &figures, sizeof(figures)) == (ssize_t)sizeof(figures);
        _exit(rc < 0 || !is_written);
    }
    close(ends[1]);
    bool is_read = child > 0 && read(ends[0], out, sizeof(*out)) == (ssize_t)sizeof(*out);
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || !is_read || status != 0)
        return -1;
    out->peak_mb = (double)usage.ru_maxrss / 1e3;
    return 0;
}

// One size alone, in this process: for a profiler.
static int print_size(const struct row *row, size_t size)
{
    struct figures figures = {0};
    if (measure(row, size, &figures) < 0)
        return -1;
    printf("%s %zu: median %.3f ms, %s %.3f ms; %s\n", row->name, size, figures.median_ms, row->make ? "least" : "most",
           figures.least_ms, figures.note);
    return 0;
}

static int print_row(const struct row *row)
{
    struct figures figures[SIZES] = {0};
    printf("\n%s: %s\n  aim %s; others %s\n", row->name, row->set_up, row->aim, row->others);
    for (size_t s = 0; s < SIZES; s++) {
        if (measure_apart(row, row->sizes[s], &figures[s]) < 0)
            return -1;
        printf("  %6zu %8zu pods  median %9.3f ms  %s %9.3f ms  arena %6.1f MB  process %6.1f MB  %5zu B/pod  %s\n",
               row->sizes[s], figures[s].pods, figures[s].median_ms, row->make ? "least" : "most ", figures[s].least_ms,
               (double)figures[s].arena_bytes / 1e6, figures[s].peak_mb, figures[s].arena_bytes / figures[s].pods,
               figures[s].note);
        fflush(stdout);
    }
    printf("  time grows with size to the power of %.2f\n",
           log(figures[SIZES - 1].median_ms / figures[0].median_ms) /
               log((double)row->sizes[SIZES - 1] / (double)row->sizes[0]));
    return 0;
}

int main(int argc, char **argv)
{
    printf("Processor time of one thread; median, least (of streams: most) of %d runs and more\n", LEAST_RUNS);
    fflush(stdout);
    for (size_t r = 0; r < sizeof(ROWS) / sizeof(ROWS[0]); r++) {
        if (argc > 1 && strncmp(ROWS[r].name, argv[1], strlen(argv[1])) != 0)
            continue;
        if ((argc > 2 ? print_size(&ROWS[r], strtoull(argv[2], NULL, 10)) : print_row(&ROWS[r])) < 0)
            return 1;
    }
    return 0;
}
