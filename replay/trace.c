#include "replay/trace.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdlib.h>

const char *const *trace_name_pods(const char *id, uint32_t count, struct arena *arena)
{
    if (count <= 1)
        return NULL;
    int width = 1;
    for (uint32_t last = count - 1; last >= 10; last /= 10)
        width++;
    const char **names = arena_array(arena, count, sizeof(*names));
    for (uint32_t i = 0; i < count; i++)
        names[i] = arena_printf(arena, "%s-%0*u", id, width, i);
    return names;
}

static int compare_arrivals(const void *a, const void *b, void *jobs)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    const struct trace_job *left = (const struct trace_job *)jobs + one,
                           *right = (const struct trace_job *)jobs + other;
    if (left->submit_ms != right->submit_ms)
        return left->submit_ms < right->submit_ms ? -1 : 1;
    return (one > other) - (one < other);
}

static int compare_amounts(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t job_gpu_milli(const struct trace *trace, const struct trace_job *job)
{
    return trace->shapes[job->shape].gpu_milli * job->pod_count;
}

static void number_sizes(struct trace *trace, struct trace_job *jobs, struct arena *arena)
{
    int64_t *sizes = arena_array(arena, trace->job_count, sizeof(*sizes));
    for (size_t i = 0; i < trace->job_count; i++)
        sizes[i] = job_gpu_milli(trace, &jobs[i]);
    qsort(sizes, trace->job_count, sizeof(*sizes), compare_amounts);
    for (size_t i = 0; i < trace->job_count; i++)
        if (trace->size_count == 0 || sizes[trace->size_count - 1] != sizes[i])
            sizes[trace->size_count++] = sizes[i];
    trace->sizes_milli = sizes;
    for (size_t i = 0; i < trace->job_count; i++) {
        int64_t size = job_gpu_milli(trace, &jobs[i]);
        const int64_t *at = bsearch(&size, sizes, trace->size_count, sizeof(*sizes), compare_amounts);
        jobs[i].size = (uint32_t)(at - sizes);
    }
}

void trace_index_jobs(struct trace *trace, struct trace_job *jobs, struct arena *arena)
{
    trace->jobs = jobs;
    struct trace_shape *shapes = arena_array(arena, trace->shape_count, sizeof(*shapes));
    for (size_t i = 0; i < trace->shape_count; i++) {
        shapes[i] = trace->shapes[i];
        shapes[i].pod_count = 0;
    }
    trace->shapes = shapes;
    number_sizes(trace, jobs, arena);
    uint32_t *arrivals = arena_array(arena, trace->job_count, sizeof(*arrivals));
    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &jobs[i];
        struct trace_project *project = &trace->projects[job->project];
        arrivals[i] = i;
        shapes[job->shape].pod_count += job->pod_count;
        project->job_count++;
        project->gpu_milli_ms += (__int128)job_gpu_milli(trace, job) * job->duration_ms;
    }
    qsort_r(arrivals, trace->job_count, sizeof(*arrivals), compare_arrivals, jobs);
    trace->arrivals = arrivals;
    trace->arrival_count = trace->job_count;
    trace->first_ms = jobs[arrivals[0]].submit_ms;
    trace->last_ms = jobs[arrivals[trace->job_count - 1]].submit_ms;
}

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// 0 to bound - 1, each equally likely.
static uint64_t draw_below(uint64_t *state, uint64_t bound)
{
    uint64_t rest = (UINT64_MAX % bound + 1) % bound;
    uint64_t value = next_random(state);
    while (value > UINT64_MAX - rest)
        value = next_random(state);
    return value % bound;
}

int trace_draw(const struct trace *from, int64_t percent, uint64_t seed, int64_t capacity_milli, struct arena *arena,
               struct trace *out_trace, struct error *err)
{
    const __int128 wanted = (__int128)capacity_milli * percent;
    __int128 asked = 0;
    struct trace_job *jobs = NULL;
    size_t capacity = 0, count = 0;
    if (from->sizes_milli[from->size_count - 1] == 0)
        return error_set(err, ERROR_INVALID, "--demand: no job of the trace asks for a GPU");
    for (; asked < wanted; count++) {
        const struct trace_job *job = &from->jobs[draw_below(&seed, from->job_count)];
        jobs = arena_grow(arena, jobs, &capacity, count + 1, sizeof(*jobs));
        jobs[count] = *job;
        jobs[count].id = arena_printf(arena, "%09zu-%s", count, job->id);
        jobs[count].pod_names = trace_name_pods(jobs[count].id, job->pod_count, arena);
        jobs[count].submit_ms = (int64_t)count * 1000;
        jobs[count].duration_ms = TRACE_FOREVER_MS;
        asked += (__int128)job_gpu_milli(from, job) * 100;
    }
    struct trace trace = *from;
    trace.job_count = count;
    trace.size_count = 0;
    trace.is_drawn = true;
    trace.projects = arena_array(arena, from->project_count, sizeof(*trace.projects));
    for (size_t i = 0; i < from->project_count; i++)
        trace.projects[i] =
            (struct trace_project){.name = from->projects[i].name, .department = from->projects[i].department};
    trace_index_jobs(&trace, jobs, arena);
    *out_trace = trace;
    return 0;
}

void trace_cut(struct trace *trace, int64_t until_ms)
{
    while (trace->arrival_count > 0 && trace->jobs[trace->arrivals[trace->arrival_count - 1]].submit_ms > until_ms)
        trace->arrival_count--;
    if (trace->arrival_count > 0)
        trace->last_ms = trace->jobs[trace->arrivals[trace->arrival_count - 1]].submit_ms;
}
