// What a plan says, read without its maker: which decisions come to nothing, what is new, what a pod counts.
#pragma once
#include "scheduler/plan.h"

struct arena;

// Which decisions come to nothing: a pod that one action binds and a later one evicts never starts and stays pending.
bool *plan_undone(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena);
// What the pod costs its project and department on that node.
struct amounts plan_reading_charge(const struct snapshot *snapshot, const struct snapshot_pod *pod,
                                   const struct snapshot_node *node);
// The pod has a place, or the promise of one, that it did not have before.
bool plan_reading_is_new(const struct snapshot *snapshot, const struct plan *plan, size_t pod);
// Whether a pod of this status takes something of its node.
bool plan_reading_holds(enum snapshot_pod_status status);
