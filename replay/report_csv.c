// summary.csv, projects.csv, series.csv, jobs.csv: times in seconds, GPUs as decimals, shares from 0 to 1.
#include "replay/report.h"

#include "base/buffer.h"
#include "base/quantity.h"
#include "replay/policy.h"
#include "replay/trace.h"

#include <inttypes.h>
#include <string.h>

static void put_text(struct buffer *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        buffer_text(out, text);
        return;
    }
    buffer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buffer_char(out, '"');
        buffer_char(out, *text);
    }
    buffer_char(out, '"');
}

// A column that follows another: thousandths as a decimal; nothing where the value is not there.
static void put_milli(struct buffer *out, int64_t milli, bool is_there)
{
    char text[QUANTITY_TEXT_SIZE];
    buffer_char(out, ',');
    if (is_there)
        buffer_text(out, quantity_format_milli(milli, text));
}

static void put_share(struct buffer *out, int64_t micro)
{
    buffer_printf(out, ",%" PRId64 ".%06" PRId64, micro / 1000000, micro % 1000000);
}

static void put_count(struct buffer *out, uint64_t count)
{
    buffer_printf(out, ",%" PRIu64, count);
}

static void put_waits(struct buffer *out, const struct report_waits *waits)
{
    const int64_t times[] = {waits->mean_ms, waits->p50_ms, waits->p90_ms, waits->p99_ms, waits->longest_ms};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        put_milli(out, times[i], waits->count > 0);
}

void report_write_summary(const struct report *report, struct buffer *out)
{
    buffer_text(out, "policy,utilised,allocated,fragmented,stranded,allocated_at_end,fragmented_at_end,wait_mean_s,"
                     "wait_p50_s,wait_p90_s,wait_p99_s,wait_longest_s,evictions,reclaimed,preempted,consolidated,"
                     "lost_gpu_s,arrived,finished,unstarted,cycles,decisions,search_cuts,unrested\n");
    for (size_t r = 0; r < report->run_count; r++) {
        const struct report_run *run = &report->runs[r];
        const int64_t shares[] = {run->utilisation_micro, run->allocation_micro,     run->fragmented_micro,
                                  run->stranded_micro,    run->end_allocation_micro, run->end_fragmented_micro};
        put_text(out, run->run->policy->name);
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
            put_share(out, shares[i]);
        put_waits(out, &run->waits);
        put_count(out, run->evictions);
        put_count(out, run->run->evictions[ACTION_RECLAIM]);
        put_count(out, run->run->evictions[ACTION_PREEMPT]);
        put_count(out, run->run->evictions[ACTION_CONSOLIDATION]);
        put_milli(out, run->lost_gpu_ms, true);
        put_count(out, run->arrived);
        put_count(out, run->finished);
        put_count(out, run->unstarted);
        put_count(out, run->run->cycles);
        put_count(out, run->run->decisions);
        put_count(out, run->run->search_cuts);
        put_count(out, run->run->unrested);
        buffer_char(out, '\n');
    }
}

void report_write_projects(const struct report *report, struct buffer *out)
{
    const struct trace *trace = report->trace;
    buffer_text(out, "policy,department,project,quota_gpus,allocated_gpus,wait_mean_s,wait_p50_s,wait_p90_s,wait_p99_s,"
                     "wait_longest_s,evicted,caused,lost_gpu_s,arrived,finished,unstarted\n");
    for (size_t r = 0; r < report->run_count; r++) {
        const struct report_run *run = &report->runs[r];
        for (size_t p = 0; p < trace->project_count; p++) {
            const struct report_project *project = &run->projects[p];
            const struct run_project *counts = &run->run->projects[p];
            put_text(out, run->run->policy->name);
            buffer_char(out, ',');
            put_text(out, trace->departments[trace->projects[p].department]);
            buffer_char(out, ',');
            put_text(out, trace->projects[p].name);
            put_milli(out, counts->deserved_milli, counts->deserved_milli != QUANTITY_UNLIMITED);
            put_milli(out, project->allocated_milli, true);
            put_waits(out, &project->waits);
            put_count(out, counts->evicted);
            put_count(out, counts->caused);
            put_milli(out, (int64_t)(counts->lost / 1000), true);
            put_count(out, project->arrived);
            put_count(out, project->finished);
            put_count(out, project->unstarted);
            buffer_char(out, '\n');
        }
    }
}

// The mean of an amount over an interval.
static int64_t mean(__int128 sum, int64_t time_ms)
{
    return time_ms > 0 ? (int64_t)((sum + time_ms / 2) / time_ms) : 0;
}

void report_write_series(const struct report *report, struct buffer *out)
{
    buffer_text(out, "policy,from_s,to_s,allocated_gpus,fragmented_gpus,stranded_gpus,waiting_jobs,waiting_gpus,starts,"
                     "evictions\n");
    for (size_t r = 0; r < report->run_count; r++) {
        const struct measure *measure = &report->runs[r].run->measure;
        for (size_t i = 0; i < measure->interval_count; i++) {
            const struct measure_sums *sums = &measure->intervals[i];
            int64_t from = measure->from_ms + (int64_t)i * measure->interval_ms;
            char text[QUANTITY_TEXT_SIZE];
            if (sums->time_ms == 0 && sums->starts == 0 && sums->evictions == 0)
                continue;
            put_text(out, report->runs[r].run->policy->name);
            buffer_char(out, ',');
            buffer_text(out, quantity_format_milli(from, text));
            put_milli(out, from + sums->time_ms, true);
            put_milli(out, mean(sums->allocated, sums->time_ms), true);
            put_milli(out, mean(sums->fragmented, sums->time_ms), true);
            put_milli(out, mean(sums->stranded, sums->time_ms), true);
            put_milli(out, mean(sums->waiting * 1000, sums->time_ms), true);
            put_milli(out, mean(sums->waiting_gpu_milli, sums->time_ms), true);
            put_count(out, sums->starts);
            put_count(out, sums->evictions);
            buffer_char(out, '\n');
        }
    }
}

void report_write_jobs(const struct report *report, struct buffer *out)
{
    const struct trace *trace = report->trace;
    buffer_text(out, "policy,job,project,gpus,submit_s,wait_s,first_start_s,end_s,evictions,lost_s\n");
    for (size_t r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r].run;
        for (size_t i = 0; i < trace->arrival_count; i++) {
            const struct trace_job *job = &trace->jobs[trace->arrivals[i]];
            const struct run_job *state = &run->jobs[trace->arrivals[i]];
            bool has_started = state->first_start_ms != RUN_TIME_NONE;
            put_text(out, run->policy->name);
            buffer_char(out, ',');
            put_text(out, job->id);
            buffer_char(out, ',');
            put_text(out, trace->projects[job->project].name);
            put_milli(out, trace->sizes_milli[job->size], true);
            put_milli(out, job->submit_ms, true);
            put_milli(out, state->first_start_ms - job->submit_ms, has_started);
            put_milli(out, state->first_start_ms, has_started);
            put_milli(out, state->ended_ms, state->ended_ms != RUN_TIME_NONE);
            put_count(out, state->evictions);
            put_milli(out, state->lost_ms, true);
            buffer_char(out, '\n');
        }
    }
}
