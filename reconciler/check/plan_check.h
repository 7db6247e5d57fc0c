// The parts of plan_check: each looks at one kind of rule. All of them together cost O(pods + decisions),
// and for a reclaim the victims of its statement times the projects they are of.
#pragma once
#include "scheduler/plan.h"
struct arena;
struct error;

// What must hold of any plan before anything of it is done: no device is given twice, no node more than it has, no
// queue more than its limit, no non-preemptible pod beyond quota, no gang in part, nothing evicted that must not be, or
// for somebody who gets nothing by it. The message says what does not hold. O(pods + decisions).
int plan_check(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err);

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
