// Writes down in which order a pool's workloads are tried while a cycle tries them. Internal;
// ask/queue_question.h is the face.
#pragma once
#include "scheduler/order/queue_listing.h"
#include "scheduler/order/queue_walk.h"

// A workload when its turn came, with its queues as they stood then.
struct queue_log_entry {
    const struct workload *workload;
    bool has_promise; // tried first for it
    struct queue_key project_key;
    struct queue_key department_key;
    struct queue project; // copies: the keys point here
    struct queue department;
    int64_t gpu_milli;
    uint32_t pods;
};

struct queue_log {
    struct arena *scratch; // of the cycle
    struct arena *arena;   // of the answer
    uint32_t node_pool;
    struct queue_log_entry **entries;
    size_t count;
    size_t capacity;
    bool *is_listed; // by workload
};

// The workload's turn has come: from the walk, or for a promise (walk NULL). Only the first time counts.
void queue_log_note(struct queue_log *log, struct cycle *cycle, const struct pool *pool, struct walk *walk,
                    struct workload *workload);
struct queue_listing *queue_log_finish(struct queue_log *log);
