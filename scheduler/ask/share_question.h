// How the fair shares of a node pool come about in the next cycle, asked from outside.
#pragma once
#include "scheduler/state/share_tree.h"

// Plans a cycle over the snapshot and tells how the pool's fair shares of the resource in it came about. Fails like
// scheduler_plan.
int scheduler_explain_fairshare(const struct snapshot *snapshot, uint32_t node_pool, enum resource resource,
                                struct arena *arena, struct share_tree **out_tree, struct error *err);
