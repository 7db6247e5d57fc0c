// The cluster as it goes on from a snapshot, cycle by cycle, in memory. Internal; quota_change.h is the face.
#pragma once
#include "scheduler/simulation.h"

// What cycles did with a pod.
struct quota_fate {
    int64_t gpu_milli;  // what its latest decision counted
    bool is_evicted;    // from the place that it held at first
    uint32_t node_pool; // of its latest decision
    uint32_t beneficiary;
    enum scheduler_action action;
    int64_t lost_ms;
};

struct quota_future {
    const struct snapshot *start;
    struct simulation simulation;
    struct arena scratch;        // of a plan
    struct arena arena;          // of the rest
    struct quota_fate *fates;    // by pod
    struct plan_queue *projects; // as of the latest cycle, as in struct plan
    struct plan_queue *departments;
    int64_t good_until_ms;
    uint32_t cycles;
    bool is_at_rest;
};

void quota_future_init(struct quota_future *future, const struct snapshot *start);
void quota_future_done(struct quota_future *future);
// A plan of the start that somebody has made: where it does nothing and nothing stops, the start is at rest.
void quota_future_look(struct quota_future *future, const struct plan *plan);
int quota_future_step(struct quota_future *future, struct error *err);
