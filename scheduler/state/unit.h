// Units: the pods of a workload that are placed together, and those that are evicted together.
//
// A workload below its minimum is placed as a gang; from there it grows a pod, or a sub-group's gang, at a time. It
// shrinks the same way, surplus pods first, and as a whole once there is no surplus. docs/scheduler.md, 10.3 to 10.5.
#pragma once
#include "scheduler/state/cycle.h"

// Whether a group is the other one or inside it.
bool unit_is_below(const struct workload *workload, uint32_t group, uint32_t ancestor);
// Whether enough pods are held or could be placed, for the workload and for a member of it.
bool unit_workload_is_ready(const struct workload *workload);
bool unit_group_is_ready(const struct workload *workload, const struct group *group);

// The next unit to place: pods that the open statement evicted, and pending ones where the workload lost no pod before
// it. Sets workload->unit and unit_count (0: nothing); kept until a pod's status changes.
void unit_find(struct cycle *cycle, struct workload *workload);
// What the unit asks of quota, an amount of GPU memory measured by a device with this much of it.
struct amounts unit_amounts(struct cycle *cycle, struct workload *workload, int64_t gpu_memory_mib);

// Whether no gang is left in part where so many pods are left of each leaf (by group): whole, or gone.
bool unit_is_whole(const struct workload *workload, const uint32_t *left);
// Whether a gang is left in part that was not so before: what stood in part from the start breaks nothing by itself.
bool unit_is_broken(const struct workload *workload, const uint32_t *before, const uint32_t *left);

// Members in the order in which they are served: unsatisfied ones first, then the least filled; by name.
// out_children has room for group->child_count.
void unit_order_children(const struct workload *workload, const struct group *group, uint32_t *out_children);

// The next unit to evict among the held pods that are not marked as taken: marks them, counts them as taken in their
// groups and writes them to out_pods (room for the workload's pods). Returns how many.
uint32_t unit_take_victims(struct cycle *cycle, struct workload *workload, uint32_t *out_pods);
// Takes the marks off again.
void unit_give_back(struct cycle *cycle, struct workload *workload);

// Whether the workload may be placed at all in this cycle: pending pods, ready, not being deleted, nothing lost.
bool unit_is_candidate(const struct workload *workload);
// The workloads that the pool's actions may place in this round. out_workloads has room for pool->waiting_count.
size_t unit_list_candidates(const struct pool *pool, struct workload **out_workloads);

// <0: a is placed before b inside their sub-group. docs/scheduler.md, 3.4.
int unit_compare_pods(const struct snapshot_pod *a, const struct snapshot_pod *b);
