// Who has what of a project that bounds each person: docs/scheduler.md, 4.7.
#pragma once
#include "scheduler/state/cycle.h"

struct person {
    const struct snapshot_project *project;
    int64_t gpu_milli;       // held in all node pools
    uint32_t workload_count; // of those that hold something
};

// Sets workload->person of the workloads that have one in a project with such bounds.
void people_find(struct cycle *cycle);
