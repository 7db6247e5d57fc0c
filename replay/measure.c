#include "replay/measure.h"

#include "base/arena.h"
#include "replay/trace.h"

// Times that people read well: 1, 2, 5, 10, 15, 30 s, min, h, and days.
static int64_t round_up_interval(int64_t ms)
{
    static const int64_t STEPS_S[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,    600,
                                      900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
    for (size_t i = 0; i < sizeof(STEPS_S) / sizeof(STEPS_S[0]); i++)
        if (STEPS_S[i] * 1000 >= ms)
            return STEPS_S[i] * 1000;
    return (ms / 604800000 + 1) * 604800000;
}

// When the trace would end if no job waited, but no more than a quarter of its arrivals' time behind the last one.
static int64_t find_horizon(const struct trace *trace)
{
    int64_t arrivals_ms = trace->last_ms - trace->first_ms;
    int64_t horizon = trace->last_ms + 1000;
    for (size_t i = 0; i < trace->arrival_count && !trace->is_drawn; i++) {
        const struct trace_job *job = &trace->jobs[trace->arrivals[i]];
        if (job->submit_ms + job->duration_ms > horizon)
            horizon = job->submit_ms + job->duration_ms;
    }
    int64_t tail_ms = horizon - trace->last_ms;
    if (arrivals_ms > 0 && !trace->is_drawn && tail_ms > arrivals_ms / 4 && arrivals_ms / 4 >= 1000)
        return trace->last_ms + arrivals_ms / 4;
    return horizon;
}

void measure_init(struct measure *measure, const struct trace *trace, int64_t capacity_milli, int64_t until_ms,
                  struct arena *arena)
{
    *measure = (struct measure){.capacity_milli = capacity_milli,
                                .from_ms = trace->first_ms,
                                .now_ms = trace->first_ms,
                                .project_count = trace->project_count,
                                .sizes_milli = trace->sizes_milli,
                                .size_count = trace->size_count};
    measure->horizon_ms = find_horizon(trace);
    if (until_ms < measure->horizon_ms)
        measure->horizon_ms = until_ms;
    measure->until_ms = trace->last_ms > trace->first_ms ? trace->last_ms : measure->horizon_ms;
    if (until_ms < INT64_MAX)
        measure->until_ms = measure->horizon_ms;
    int64_t length = measure->horizon_ms - measure->from_ms;
    measure->interval_ms = round_up_interval(length / MEASURE_SERIES_POINTS);
    measure->interval_count = length > 0 ? (size_t)((length + measure->interval_ms - 1) / measure->interval_ms) : 0;
    measure->project_milli = arena_array(arena, trace->project_count, sizeof(*measure->project_milli));
    measure->refused_by_size = arena_array(arena, trace->size_count, sizeof(*measure->refused_by_size));
    measure->project_window = arena_array(arena, trace->project_count, sizeof(*measure->project_window));
    measure->intervals = arena_array(arena, measure->interval_count, sizeof(*measure->intervals));
    measure->project_intervals =
        arena_array(arena, measure->interval_count * trace->project_count, sizeof(*measure->project_intervals));
}

static int64_t stranded_milli(const struct measure *measure)
{
    int64_t free_milli = measure->capacity_milli - measure->allocated_milli;
    for (size_t i = 0; i < measure->size_count && measure->sizes_milli[i] <= free_milli && measure->waiting_jobs; i++)
        if (measure->sizes_milli[i] > 0 && measure->refused_by_size[i] > 0)
            return free_milli;
    return 0;
}

static void add_time(const struct measure *measure, struct measure_sums *sums, __int128 *projects, int64_t ms,
                     int64_t stranded)
{
    sums->time_ms += ms;
    sums->allocated += (__int128)measure->allocated_milli * ms;
    sums->fragmented += (__int128)measure->fragmented_milli * ms;
    sums->stranded += (__int128)stranded * ms;
    sums->waiting += (__int128)measure->waiting_jobs * ms;
    sums->waiting_gpu_milli += (__int128)measure->waiting_milli * ms;
    for (size_t p = 0; p < measure->project_count; p++)
        projects[p] += (__int128)measure->project_milli[p] * ms;
}

struct measure_sums *measure_interval(struct measure *measure, int64_t time_ms)
{
    if (time_ms < measure->from_ms || time_ms >= measure->horizon_ms)
        return NULL;
    return &measure->intervals[(time_ms - measure->from_ms) / measure->interval_ms];
}

void measure_advance(struct measure *measure, int64_t to_ms)
{
    int64_t stranded = stranded_milli(measure);
    int64_t window_end = to_ms < measure->until_ms ? to_ms : measure->until_ms;
    if (window_end > measure->now_ms)
        add_time(measure, &measure->window, measure->project_window, window_end - measure->now_ms, stranded);
    for (int64_t at = measure->now_ms; at < to_ms;) {
        struct measure_sums *interval = measure_interval(measure, at);
        if (!interval)
            break;
        int64_t index = interval - measure->intervals;
        int64_t end = measure->from_ms + (index + 1) * measure->interval_ms;
        end = end < measure->horizon_ms ? end : measure->horizon_ms;
        end = end < to_ms ? end : to_ms;
        add_time(measure, interval, measure->project_intervals + (size_t)index * measure->project_count, end - at,
                 stranded);
        at = end;
    }
    measure->now_ms = to_ms;
}

void measure_wait(struct measure *measure, uint32_t size, int change)
{
    measure->waiting_jobs = (uint64_t)((int64_t)measure->waiting_jobs + change);
    measure->waiting_milli += measure->sizes_milli[size] * change;
}

void measure_refuse(struct measure *measure, uint32_t size, int change)
{
    measure->refused_by_size[size] = (uint32_t)((int64_t)measure->refused_by_size[size] + change);
}

void measure_lose(struct measure *measure, int64_t gpu_milli, int64_t from_ms)
{
    int64_t end = measure->now_ms < measure->until_ms ? measure->now_ms : measure->until_ms;
    if (end > from_ms)
        measure->lost += (__int128)gpu_milli * (end - from_ms);
}

int64_t measure_share_micro(const struct measure *measure, __int128 sum, int64_t time_ms)
{
    const __int128 whole = (__int128)measure->capacity_milli * time_ms;
    return whole > 0 ? (int64_t)((sum * 1000000 + whole / 2) / whole) : 0;
}
