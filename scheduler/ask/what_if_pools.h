// Other node pools that a workload could be sent to. Internal; what_if.h is the face.
#pragma once
#include "scheduler/snapshot.h"
#include <stddef.h>

struct arena;

// The pools that the workload does not name and that have a node as large as its largest pod asks for, ready and
// uncordoned: the one with the most free GPUs first, then by name. The list is the arena's.
size_t what_if_other_pools(const struct snapshot *snapshot, const struct snapshot_workload *workload,
                           struct arena *arena, uint32_t **out_pools);
