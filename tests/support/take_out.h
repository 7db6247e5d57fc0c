// Takes a workload out of a snapshot, and puts one in: the slow way, by building everything anew and sorting by name.
#pragma once
#include "scheduler/snapshot.h"
struct arena;

// A workload with its pods, apart from any snapshot.
struct loose_workload {
    struct snapshot_workload workload;
    struct snapshot_pod *pods;
};

// The workload as if it had just been submitted under this name: all pods pending, nothing held, no promise.
struct loose_workload loose_workload(const struct snapshot *snapshot, uint32_t workload, const char *name,
                                     struct arena *arena);
// Without the workload at index `without` (SNAPSHOT_NONE: none), with `added` (NULL: none).
struct snapshot *snapshot_rebuild(const struct snapshot *snapshot, uint32_t without, const struct loose_workload *added,
                                  struct arena *arena);
uint32_t snapshot_find(const struct snapshot *snapshot, const char *name); // SNAPSHOT_NONE: not there
