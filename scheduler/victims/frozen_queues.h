// What queues held before anything was simulated: what is lawful is measured by it.
#pragma once
#include "scheduler/state/cycle.h"

// What queues held before anything was simulated.
struct frozen_queues {
    struct amounts *projects;
    struct amounts *departments;
};

static inline struct amounts frozen_queues_of(const struct frozen_queues *frozen, const struct queue *queue)
{
    return queue->kind == QUEUE_KIND_PROJECT ? frozen->projects[queue->index] : frozen->departments[queue->index];
}

struct frozen_queues frozen_queues_make(struct cycle *cycle);
void frozen_queues_take(const struct cycle *cycle, const struct pool *pool, struct frozen_queues *frozen);
