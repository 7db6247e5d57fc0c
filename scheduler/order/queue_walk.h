// The walk over a pool's departments, projects and workloads: who is served next, or who gives way next.
//
// From the departments the best, of its projects the best, of its workloads the best; all are looked at again at every
// step, because decisions change what queues hold. docs/scheduler.md, 3.1 and 6.5.
#pragma once
#include "scheduler/order/queue_order.h"
#include "scheduler/state/cycle.h"

enum walk_direction {
    WALK_SERVE, // who is served next
    WALK_YIELD  // who gives way next: every order the other way round
};

struct walk_leaf {
    struct queue *queue;
    struct workload **workloads; // in order
    size_t count;
    size_t next; // the first one left
    struct amounts popped;
    bool key_is_known;
    uint64_t key_version;
    struct queue_key key;
    struct amounts head; // what the next workload asks for, or what is left of it
};

struct walk_level { // a department
    struct queue *queue;
    uint32_t *leaves; // by name
    size_t leaf_count;
    size_t left; // leaves with workloads
    struct amounts popped;
    bool best_is_known;
    uint64_t best_version;
    uint32_t best;
    struct queue_key key;
};

struct walk {
    struct cycle *cycle;
    const struct pool *pool;
    enum walk_direction direction;
    struct walk_leaf *leaves;
    size_t leaf_count;
    struct walk_level *departments; // only those with workloads, by name
    size_t department_count;
    size_t most_leaves;
    size_t looked_at; // queues so far
    struct arena *arena;
};

// A walk over the workloads (of this pool), given in the order of names; the first depth of each project.
// The walk's memory is arena's.
void walk_open(struct walk *walk, struct cycle *cycle, const struct pool *pool, enum walk_direction direction,
               struct workload *const *workloads, size_t count, uint32_t depth, struct arena *arena);
// The same leaf by leaf: projects in the order of names, each with its workloads in order, which stay the caller's;
// none may be pushed back. most_leaves: room for so many.
void walk_start(struct walk *walk, struct cycle *cycle, const struct pool *pool, enum walk_direction direction,
                size_t most_leaves, struct arena *arena);
void walk_add_leaf(struct walk *walk, uint32_t project, struct workload **workloads, size_t count);
// The leaf's key as things stand.
void walk_find_key(struct walk *walk, struct walk_leaf *leaf);
// The next workload; NULL at the end.
struct workload *walk_next(struct walk *walk);
// The workload that was popped last goes back to its place among those left.
void walk_push_back(struct walk *walk, struct workload *workload);
// WALK_YIELD: amounts were popped from the workload's queue.
void walk_count_popped(struct walk *walk, const struct workload *workload, struct amounts amounts);
// WALK_SERVE: what decided for the workload that walk_next gave last; before anything is placed.
void walk_last_keys(struct walk *walk, const struct workload *workload, struct queue_key *out_project,
                    struct queue_key *out_department);
