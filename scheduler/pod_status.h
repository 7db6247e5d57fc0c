// The sets of pod statuses that the rules speak of; docs/scheduler.md, 1.5.
#pragma once
#include "scheduler/snapshot.h"

// Occupies its node.
static inline bool pod_status_is_used(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_PIPELINED && status <= SNAPSHOT_POD_STUCK_IN_RELEASING;
}

// The workload has it: placed or promised, and not on its way out.
static inline bool pod_status_is_held(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_PIPELINED && status <= SNAPSHOT_POD_RUNNING;
}

// Placed, not only promised.
static inline bool pod_status_is_allocated(enum snapshot_pod_status status)
{
    return status >= SNAPSHOT_POD_BINDING && status <= SNAPSHOT_POD_RUNNING;
}
