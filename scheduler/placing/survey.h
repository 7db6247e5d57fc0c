// Why the nodes of a pool refuse a pod, and what those that come closest lack. docs/scheduler.md, 11.2.
//
// A node is the closer the fewer amounts it would lack if it were empty, then if it has the GPUs, then the fewer it
// lacks now.
#pragma once
#include "scheduler/state/cycle.h"
#include "scheduler/state/rules.h"

struct node_survey {
    uint32_t refusals[NODE_REFUSAL_COUNT]; // all nodes, each by the first reason
    uint32_t closest[NODE_REFUSAL_COUNT];  // the closest nodes, each by every amount that it lacks
    int64_t most[DIMENSION_COUNT];         // on one of the closest: free, or in all where is_beyond_nodes
    uint32_t extended;                     // of the pod's, the first that they lack; SNAPSHOT_NONE
    int64_t most_extended;                 // on one of them, as in most
    bool is_beyond_nodes;                  // no node, ready or not, could take the pod if it were empty
};

// In the state of now. The result lives in the cycle's arena; equal questions share one.
const struct node_survey *survey_nodes(struct cycle *cycle, const struct pool *pool, const struct pod *pod);
