// A trace: jobs as they were submitted to some cluster. Columns as docs/replay.md lists them.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct error;

#define TRACE_SECONDS_MAXIMUM INT64_C(10000000000)
#define TRACE_FOREVER_MS (TRACE_SECONDS_MAXIMUM * 100000) // the duration of what does not end

enum {
    TRACE_PODS_MAXIMUM = 10000
};

// What one pod asks for. Jobs whose pods ask for the same share one.
struct trace_shape {
    uint32_t gpu_devices;
    int64_t gpu_portion_milli; // of each device; 0: whole devices
    int64_t cpu_milli;
    int64_t memory_mib;
    const char *gpu_models;    // as in the file; "" any
    const char *const *models; // the same as a list
    size_t model_count;
    const struct snapshot_placement_rules *rules; // NULL: any model
    int64_t gpu_milli;                            // of the pod
    uint64_t pod_count;                           // how many pods of the trace
};

struct trace_job {
    const char *id;
    const char *const *pod_names; // NULL: one pod, called as the job
    uint32_t project;             // index into the trace's projects
    uint32_t shape;               // index into its shapes
    uint32_t pod_count;
    uint32_t size; // index into its sizes: the GPUs of all pods
    int64_t submit_ms;
    int64_t duration_ms;
    int64_t priority;
    bool preemptible;
};

struct trace_project {
    const char *name;
    uint32_t department;
    uint64_t job_count;
    __int128 gpu_milli_ms; // what its jobs ask for, times their durations
};

struct trace {
    const char *name;             // of the file
    const struct trace_job *jobs; // in the byte order of their ids
    size_t job_count;
    const uint32_t *arrivals; // indices of jobs, by time, then id
    size_t arrival_count;     // less than job_count where the trace was cut
    const struct trace_shape *shapes;
    size_t shape_count;
    const int64_t *sizes_milli; // the GPUs that jobs ask for, ascending, each once
    size_t size_count;
    struct trace_project *projects; // by name
    size_t project_count;
    const char *const *departments; // by name
    size_t department_count;
    int64_t first_ms; // of the first arrival
    int64_t last_ms;  // of the last one
    bool is_drawn;
};

// ID-000, ID-001, ...: as wide as the last one, so that their byte order is their order. NULL for one pod.
const char *const *trace_name_pods(const char *id, uint32_t count, struct arena *arena);
// What follows from the jobs, which stand in the order of their ids: arrivals, sizes, sums.
void trace_index_jobs(struct trace *trace, struct trace_job *jobs, struct arena *arena);
// Jobs drawn from another trace in random order, each any number of times, until they ask for `percent` of
// capacity_milli GPUs. They arrive a second apart, in the order drawn, and nothing ends. The same seed draws the same.
int trace_draw(const struct trace *from, int64_t percent, uint64_t seed, int64_t capacity_milli, struct arena *arena,
               struct trace *out_trace, struct error *err);
// What is left of a trace whose jobs after until_ms never come.
void trace_cut(struct trace *trace, int64_t until_ms);
