// The parts of plan_check (carry_out.h): each looks at one kind of rule. All of them together cost O(pods + decisions).
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

// The pod has a place, or the promise of one, that it did not have before.
bool plan_check_is_new(const struct snapshot *snapshot, const struct plan *plan, size_t pod);
