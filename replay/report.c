#include "replay/report.h"

#include "base/arena.h"
#include "replay/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

// The nearest rank: the smallest wait that so many percent of the jobs did not exceed.
static int64_t percentile(const int64_t *sorted, size_t count, size_t percent)
{
    if (count == 0)
        return 0;
    size_t rank = (count * percent + 99) / 100;
    return sorted[rank > 0 ? rank - 1 : 0];
}

// waits: owned by the result from now on.
static struct report_waits sort_waits(int64_t *waits, size_t count)
{
    __int128 sum = 0;
    qsort(waits, count, sizeof(*waits), compare_times);
    for (size_t i = 0; i < count; i++)
        sum += waits[i];
    return (struct report_waits){.sorted_ms = waits,
                                 .count = count,
                                 .mean_ms = count ? (int64_t)((sum + (__int128)(count / 2)) / (__int128)count) : 0,
                                 .p50_ms = percentile(waits, count, 50),
                                 .p90_ms = percentile(waits, count, 90),
                                 .p99_ms = percentile(waits, count, 99),
                                 .longest_ms = count ? waits[count - 1] : 0};
}

static void count_jobs(struct report_run *report, const struct trace *trace, struct arena *arena)
{
    const struct run *run = report->run;
    int64_t *all = arena_array(arena, trace->arrival_count, sizeof(*all));
    int64_t **waits = arena_array(arena, trace->project_count, sizeof(*waits));
    size_t started = 0, *counts = arena_array(arena, trace->project_count, sizeof(*counts));
    for (size_t p = 0; p < trace->project_count; p++)
        waits[p] = arena_array(arena, trace->projects[p].job_count, sizeof(**waits));
    for (size_t i = 0; i < trace->arrival_count; i++) {
        const struct trace_job *job = &trace->jobs[trace->arrivals[i]];
        const struct run_job *state = &run->jobs[trace->arrivals[i]];
        struct report_project *project = &report->projects[job->project];
        project->arrived++;
        project->finished += state->ended_ms != RUN_TIME_NONE;
        project->unstarted += state->first_start_ms == RUN_TIME_NONE;
        if (state->first_start_ms == RUN_TIME_NONE)
            continue;
        int64_t wait = state->first_start_ms - job->submit_ms;
        all[started++] = waits[job->project][counts[job->project]++] = wait;
    }
    report->waits = sort_waits(all, started);
    for (size_t p = 0; p < trace->project_count; p++)
        report->projects[p].waits = sort_waits(waits[p], counts[p]);
}

struct report_run report_make_run(const struct run *run, struct arena *arena)
{
    const struct trace *trace = run->trace;
    const struct measure *measure = &run->measure;
    const struct measure_sums *window = &measure->window;
    struct report_run report = {.run = run};
    report.projects = arena_array(arena, trace->project_count, sizeof(*report.projects));
    count_jobs(&report, trace, arena);
    __int128 lost = 0;
    for (size_t p = 0; p < trace->project_count; p++) {
        struct report_project *project = &report.projects[p];
        report.finished += project->finished;
        report.unstarted += project->unstarted;
        report.arrived += project->arrived;
        report.evictions += run->projects[p].evicted;
        lost += run->projects[p].lost;
        if (window->time_ms > 0)
            project->allocated_milli = (int64_t)((measure->project_window[p] + window->time_ms / 2) / window->time_ms);
    }
    report.lost_gpu_ms = (int64_t)(lost / 1000);
    report.utilisation_micro = measure_share_micro(measure, window->allocated - measure->lost, window->time_ms);
    report.allocation_micro = measure_share_micro(measure, window->allocated, window->time_ms);
    report.fragmented_micro = measure_share_micro(measure, window->fragmented, window->time_ms);
    report.stranded_micro = measure_share_micro(measure, window->stranded, window->time_ms);
    report.end_allocation_micro = measure_share_micro(measure, run->end_allocated_milli, 1);
    report.end_fragmented_micro = measure_share_micro(measure, run->end_fragmented_milli, 1);
    return report;
}

char *report_duration(int64_t ms, char out[32])
{
    int64_t s = (ms + 500) / 1000, m = s / 60, h = m / 60, d = h / 24;
    if (ms > 0 && ms < 1000)
        snprintf(out, 32, "%" PRId64 " ms", ms);
    else if (m == 0)
        snprintf(out, 32, "%" PRId64 " s", s);
    else if (h == 0)
        snprintf(out, 32, s % 60 ? "%" PRId64 " min %" PRId64 " s" : "%" PRId64 " min", m, s % 60);
    else if (d == 0)
        snprintf(out, 32, m % 60 ? "%" PRId64 " h %" PRId64 " min" : "%" PRId64 " h", h, m % 60);
    else
        snprintf(out, 32, h % 24 ? "%" PRId64 " d %" PRId64 " h" : "%" PRId64 " d", d, h % 24);
    return out;
}

char *report_percent(int64_t micro, char out[32])
{
    int64_t tenths = (micro + (micro < 0 ? -500 : 500)) / 1000;
    snprintf(out, 32, "%s%" PRId64 ".%" PRId64, tenths < 0 ? "-" : "", (tenths < 0 ? -tenths : tenths) / 10,
             (tenths < 0 ? -tenths : tenths) % 10);
    return out;
}
