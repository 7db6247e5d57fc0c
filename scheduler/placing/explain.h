// Why a workload waits, and why a decision was taken: sentences with numbers, made when it happens.
// docs/scheduler.md, 11.
#pragma once
#include "scheduler/placing/placement.h"
#include "scheduler/state/cycle.h"
#include "scheduler/state/statement.h"

struct explanation_list {
    struct plan_explanation *items;
    size_t count;
    size_t capacity;
};

// Non-preemptible work that does not fit the queue's quota.
const char *explain_quota(struct arena *arena, const struct pool *pool, const struct queue *queue,
                          enum resource resource, int64_t requested);

// What could be taken but for minimum run times: "What others hold over their share in default is protected ...".
const char *explain_protection(struct arena *arena, const char *what, const char *pool, int64_t first_end_ms);

// What an attempt to place it came to; replaces what was said about the workload in this pool.
void explain_refused(struct cycle *cycle, struct pool *pool, struct workload *workload, const struct attempt *attempt);
// Not enough pods exist, or they are gated.
void explain_not_ready(struct cycle *cycle, const struct pool *pool, struct workload *workload);
// Adds what an action says, message and numbers by the caller; once per code and pool.
void explain_add(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                 struct plan_explanation explanation);
// A blank explanation of the workload's case in the pool, with the numbers of the queue (NULL: none).
struct plan_explanation explain_blank(const struct pool *pool, enum explanation_code code, const struct queue *queue,
                                      enum resource resource);

// Reasons of plain placements.
struct statement_reasons explain_allocation(void);
const char *explain_placement(const struct cycle *cycle, const struct pod *pod, bool promised, void *context);
