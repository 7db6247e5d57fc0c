// What can be said about a search for victims before it is made: sums over the pool, kept while nothing is decided.
//
// A search whose end is certain is not made. What is used for that is proven not to change the plan: GPUs are
// conserved, so whoever places so many has freed so many, and only what may be lost lawfully is freed for good.
// tests/scheduler/plain_search_test.c holds the plans against those of the plain search. docs/scheduler.md, 6.2.
#pragma once
#include "scheduler/victims/fast/holders.h"
#include "scheduler/victims/fast/loss_bounds.h"
#include "scheduler/victims/fast/project_units.h"
#include "scheduler/victims/frozen_queues.h"

struct search_bound {      // of one project
    uint32_t victim_count; // preemptible workloads that hold something
    int64_t lowest_priority;
    struct loss loss; // of all of them
};

struct search_bounds {
    const struct cycle *cycle;
    const struct pool *pool;
    size_t decision_count;
    uint32_t opened_count;
    int64_t free_gpu_milli;  // idle and releasing GPUs of open nodes, parts of shared devices included
    int64_t most_free_milli; // the same without nodes that hold more than they have
    int64_t free_devices;    // whole ones, the same
    __int128 free_gpu_mib;   // the same in thousandths of a MiB of device memory
    bool is_transitive;      // the order of queues: see serving_order.h
    struct search_bound *projects;
    struct holders holders;
    struct project_units units;
    struct loss_bounds losses;   // of who is looked at
    size_t *positions;           // by workload, zero between uses
    struct frozen_queues frozen; // what queues hold
};

// As things stand; no statement may be open.
const struct search_bounds *search_bounds_of(struct cycle *cycle, const struct pool *pool);

// The least that the pending pods take from victims for good; 0 or less: perhaps nothing. INT64_MIN where amounts of
// memory make sums inexact.
int64_t search_bounds_must_free(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                uint32_t pending_count);

// The same in whole devices, where all pending pods ask for such: so many are given up by pods with whole devices, less
// one for each shared device that victims leave. INT64_MIN where some ask for something else.
int64_t search_bounds_must_free_devices(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                        uint32_t pending_count);

// Whether a search for `other` ends as the one just made for `one` did: the same request behind it in the same project,
// both holding nothing.
bool search_bounds_are_alike(const struct cycle *cycle, const struct workload *one, const struct workload *other);
