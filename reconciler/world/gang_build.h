// The shape of a gang in the scheduler's form: its sub-groups, and where it is to stand in a network topology.
#pragma once
#include "reconciler/world/cache.h"

// Sets the topology and the sub-groups of out, whose pools and pod_count are set, and the sub-group of each of its
// pods. pods are the rows of the pods in out_pods, one by one.
void gang_build(const struct world *world, const struct cache_workload *workload, struct cache_pod *const *pods,
                struct arena *arena, struct snapshot_workload *out, struct snapshot_pod *out_pods);
