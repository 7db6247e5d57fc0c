// Who is served in the simulation of a scenario, in the order of all who wait: the one that waits and the victims.
//
// The others are not placed; they only stand in the order, and most of them make no difference to it. Where the order
// of the queues is transitive (the shares of siblings can all be compared), what has nobody to serve in it is left out:
// departments, and, where all to be served are of one department, projects and the rest of a project behind the last of
// them. Transitive means that leaving out one never swaps two others.
#pragma once
#include "scheduler/order/queue_walk.h"

struct served_key {
    const struct workload *head; // NULL: none yet
    struct amounts allocated;
    struct amounts amounts; // what the head asks for
    struct queue_key key;
};

// Those that allocate would consider, project by project in order, while nothing is decided.
struct serving_order {
    struct workload **waiting;
    size_t *first;           // by project, and one more
    struct served_key *keys; // by project: of its first waiting workload, while the project holds the same
};

struct serving_order serving_order_make(struct cycle *cycle, size_t most_waiting);
void serving_order_sort(struct serving_order *serving, const struct cycle *cycle, struct workload *const *waiting,
                        size_t count);

// Opens the walk for those to be served, who have the cycle's stamp and are put in order. Memory is arena's.
void serving_order_open(const struct serving_order *serving, struct walk *walk, struct cycle *cycle,
                        const struct pool *pool, struct workload **served, size_t count, struct arena *arena);

// Whether the order of the pool's queues is transitive.
bool serving_order_is_transitive(struct cycle *cycle, const struct pool *pool);
