// A project or department in a pool: what it has, what it may have, and what stops it.
#pragma once
#include "scheduler/state/cycle.h"

// Adds to (sign 1) or takes from (sign -1) what the queue and those above it have.
void queue_charge(struct queue *queue, struct amounts amounts, bool preemptible, int sign);

// The part of the pool that the queue may hold without being reclaimed from: QUANTITY_UNLIMITED where unbounded.
int64_t queue_allocatable_share(const struct queue *queue, enum resource resource);

// The pair of queues in which the two projects' ways from the root first differ.
void queue_find_sides(struct queue *reclaimer, struct queue *victim, struct queue **out_reclaimer,
                      struct queue **out_victim);
// Whether this much is more than its allocatable share, or than it deserves, in some resource.
bool queue_exceeds_share(const struct queue *queue, struct amounts held);
bool queue_exceeds_deserved(const struct queue *queue, struct amounts held);

enum queue_bound {
    QUEUE_BOUND_LIMIT,
    QUEUE_BOUND_QUOTA,            // of non-preemptible work
    QUEUE_BOUND_PERSON_GPUS,      // what each person may hold of the project
    QUEUE_BOUND_PERSON_WORKLOADS, // how many workloads of each may hold something
    QUEUE_BOUND_BUDGET,           // the quota, for a budget of GPU hours is used up
};

struct queue_refusal {
    const struct queue *queue; // whose bound it is; NULL: nothing is in the way
    enum queue_bound bound;
    enum resource resource;
    int64_t requested;
};

// Whether the workload may have so much more: limits of its project and department, for a non-preemptible one the
// deserved quota, what its submitter may have of the project, and its budget. docs/scheduler.md, 4.2, 4.7 and 4.8.
struct queue_refusal queue_check_capacity(const struct pool *pool, const struct workload *workload,
                                          struct amounts requested);
// The quota alone, of the queue and those above it.
struct queue_refusal queue_check_quota(const struct queue *queue, struct amounts requested);
// The submitter's bounds alone.
struct queue_refusal queue_check_person(const struct pool *pool, const struct workload *workload,
                                        struct amounts requested);

// The budget alone.
struct queue_refusal queue_check_budget(const struct pool *pool, const struct workload *workload,
                                        struct amounts requested);

// Fair shares of all queues of a pool.
void queue_divide_fair_shares(struct cycle *cycle, struct pool *pool);

// What pods and queues ask for is added up to this and no more: a submission may ask for more than 64 bits count. It is
// above every limit, and together with all that 65,536 nodes of the largest size have it stays within 64 bits.
#define AMOUNT_MOST_ASKED ((INT64_C(1) << 62) - 1)

static inline struct amounts amounts_add(struct amounts a, struct amounts b)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        a.of[r] += b.of[r];
    return a;
}

// The same of what is asked for.
static inline struct amounts amounts_add_asked(struct amounts a, struct amounts b)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        int64_t sum = a.of[r] + b.of[r];
        a.of[r] = sum < AMOUNT_MOST_ASKED ? sum : AMOUNT_MOST_ASKED;
    }
    return a;
}

static inline struct amounts amounts_subtract(struct amounts a, struct amounts b)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        a.of[r] -= b.of[r];
    return a;
}

// a <= b in every resource; QUANTITY_UNLIMITED is above everything else.
static inline bool amounts_are_within(struct amounts a, struct amounts b)
{
    return a.of[0] <= b.of[0] && a.of[1] <= b.of[1] && a.of[2] <= b.of[2];
}
