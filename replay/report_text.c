// The tables on standard output: the runs side by side, then the projects, a line for each run.
#include "replay/report.h"

#include "base/buffer.h"
#include "base/quantity.h"
#include "replay/nodes.h"
#include "replay/policy.h"
#include "replay/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    CELL_SIZE = 48,
    LABEL_WIDTH = 26
};

typedef void (*cell_writer)(const struct report_run *run, char out[CELL_SIZE]);

static void put_percent(int64_t micro, char *out)
{
    char text[32];
    snprintf(out, CELL_SIZE, "%s %%", report_percent(micro, text));
}

static void put_count(uint64_t count, char *out)
{
    snprintf(out, CELL_SIZE, "%" PRIu64, count);
}

static void put_duration(int64_t ms, char *out)
{
    char text[32];
    snprintf(out, CELL_SIZE, "%s", report_duration(ms, text));
}

#define CELL(name, put, value)                                          \
    static void name(const struct report_run *run, char out[CELL_SIZE]) \
    {                                                                   \
        put(value, out);                                                \
    }
CELL(cell_utilisation, put_percent, run->utilisation_micro)
CELL(cell_allocation, put_percent, run->allocation_micro)
CELL(cell_fragmented, put_percent, run->fragmented_micro)
CELL(cell_stranded, put_percent, run->stranded_micro)
CELL(cell_end_allocation, put_percent, run->end_allocation_micro)
CELL(cell_end_fragmented, put_percent, run->end_fragmented_micro)
CELL(cell_mean, put_duration, run->waits.mean_ms)
CELL(cell_p50, put_duration, run->waits.p50_ms)
CELL(cell_p90, put_duration, run->waits.p90_ms)
CELL(cell_p99, put_duration, run->waits.p99_ms)
CELL(cell_longest, put_duration, run->waits.longest_ms)
CELL(cell_evictions, put_count, run->evictions)
CELL(cell_reclaimed, put_count, run->run->evictions[ACTION_RECLAIM])
CELL(cell_preempted, put_count, run->run->evictions[ACTION_PREEMPT])
CELL(cell_consolidated, put_count, run->run->evictions[ACTION_CONSOLIDATION])
CELL(cell_finished, put_count, run->finished)
CELL(cell_unstarted, put_count, run->unstarted)
CELL(cell_cycles, put_count, run->run->cycles)
CELL(cell_decisions, put_count, run->run->decisions)
#undef CELL

static void cell_lost(const struct report_run *run, char out[CELL_SIZE])
{
    snprintf(out, CELL_SIZE, "%" PRId64 " h", (run->lost_gpu_ms + 1800000) / 3600000);
}

struct row {
    const char *label;
    cell_writer write;
};

static const struct row ROWS[] = {
    {"utilised", cell_utilisation},
    {"allocated", cell_allocation},
    {"fragmented", cell_fragmented},
    {"stranded", cell_stranded},
    {"allocated at the end", cell_end_allocation},
    {"fragmented at the end", cell_end_fragmented},
    {"wait, mean", cell_mean},
    {"wait, P50", cell_p50},
    {"wait, P90", cell_p90},
    {"wait, P99", cell_p99},
    {"wait, longest", cell_longest},
    {"evictions", cell_evictions},
    {"  by reclaim", cell_reclaimed},
    {"  by preemption", cell_preempted},
    {"  by consolidation", cell_consolidated},
    {"GPU time lost", cell_lost},
    {"jobs finished", cell_finished},
    {"jobs never started", cell_unstarted},
    {"cycles", cell_cycles},
    {"decisions", cell_decisions},
};

// Columns of a terminal that a text takes: bytes but those that go on a character.
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void put_left(struct buffer *out, const char *text, int width)
{
    buffer_text(out, text);
    for (int i = width_of(text); i < width; i++)
        buffer_char(out, ' ');
}

static void put_right(struct buffer *out, const char *text, int width)
{
    for (int i = width_of(text); i < width; i++)
        buffer_char(out, ' ');
    buffer_text(out, text);
}

static void write_setup(const struct report *report, struct buffer *out)
{
    const struct trace *trace = report->trace;
    const struct measure *measure = &report->runs[0].run->measure;
    char from[QUANTITY_TEXT_SIZE], until[QUANTITY_TEXT_SIZE], gpus[QUANTITY_TEXT_SIZE];
    buffer_printf(out, "%s: %zu jobs of %zu projects", trace->name, trace->arrival_count, trace->project_count);
    if (report->demand_percent > 0)
        buffer_printf(out, ", drawn with seed %" PRIu64 " to %" PRId64 " %% of the GPUs", report->seed,
                      report->demand_percent);
    buffer_printf(out, "\n%s: %zu nodes, %s GPUs\n", report->nodes_name, report->nodes->count,
                  quantity_format_milli(report->nodes->gpu_milli, gpus));
    buffer_printf(out, "Means are over the time from %s s to %s s of the trace.\n\n",
                  quantity_format_milli(measure->from_ms, from), quantity_format_milli(measure->until_ms, until));
}

static void write_runs(const struct report *report, struct buffer *out)
{
    char cell[CELL_SIZE];
    put_left(out, "", LABEL_WIDTH);
    for (size_t r = 0; r < report->run_count; r++) {
        const char *name = report->runs[r].run->policy->name;
        put_right(out, name, 2 + (width_of(name) > 12 ? width_of(name) : 12));
    }
    buffer_char(out, '\n');
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        put_left(out, ROWS[i].label, LABEL_WIDTH);
        for (size_t r = 0; r < report->run_count; r++) {
            const char *name = report->runs[r].run->policy->name;
            ROWS[i].write(&report->runs[r], cell);
            put_right(out, cell, 2 + (width_of(name) > 12 ? width_of(name) : 12));
        }
        buffer_char(out, '\n');
    }
}

static void put_gpus(int64_t milli, char out[CELL_SIZE])
{
    if (milli == QUANTITY_UNLIMITED)
        snprintf(out, CELL_SIZE, "-");
    else
        snprintf(out, CELL_SIZE, "%.1f", (double)milli / 1000);
}

static void write_project(const struct report_run *run, size_t p, const char *name, int name_width, int policy_width,
                          struct buffer *out)
{
    const struct report_project *project = &run->projects[p];
    const struct run_project *counts = &run->run->projects[p];
    const int64_t times[] = {project->waits.mean_ms, project->waits.p50_ms, project->waits.p90_ms,
                             project->waits.p99_ms};
    char cell[CELL_SIZE];
    put_left(out, name, name_width + 2);
    put_left(out, run->run->policy->name, policy_width);
    put_gpus(counts->deserved_milli, cell);
    put_right(out, cell, 9);
    put_gpus(project->allocated_milli, cell);
    put_right(out, cell, 11);
    put_count(project->arrived, cell);
    put_right(out, cell, 9);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        put_duration(times[i], cell);
        put_right(out, cell, 13);
    }
    put_count(counts->evicted, cell);
    put_right(out, cell, 9);
    put_count(counts->caused, cell);
    put_right(out, cell, 8);
    put_count(project->unstarted, cell);
    put_right(out, cell, 10);
    buffer_char(out, '\n');
}

static void write_projects(const struct report *report, struct buffer *out)
{
    static const char *const HEADS[] = {"quota", "allocated", "jobs",    "wait, mean", "P50",
                                        "P90",   "P99",       "evicted", "caused",     "unstarted"};
    static const int WIDTHS[] = {9, 11, 9, 13, 13, 13, 13, 9, 8, 10};
    const struct trace *trace = report->trace;
    int name_width = 7, policy_width = 6;
    for (size_t p = 0; p < trace->project_count; p++)
        name_width = width_of(trace->projects[p].name) > name_width ? width_of(trace->projects[p].name) : name_width;
    for (size_t r = 0; r < report->run_count; r++) {
        int width = width_of(report->runs[r].run->policy->name);
        policy_width = width > policy_width ? width : policy_width;
    }
    buffer_char(out, '\n');
    put_left(out, "project", name_width + 2);
    put_left(out, "policy", policy_width);
    for (size_t i = 0; i < sizeof(HEADS) / sizeof(HEADS[0]); i++)
        put_right(out, HEADS[i], WIDTHS[i]);
    buffer_char(out, '\n');
    for (size_t p = 0; p < trace->project_count; p++)
        for (size_t r = 0; r < report->run_count; r++)
            write_project(&report->runs[r], p, r == 0 ? trace->projects[p].name : "", name_width, policy_width, out);
}

void report_write_text(const struct report *report, struct buffer *out)
{
    write_setup(report, out);
    write_runs(report, out);
    write_projects(report, out);
}
