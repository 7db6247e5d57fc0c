// Fragmentation gradient descent, the third placement strategy: of the nodes that can take a pod, the one where free
// GPUs become useless for the least of the typical workload. After Weng et al., "Beware of Fragmentation", USENIX ATC
// 2023; docs/scheduler.md, 5.4.
//
// The typical workload is what the snapshot holds: the different requests for GPUs of pods that stand in the pool or
// wait for it, with their numbers; the most frequent ones. For one of them the fragment of a node is all that is free
// on its devices, where the node could not take the request, else what is free on devices with too little room for it.
// A node's fragmentation is the sum over the requests, each times its number; all of it whole numbers, in thousandths
// of a device. What was computed for a node is kept until the node changes.
#pragma once
#include "scheduler/state/cycle.h"
struct arena;

// By how much the node's fragmentation grows if the pod, which fits there, is placed on it; negative: it shrinks.
int64_t fragmentation_growth(struct cycle *cycle, const struct pool *pool, const struct node *node,
                             const struct pod *pod);

// For a shared request: the devices that it should join, best first, into out_devices (room for shared_devices of the
// request). Returns how many; for the rest of its devices it should open new ones.
uint32_t fragmentation_choose(struct cycle *cycle, const struct pool *pool, const struct node *node,
                              const struct pod *pod, uint32_t *out_devices);
