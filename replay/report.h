// What came of the runs, as numbers: the same for the table on standard output, the CSV files and the page.
#pragma once
#include "replay/run.h"

#include <stdint.h>

struct arena;
struct buffer;

// Waits of the jobs that started, from their arrival to their first start.
struct report_waits {
    const int64_t *sorted_ms;
    size_t count;
    int64_t mean_ms, p50_ms, p90_ms, p99_ms, longest_ms;
};

struct report_project {
    struct report_waits waits;
    uint64_t finished, unstarted, arrived;
    int64_t allocated_milli; // mean over the window, in thousandths of a GPU
};

struct report_run {
    const struct run *run;
    struct report_waits waits;
    struct report_project *projects; // as the trace's
    uint64_t finished, unstarted, arrived, evictions;
    int64_t utilisation_micro; // GPU time that was not thrown away, of all there was
    int64_t allocation_micro;
    int64_t fragmented_micro;
    int64_t stranded_micro;
    int64_t end_allocation_micro; // as the replay ended
    int64_t end_fragmented_micro;
    int64_t lost_gpu_ms; // GPU time that evictions threw away, all of it
};

struct report {
    const struct trace *trace;
    const struct nodes *nodes;
    const char *nodes_name;
    const struct report_run *runs;
    size_t run_count;
    int64_t demand_percent; // of a drawn trace; 0
    uint64_t seed;
};

struct report_run report_make_run(const struct run *run, struct arena *arena);
// "2 d 4 h", "3 h 27 min", "24 s", "250 ms".
char *report_duration(int64_t ms, char out[32]);
// Millionths as percent with one decimal: "61.3".
char *report_percent(int64_t micro, char out[32]);

// The tables on standard output.
void report_write_text(const struct report *report, struct buffer *out);
// summary.csv, projects.csv, series.csv, jobs.csv.
void report_write_summary(const struct report *report, struct buffer *out);
void report_write_projects(const struct report *report, struct buffer *out);
void report_write_series(const struct report *report, struct buffer *out);
void report_write_jobs(const struct report *report, struct buffer *out);
