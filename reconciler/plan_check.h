// The parts of plan_check (carry_out.h): each looks at one kind of rule. All of them together cost O(pods + decisions),
// and for a reclaim the victims of its statement times the projects they are of.
#pragma once
#include "scheduler/plan.h"
struct arena;
struct error;

// Gangs, sub-group by sub-group, of the workloads that get something.
int plan_check_gangs(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err);
// Limits, and what non-preemptible pods may hold, of the queues that get something.
int plan_check_queues(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err);
// For whom something is taken, and that it gets its place by the same statement.
int plan_check_evictions(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
                         struct error *err);
// Reclaim takes nothing that a queue holds within what it deserves.
int plan_check_reclaims(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
                        struct error *err);

// What the pod costs its project and department on that node.
struct amounts plan_check_charge(const struct snapshot *snapshot, const struct snapshot_pod *pod,
                                 const struct snapshot_node *node);
// The pod has a place, or the promise of one, that it did not have before.
bool plan_check_is_new(const struct snapshot *snapshot, const struct plan *plan, size_t pod);
