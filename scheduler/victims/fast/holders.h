// Who holds preemptible pods in a pool, project by project in the order of giving way: kept up to date from decision to
// decision instead of being found and sorted for every search.
#pragma once
#include "scheduler/state/cycle.h"

struct holders {
    const struct pool *pool;
    struct workload **workloads; // also such as may come to hold something, and such as hold nothing any more
    size_t *first;               // by project
    size_t *count;
    bool *is_listed; // by workload
    bool *is_dirty;  // by project, false between uses
    bool *is_moved;  // by workload, the same
    struct workload **moved;
};

struct holders holders_make(struct cycle *cycle);
// As things stand when the pool was just opened.
void holders_fill(struct holders *holders, const struct cycle *cycle, const struct pool *pool);
// Applies the decisions from the given one on; calls changed once per project that they touch.
void holders_follow(struct holders *holders, const struct cycle *cycle, size_t decision,
                    void (*changed)(void *context, uint32_t project), void *context);

static inline bool holders_has(const struct holders *holders, const struct workload *workload)
{
    return workload->counts.held > 0 && workload->home == holders->pool->index;
}
