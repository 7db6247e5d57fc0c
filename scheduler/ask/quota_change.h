// What a change of quotas, ranks, weights or limits leads to: who holds more in the end, who holds less, who gives way.
//
// Cycles run in memory over two snapshots that differ in their queues alone: as they are, and with the change. Each
// goes on until it is at rest: a cycle has changed no pod and no promise. What happens without the change too is not
// blamed on it. Time stands still and the cluster obeys at once. docs/scheduler.md, 11.7.
#pragma once
#include "scheduler/plan.h"
struct arena;
struct error;
struct quota_question;

enum {
    QUOTA_CYCLES_MAXIMUM = 50 // of each side
};

enum quota_outcome {
    QUOTA_STARTS,        // pods hold a place that would wait without the change
    QUOTA_KEEPS,         // pods hold a place that would give way without the change
    QUOTA_GIVES_WAY,     // pods lose a place that they would keep without the change
    QUOTA_STAYS_PENDING, // pods wait that would start without the change
    QUOTA_RESTARTS,      // pods lose a place by the change and hold another in the end
    QUOTA_OUTCOME_COUNT
};

const char *quota_outcome_name(enum quota_outcome outcome); // "Starts", "Keeps", "GivesWay", "StaysPending", "Restarts"

struct quota_workload {
    uint32_t workload;
    enum quota_outcome outcome;
    uint32_t node_pool;
    int64_t gpu_milli; // that it holds more or less; of a restart, that it holds again
    uint32_t pods;
    // Where pods are evicted: how, for whom (SNAPSHOT_NONE: for nobody), and the longest run time that is lost.
    bool is_evicted;
    enum scheduler_action action;
    uint32_t beneficiary;
    int64_t lost_ms;
};

// A project or department in a pool whose quota, limit, fair share or holdings differ.
struct quota_queue {
    enum queue_kind kind;
    uint32_t queue;
    uint32_t node_pool;
    struct plan_queue before; // without the change, at rest
    struct plan_queue after;
};

// More GPUs are promised than there are, and the change makes it worse.
struct quota_excess {
    uint32_t node_pool;
    uint32_t department;     // whose quota its projects' quotas exceed; SNAPSHOT_NONE: the GPUs of the pool
    enum queue_kind kind;    // of those whose quotas are summed
    int64_t promised_milli;  // QUANTITY_UNLIMITED
    int64_t available_milli; // the department's quota, or the pool's GPUs
};

struct quota_answer {
    const char *sentence;
    const struct quota_workload *workloads; // by name
    size_t workload_count;
    const struct quota_queue *queues; // departments, then projects, each by name and pool
    size_t queue_count;
    const struct quota_excess *excesses; // by pool
    size_t excess_count;
    bool is_at_rest;        // both sides are
    uint32_t cycles;        // with the change, the one included that found nothing to do
    int64_t good_until_ms;  // from then on a rule's time may change things; INT64_MAX
    uint32_t plan_count;    // cycles of both sides
    int64_t gained_milli;   // by projects that hold more
    int64_t lost_milli;     // by projects that hold less
    uint32_t gaining_count; // projects
    uint32_t losing_count;
    uint32_t counts[QUOTA_OUTCOME_COUNT]; // workloads
};

// Both snapshots stay the caller's; they have the same owners, pools, nodes, workloads and pods. plan: of the one
// without the change, where the caller has it; NULL: it is planned.
void quota_question_open(const struct snapshot *without, const struct snapshot *with, const struct plan *plan,
                         struct quota_question **out);
void quota_question_close(struct quota_question *question); // NULL is fine
// One more cycle of each side that is not at rest and has one left. *out_is_over: neither has.
int quota_question_step(struct quota_question *question, bool *out_is_over, struct error *err);
// As far as it has come, after one step at least. The answer is the arena's.
void quota_question_answer(const struct quota_question *question, struct arena *arena, struct quota_answer *out_answer);
