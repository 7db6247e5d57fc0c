// The scheduler's snapshot of the cache. What changes seldom is the world's; workloads and pods are the arena's.
#pragma once
#include "reconciler/world/budgets.h"
#include "reconciler/world/cache.h"

struct live_snapshot {
    struct snapshot snapshot;
    struct cache_workload **workloads; // as snapshot.workloads
    struct cache_pod **pods;           // as snapshot.pods
    int64_t next_due_ms; // the earliest time at which a status follows from the clock alone; INT64_MAX: none
};

// A workload alone, which is in no cache: its pods are all pending. out_live's snapshot has it and nothing else.
void snapshot_build_one(struct cache_workload *workload, uint32_t project, const char *suffix, struct world *world,
                        struct budgets *budgets, int64_t now_ms, struct arena *arena, struct live_snapshot *out_live);
void snapshot_build(struct cache *cache, struct budgets *budgets, int64_t now_ms, struct arena *arena,
                    struct live_snapshot *out_live);
