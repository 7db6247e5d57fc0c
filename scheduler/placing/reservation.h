// A reservation, where a node pool asks for it: the room that the largest waiting gang would start in is kept for it,
// so that smaller workloads that fit earlier do not starve it. Those that end in time may use it until then (backfill).
//
// It is made again in every cycle from the snapshot alone. Pods end in the order of their known ends, then those
// without one, the longest running first; as soon as so many are gone that the gang fits by the ordinary rules, its
// places are what is reserved, and its start is when the last of them ends. The places are held on their nodes like
// promises while others are served from free resources or by consolidation; reclaim and preemption go by their own
// rules. Ours; docs/scheduler.md, 4.6.
#pragma once
#include "scheduler/state/cycle.h"

// Finds the gang among the pool's candidates and what is to be kept for it; nothing where the pool doesn't ask for it,
// or a gang has a reservation already.
void reservation_make(struct cycle *cycle, struct pool *pool, struct workload *const *candidates, size_t count);

// Whether the workload may not use what is reserved.
bool reservation_would_hold(struct cycle *cycle, const struct pool *pool, struct workload *workload);
// Holds the reserved places while the workload is tried, unless it may use them, until reservation_release.
void reservation_hold(struct cycle *cycle, struct pool *pool, struct workload *workload);
void reservation_release(struct cycle *cycle, struct pool *pool);

// The workload was refused just now: says of the gang that it has a reservation, and of another that was held back by
// it, where it would fit otherwise, for whom the room is kept. The places are released then.
void reservation_explain(struct cycle *cycle, struct pool *pool, struct workload *workload);
