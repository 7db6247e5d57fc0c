// Reading the answer from a plan. Internal; what_if.h is the face.
#pragma once
#include "scheduler/ask/what_if_trial.h"

struct what_if_outcome {
    enum what_if_verdict verdict;
    const char *sentence;
    uint32_t node_pool;
    const struct what_if_node *nodes;
    size_t node_count;
    const struct what_if_displaced *displaced;
    size_t displaced_count;
    int64_t displaced_milli; // without those that are moved only
};

// The snapshot without the workload; and with no other, its gate open if that may be. Copies share everything else.
const struct snapshot *what_if_without(const struct snapshot *snapshot, uint32_t workload, struct arena *arena);
const struct snapshot *what_if_alone(const struct snapshot *snapshot, uint32_t workload, struct arena *arena);
// The snapshot as it is then if nothing else changes: gates that end by that time are open.
const struct snapshot *what_if_later(const struct snapshot *snapshot, int64_t time_ms, struct arena *arena);

// What the plan does for the workload; texts and lists are the arena's.
struct what_if_outcome what_if_read(const struct what_if_trial *trial, struct arena *arena);
// Who could take it back, once it runs. queue numbers are those with it.
const char *what_if_could_lose_to(const struct what_if_trial *trial, uint32_t node_pool, struct arena *arena);
// "2 workloads of team-b, 4 GPUs"; "nobody".
const char *what_if_word_displaced(const struct what_if_trial *trial, const struct what_if_outcome *outcome,
                                   struct arena *arena);
