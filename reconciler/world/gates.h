// What waits for something else than room: its pods are gated, and a sentence says for what.
#pragma once
#include "reconciler/world/cache.h"

// The node pools that it named are all gone: it goes nowhere else unasked, until one of them is made again.
void gate_without_pools(const struct cache_workload *workload, struct snapshot_workload *out, struct snapshot_pod *pods,
                        struct arena *arena);
// It is to start no sooner than then; *due_ms becomes that time where it is sooner.
void gate_until_start(const struct cache_workload *workload, int64_t now_ms, struct snapshot_workload *out,
                      struct snapshot_pod *pods, struct arena *arena, int64_t *due_ms);
// Another workload is to end first, or has ended otherwise than it was to. True: it waits for that.
bool gate_until_others_end(const struct cache_workload *workload, struct snapshot_workload *out,
                           struct snapshot_pod *pods, struct arena *arena);
// Its submitter asks for more GPUs than each person of the project may have waiting: what comes first by priority, age
// and name waits for room, and the rest until that has started. workloads are the snapshot's, pods those they refer to.
void gate_beyond_waiting(const struct world *world, struct snapshot_workload *workloads, size_t count,
                         struct snapshot_pod *pods, struct arena *arena);
