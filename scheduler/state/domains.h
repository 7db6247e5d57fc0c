// The domains of a topology: its nodes as a tree by label values, from one root down to the lowest level.
#pragma once
#include "scheduler/state/cycle.h"

struct domain {
    const char *id;  // label values from the top, joined by dots; "" for the root
    int level;       // -1 for the root
    uint32_t parent; // SNAPSHOT_NONE for the root
};

struct domain_tree {
    const struct snapshot_topology *spec;
    struct domain *domains; // the root first, parents before children
    uint32_t count;
    uint32_t *lowest; // by node: its domain at the lowest level; SNAPSHOT_NONE where it lacks a label
};

// Built at the first use in a cycle.
const struct domain_tree *domain_tree_of(struct cycle *cycle, uint32_t topology);
// Why the network that the pool's gangs get by themselves doesn't count: a sentence, made once in a cycle; NULL.
const char *domains_pool_off(struct cycle *cycle, struct pool *pool);
// The domain of that level above (or at) a domain.
uint32_t domain_at_level(const struct domain_tree *tree, uint32_t domain, int level);
// Whether the unit's pods, which have been placed, stand where the required levels of their groups let them: with those
// of the group that stood before, else together.
bool domains_hold_unit(struct cycle *cycle, const struct workload *workload);
