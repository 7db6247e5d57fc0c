// What is measured while a trace is replayed: sums over time, exact, of what was allocated, useless and waited for.
//
// The window is the time from the first arrival to the last one (or to --until): outside it a cluster fills or
// empties, which says nothing of a policy. Where all jobs arrive at once it ends with the horizon. The horizon is where
// time series end: when the trace would be over if no job waited, at most a quarter of the window behind it.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct trace;

enum {
    MEASURE_SERIES_POINTS = 400 // about so many intervals make a time series
};

// Sums over an interval: of amounts, times milliseconds.
struct measure_sums {
    int64_t time_ms;
    __int128 allocated;  // thousandths of a GPU
    __int128 fragmented; // free and expected to be of no use, thousandths (devices.h)
    __int128 stranded;   // free while a job that a cycle has looked at waits that asks for no more, thousandths
    __int128 waiting;    // jobs
    __int128 waiting_gpu_milli;
    uint64_t evictions;
    uint64_t starts;
};

struct measure {
    int64_t capacity_milli;
    int64_t from_ms, until_ms; // the window
    int64_t horizon_ms;        // the end of the series
    int64_t interval_ms;
    size_t interval_count;
    size_t project_count;
    int64_t now_ms;
    // As it is now.
    int64_t allocated_milli;
    int64_t fragmented_milli;
    int64_t *project_milli;
    uint64_t waiting_jobs;
    int64_t waiting_milli;
    const int64_t *sizes_milli;
    uint32_t *refused_by_size;
    size_t size_count;
    // Sums.
    struct measure_sums window;
    __int128 lost; // thousandths of a GPU times ms that were thrown away, of the window
    __int128 *project_window;
    struct measure_sums *intervals;
    __int128 *project_intervals; // [interval * project_count + project]: allocated
};

void measure_init(struct measure *measure, const struct trace *trace, int64_t capacity_milli, int64_t until_ms,
                  struct arena *arena);
// Time passes with everything as it is now.
void measure_advance(struct measure *measure, int64_t to_ms);
// The interval that holds this time, NULL behind the horizon.
struct measure_sums *measure_interval(struct measure *measure, int64_t time_ms);
// So many jobs of this size more, or fewer, wait.
void measure_wait(struct measure *measure, uint32_t size, int change);
// Of those: that a cycle has looked at, and so not only wait for it.
void measure_refuse(struct measure *measure, uint32_t size, int change);
// Work that was done since from_ms is thrown away now.
void measure_lose(struct measure *measure, int64_t gpu_milli, int64_t from_ms);
// sums / (capacity * time) in millionths; 0 where no time has passed.
int64_t measure_share_micro(const struct measure *measure, __int128 sum, int64_t time_ms);
