// A workload may have to wait before it causes evictions: the delay that it asks for itself (docs/scheduler.md, 9.2),
// and patience after it was displaced again and again (ours, docs/scheduler.md, 9.3).
#pragma once
#include "scheduler/state/cycle.h"

// False, with an explanation, while a delay since its creation, last eviction or last displacement runs.
bool preemption_delay_allows(struct cycle *cycle, const struct pool *pool, struct workload *workload);
