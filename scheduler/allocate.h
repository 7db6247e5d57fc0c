// Allocation: places the next unit of a workload, all of it or nothing, and the action that does so for everyone
// waiting. docs/scheduler.md, 4.
#pragma once
#include "scheduler/cycle.h"
#include "scheduler/placement.h"
#include "scheduler/queue.h"

// How far an attempt came: what an explanation is made of.
struct attempt {
    struct queue_refusal refusal; // the queue in the way, where queue is set
    uint32_t placed;              // pods, with required affinity in the domain that took most
    uint32_t needed;
    const struct pod *failed;     // the pod that no node took; NULL
    uint32_t group;               // the leaf or set that failed
    const char *topology_problem; // no domain for the group; NULL
    bool wants_nodes;             // in: count why nodes refuse the failed pod
    const uint32_t *node_counts;  // by node_refusal
};

// Tries the workload's next unit on the nodes through the open statement; what a failed try did is rolled back. False
// also where there is nothing to place. attempt may be NULL; else blank but for what it wants.
bool allocate_workload(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                       const struct node_set *set, bool promise_only, struct attempt *attempt);

// The workloads that the pool's actions may place in this round: pending pods, ready, not being deleted, nothing lost.
size_t allocate_candidates(const struct pool *pool, struct workload **out_workloads);

// Whether it may be placed at all in this cycle.
bool allocate_is_candidate(const struct workload *workload);
// A gang that has to wait for one of the places that the open statement gave it waits as a whole.
void allocate_settle(struct cycle *cycle, const struct workload *workload);
// Settles and keeps what the open statement placed of the workload.
void allocate_commit(struct cycle *cycle, struct pool *pool, struct workload *workload);
// The action.
void allocate_run(struct cycle *cycle, struct pool *pool);
