// Topology: which sets of nodes a workload or sub-group that wants to stand close together is tried on, and in what
// order. docs/scheduler.md, 5.8.
#pragma once
#include "scheduler/placing/placement.h"
#include "scheduler/state/cycle.h"

struct topology_sets {
    const struct node_set *sets; // tried in order
    size_t count;
    const char *problem; // why there are none
};

// The sets for the unit's pods below a group with a constraint, inside the set given by its parent.
struct topology_sets topology_find_sets(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                        uint32_t group, const struct node_set *set);
