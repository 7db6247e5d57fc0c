// The units of each project in the order of giving way, kept from search to search.
//
// Inside a project the order depends on the workloads alone, not on what the queue holds, and each workload's units
// have their places in it whatever the others do. After a decision only the units of the workloads that it touched are
// taken out and put back in their new places. docs/scheduler.md, 6.5.
#pragma once
#include "scheduler/victims/fast/holders.h"

struct popped_unit {
    struct workload *workload;
    const uint32_t *pods;
    const uint32_t *nodes; // that they stand on
    uint32_t count;
    struct amounts amounts;
    int64_t devices; // whole or in part, of its pods; of a gang taken in parts those of all that may go with it
    bool is_spread;  // its workload's pods stand on several nodes
};

struct project_unit {
    struct popped_unit popped;
    struct amounts head;   // what was left of the workload before it went
    struct amounts before; // all that went before it
    int state;             // of the workload before it went: see workload_order.h
};

struct project_unit_list {
    struct project_unit *units;
    size_t count;
    size_t capacity;
    uint32_t *pods; // of all units
    size_t pod_count;
    size_t pod_capacity;
    uint32_t *nodes; // that the pods stand on
    size_t node_capacity;
    bool is_whole; // nobody comes behind them
};

struct project_units {
    const struct holders *holders;
    struct project_unit_list *projects;
    struct workload **left; // room for all workloads twice
    struct workload **begun;
};

struct project_units project_units_make(struct cycle *cycle, const struct holders *holders);
// Drops the cache.
void project_units_forget(struct project_units *units, const struct cycle *cycle);
// A decision touched the workload: holders has followed it.
void project_units_touch(struct project_units *units, struct cycle *cycle, struct workload *workload);
// The project's unit at the position, at most one behind those known; NULL: nobody is left.
const struct project_unit *project_units_at(struct project_units *units, struct cycle *cycle, uint32_t project,
                                            size_t position);

// Takes the workload's next unit; pods and nodes have room for all that is left of it.
struct popped_unit project_units_take(struct cycle *cycle, struct workload *workload, uint32_t *pods, uint32_t *nodes);
