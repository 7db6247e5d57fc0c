// One run of a trace under one policy, and what came of it.
//
// Event by event: at each time at which jobs end or arrive, all of them together, first those that end; then a cycle of
// the scheduler, where any job waits. What it evicted or promised is followed by another cycle at the same time, until
// nothing more is promised. A cycle also takes place when the plan before says that its decisions may change with the
// clock alone (a protection that ends).
#pragma once
#include "replay/measure.h"
#include "scheduler/snapshot.h"

#include <stdio.h>

struct arena;
struct error;
struct nodes;
struct policy;
struct quota_file;
struct trace;

#define RUN_TIME_NONE INT64_C(-1)

enum {
    RUN_REPEATS_MAXIMUM = 24 // cycles at one time; a cluster that stands still has come to rest by then
};

struct run_job {
    int64_t first_start_ms; // RUN_TIME_NONE: never
    int64_t started_ms;     // RUN_TIME_NONE: does not run
    int64_t ended_ms;       // RUN_TIME_NONE: it waits or runs when the replay ends
    int64_t done_ms;        // of its duration, that need not be done again
    int64_t lost_ms;        // run time that evictions threw away
    uint32_t starts;
    uint32_t evictions;
};

struct run_project {
    int64_t deserved_milli; // SNAPSHOT quota; QUANTITY_UNLIMITED
    uint64_t evicted;       // its jobs that were evicted, each time
    uint64_t caused;        // evictions for its jobs
    __int128 lost;          // thousandths of a GPU times ms
};

struct run {
    const struct policy *policy;
    const struct trace *trace;
    struct measure measure;
    struct run_job *jobs;         // as the trace's
    struct run_project *projects; // as the trace's
    uint64_t cycles;
    uint64_t decisions;
    uint64_t evictions[ACTION_COUNT]; // jobs, each time
    uint64_t moves;                   // of these: that got another place in the same cycle
    uint64_t unrested;                // times at which RUN_REPEATS_MAXIMUM cycles were not enough
    uint64_t search_cuts;
    int64_t end_ms;              // of the last event
    int64_t end_allocated_milli; // as the replay ended
    int64_t end_fragmented_milli;
    uint64_t events_done, events_total; // for the progress bar
};

struct run_options {
    int64_t until_ms;                                       // INT64_MAX: to the end
    FILE *decisions;                                        // NULL: not written
    void (*progress)(void *context, const struct run *run); // called at each time of an event; NULL: not
    void *progress_context;
};

// The result is arena's and refers to the policy and the trace.
int run_policy(const struct trace *trace, const struct nodes *nodes, const struct policy *policy,
               const struct quota_file *quotas, const struct run_options *options, struct arena *arena,
               struct run *out_run, struct error *err);
