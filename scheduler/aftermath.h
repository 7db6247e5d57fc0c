// What a plan leaves behind: the snapshot that the next cycle sees.
//
// Simulation and replay obey a plan at once; a real cluster does as it is told and reports later what became of it.
// Both remember the same of a workload. Nothing is copied: devices point into the plan.
#pragma once
#include "scheduler/plan.h"

struct arena;

// What the next cycle remembers of a workload: its promise, since when it is stale (0: since this cycle), and how often
// it was displaced.
void aftermath_of_workload(struct snapshot_workload *workload, const struct plan_workload *planned, int64_t now_ms);

// The turns of searches that go on, in the arena's memory. has_changed: what the cycle saw is not what the next sees.
struct snapshot_search_turn *aftermath_of_turns(const struct plan *plan, bool has_changed, struct arena *arena);

// The pod once the plan has been obeyed at once: what is bound runs since now_ms, what is evicted is pending and off
// its node, unless its workload is being deleted; what is promised has its place and no devices yet.
void aftermath_at_once(struct snapshot_pod *pod, const struct plan_pod *planned, bool is_deleting, int64_t now_ms);

// The pod once the plan has been told: what is evicted holds its place while it ends, what is bound is binding, and who
// waits is at the place that it was promised, or at none.
void aftermath_as_told(struct snapshot_pod *pod, const struct plan_pod *planned, bool is_evicted);

// Whether the pod has no place of its own yet: it is pending or was promised one.
static inline bool aftermath_waits(const struct snapshot_pod *pod)
{
    return pod->status == SNAPSHOT_POD_PENDING || pod->status == SNAPSHOT_POD_PIPELINED;
}
