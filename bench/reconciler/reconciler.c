// What a turn of the reconciler costs on a full cluster of nodes of 8 GPUs, each pod with one, in 500 projects: where
// nothing has changed, where only a time has come (sampling), where one workload has changed and a cycle is planned,
// and after a restart, when everything is read. Wall clock, with the database in a temporary folder.
#include "base/error.h"
#include "base/timestamp.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    GPUS = 8,
    PROJECTS = 500,
    IDLE_TURNS = 20000,
    RUNS = 21
};

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double median_ms(int64_t *times_us, size_t count)
{
    qsort(times_us, count, sizeof(*times_us), compare_numbers);
    return (double)times_us[count / 2] / 1000;
}

static int64_t timed_run_us(struct live *live)
{
    int64_t started_us = timestamp_monotonic_us();
    live_run(live);
    return timestamp_monotonic_us() - started_us;
}

static void fill(struct live *live, int nodes)
{
    for (int i = 0; i < PROJECTS; i++)
        live_add_project(live, arena_printf(&live->arena, "p%d", i), nodes * GPUS / PROJECTS);
    for (int i = 0; i < nodes * GPUS; i++)
        live_submit(live, &(struct live_spec){.name = arena_printf(&live->arena, "w%d", i),
                                              .project = arena_printf(&live->arena, "p%d", i % PROJECTS)});
    live_run(live);
    live_submit(live, &(struct live_spec){.name = "waits", .project = "p0"});
    live_run(live);
}

static void measure(int nodes)
{
    struct live live = {0};
    struct reconciler_stats stats;
    int64_t times_us[RUNS], plans_us[RUNS];
    live_open(&live, nodes, GPUS);
    fill(&live, nodes);
    reconciler_get_stats(live.reconciler, &stats);
    printf("%d nodes, %zu pods, %d projects\n", nodes, stats.pod_count, PROJECTS);
    int64_t cycles = stats.cycles;

    int64_t started_us = timestamp_monotonic_us();
    for (int i = 0; i < IDLE_TURNS; i++) {
        bool busy;
        struct error err = {0};
        if (reconciler_turn(live.reconciler, &busy, &err) < 0)
            abort();
    }
    printf("  nothing has changed             %9.4f ms  mean of %d turns\n",
           (double)(timestamp_monotonic_us() - started_us) / 1000 / IDLE_TURNS, IDLE_TURNS);

    for (int i = 0; i < RUNS; i++) {
        live.now_ms += 60000;
        times_us[i] = timed_run_us(&live);
    }
    reconciler_get_stats(live.reconciler, &stats);
    printf("  a minute later: samples         %9.3f ms  median of %d, %" PRId64 " of them planned\n",
           median_ms(times_us, RUNS), RUNS, (int64_t)(stats.cycles - cycles));

    for (int i = 0; i < RUNS; i++) {
        if (i % 2)
            live_resume(&live, "waits");
        else
            live_suspend(&live, "waits");
        times_us[i] = timed_run_us(&live);
        reconciler_get_stats(live.reconciler, &stats);
        plans_us[i] = stats.last_plan_us;
    }
    printf("  one workload has changed        %9.3f ms  median of %d, of which snapshot and plan %.3f ms\n",
           median_ms(times_us, RUNS), RUNS, median_ms(plans_us, RUNS));

    live_crash(&live);
    int64_t whole_us = timed_run_us(&live);
    reconciler_get_stats(live.reconciler, &stats);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("  after a restart                 %9.3f ms  once, of which snapshot and plan %.3f ms; peak %.0f MB\n",
           (double)whole_us / 1000, (double)stats.last_plan_us / 1000, (double)usage.ru_maxrss / 1024);
    live_close(&live);
}

int main(void)
{
    static const int NODES[] = {250, 500, 1000};
    for (size_t i = 0; i < sizeof(NODES) / sizeof(NODES[0]); i++)
        measure(NODES[i]);
    return 0;
}
