// How the fair shares of a node pool came about: the division as a tree of terms whose leaves are inputs.
//
// The terms are written down by the division itself while it runs (fair_share.h), in a cycle planned for the purpose,
// so that they are those of the plan. A node's terms give its fair share exactly; the children of a node divide its.
#pragma once
#include "scheduler/snapshot.h"
#include "scheduler/state/fair_share.h"

enum share_node_kind {
    SHARE_NODE_POOL,
    SHARE_NODE_DEPARTMENT,
    SHARE_NODE_PROJECT
};

const char *share_node_kind_name(enum share_node_kind kind); // "pool", "department", "project"

struct share_node {
    enum share_node_kind kind;
    uint32_t index; // of the node pool, department or project; SNAPSHOT_NONE: all projects, with departments off
    const char *name;
    int64_t fair_share; // of the pool: what there is
    int64_t deserved;   // inputs; of the pool only requested and allocated mean something
    int64_t limit;
    int64_t requested;
    int64_t allocated; // when the division was made
    int64_t rank;
    int64_t weight_milli;
    int64_t usage_micro;
    int64_t created_ms;             // decides between equal remainders
    const struct share_term *terms; // their given sum to fair_share; none of the pool
    size_t term_count;
    const struct share_node *children; // in the order of names
    size_t child_count;
};

struct share_tree {
    uint32_t node_pool;
    enum resource resource;
    int64_t total;
    int64_t unit;
    int64_t k_micro;
    struct share_node root;
};
