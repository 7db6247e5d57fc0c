// Who has what of a project that bounds each person, or is fair among them: docs/scheduler.md, 3.6 and 4.7.
#pragma once
#include "scheduler/state/cycle.h"

struct person {
    const struct snapshot_project *project;
    int64_t use_gpu_hours_milli; // in the past
    int64_t gpu_milli;           // held in all node pools
    uint32_t workload_count;     // of those that hold something
};

// Sets workload->person of the workloads that have one in a project that says something of people.
void people_find(struct cycle *cycle);
// Sets workload->turn, once it is known what is held: what the person has used, and an hour of what theirs that come
// before it hold or ask for, and of what it holds itself.
void people_take_turns(struct cycle *cycle);
