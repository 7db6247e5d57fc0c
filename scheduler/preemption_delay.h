// A workload may be told to wait before it causes evictions. docs/scheduler.md, 9.2.
#pragma once
#include "scheduler/cycle.h"

// False, with an explanation, while the delay since its creation or last eviction runs.
bool preemption_delay_allows(struct cycle *cycle, const struct pool *pool, struct workload *workload);
