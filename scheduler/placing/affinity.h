// Required affinity: the pods of a workload that holds nothing yet stand together in one value of a node label. Which
// value: docs/scheduler.md, 5.2.
#pragma once
#include "scheduler/placing/placement.h"

struct affinity_domains {
    struct node **nodes; // those of a domain side by side
    size_t *first;       // by domain: its first of them
    uint32_t *order;     // domains: where the first pod stands best, first
    size_t count;
};

// Whether the workload's unit has to be placed in one domain, and which one is open.
bool affinity_is_open(const struct workload *workload);
// The domains of the set's nodes that have a place for the first pod of the unit.
struct affinity_domains affinity_find(struct cycle *cycle, const struct pool *pool, const struct pod *first,
                                      const struct node_set *set, struct arena *arena);
// The nodes of the i-th domain in order.
struct node_set affinity_nodes(const struct affinity_domains *domains, size_t i, struct arena *arena);
