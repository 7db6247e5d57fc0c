// Nodes of a pool on which something may be placed.
#pragma once
#include "scheduler/state/cycle.h"

struct node_set {
    const uint32_t *nodes; // indices, in ascending order; NULL: see bits
    size_t count;
    const int64_t *scores; // by node index, in thousands (5.1: Topology); NULL: none
    const uint64_t *bits;  // the same nodes as bits by position in the pool; NULL: not known
};

static inline struct node_set pool_nodes(const struct pool *pool)
{
    return (struct node_set){.nodes = pool->node_indices, .count = pool->node_count};
}
