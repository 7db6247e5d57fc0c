// The order in which the workloads that wait for a node pool are tried in the next cycle, and why in this order.
//
// Written down while a cycle planned for the purpose goes through them, so that it is the order of the plan: who is
// placed changes who comes next.
#pragma once
#include "scheduler/snapshot.h"

struct queue_listing_entry {
    uint32_t workload;
    int64_t gpu_milli; // of the unit that is tried: a gang, or a pod of an elastic workload
    uint32_t pods;     // of the unit
    int64_t waiting_since_ms;
    const char *rule;     // that puts it before the next one; static text; NULL: the last
    const char *sentence; // the same with both sides' numbers; names no workload; NULL: the last
};

struct queue_listing {
    uint32_t node_pool;
    const struct queue_listing_entry *entries;
    size_t count;
};
