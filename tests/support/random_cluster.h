// Random clusters for property tests: a snapshot made from a seed, the same on every machine.
#pragma once
#include "scheduler/snapshot.h"
struct arena;

// A small cluster with queues, running and pending workloads of every kind. Running pods stand where there is room.
struct snapshot *random_cluster(uint64_t seed, struct arena *arena);
uint64_t random_next(uint64_t *state);
// 0 to bound - 1.
uint32_t random_below(uint64_t *state, uint32_t bound);
