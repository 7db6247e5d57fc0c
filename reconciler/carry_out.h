// A plan turned into changes of pods and workloads.
#pragma once
#include "reconciler/snapshot_build.h"
#include "reconciler/turn.h"

// What must hold of any plan before anything of it is done: no device is given twice, no node more than it has, no queue
// more than its limit, no non-preemptible pod beyond quota, no gang in part, nothing evicted that must not be, or for
// somebody who gets nothing by it. The message says what does not hold. O(pods + decisions).
int plan_check(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena, struct error *err);

// Which decisions come to nothing: a pod that one action binds and a later one evicts never starts and stays pending.
bool *plan_undone(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena);
void carry_out(struct turn *turn, const struct live_snapshot *live, const struct plan *plan);
// What an eviction costs, and for whom; before the pod is told to stop.
void receipt_add(struct turn *turn, const struct live_snapshot *live, const struct plan_decision *decision);
// The texts of why workloads wait: pendingSchedulingMessages and the explanation, where they are not what was written
// last.
void explain_all(struct turn *turn, const struct live_snapshot *live, const struct plan *plan);
// A workload that waits for nothing any more.
void explain_nothing(struct turn *turn, struct cache_workload *workload);
