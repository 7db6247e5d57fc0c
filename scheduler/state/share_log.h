// Writes the division of one pool's resource down while a cycle makes it. Internal; ask/share_question.h is the face.
#pragma once
#include "scheduler/state/cycle.h"
#include "scheduler/state/share_tree.h"

struct share_term_list {
    struct share_term *items;
    size_t count;
    size_t capacity;
};

struct share_log {
    struct share_recorder recorder; // first: the recorder of fair_share.h is cast back to this
    struct arena *arena;
    uint32_t node_pool;
    enum resource resource;
    struct queue *const *level; // being divided
    struct share_term_list *departments;
    struct share_term_list *projects;
    struct share_tree *tree; // of the last division
};

// Writes down the divisions of one pool's resource; the tree is the arena's.
struct share_log share_log_make(struct arena *arena, uint32_t node_pool, enum resource resource);
// A division of the pool begins: what was written down of an earlier one is forgotten.
void share_log_begin(struct share_log *log, const struct cycle *cycle, const struct pool *pool);
// The recorder for a level of it in the resource; NULL where nobody asks about it.
struct share_recorder *share_log_level(struct share_log *log, const struct pool *pool, enum resource resource,
                                       struct queue *const *level);
// The division is made: its tree.
void share_log_end(struct share_log *log, const struct cycle *cycle, const struct pool *pool);
