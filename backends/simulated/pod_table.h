// What the simulated backend runs: a hash table of pods by uuid, and a heap of what is due next in simulated time.
// Not thread-safe.
#pragma once
#include "backends/simulated/life.h"
#include "base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_phase {
    SIM_STARTING,
    SIM_RUNNING,
    SIM_STOPPING,
    SIM_ENDED // by itself; kept until it is forgotten
};

struct sim_pod {
    char uuid[UUID_SIZE];
    char *node_name; // owned
    enum sim_phase phase;
    int64_t decision;
    struct life life;
    uint64_t gpus;          // it holds, by index
    bool is_using;          // of its node's CPU and memory
    int64_t gpu_memory_mib; // that it uses of each of them while it runs; 0: not known
    double due;             // simulated time of the next step; INFINITY: none
    size_t heap_index;
    struct sim_pod *next; // of the same bucket
};

struct pod_table {
    struct sim_pod **buckets;
    size_t bucket_count, count;
    struct sim_pod **heap; // by due, then uuid
};

void pod_table_init(struct pod_table *table);
void pod_table_done(struct pod_table *table);
struct sim_pod *pod_table_find(const struct pod_table *table, const char *uuid);
// A new pod with nothing due; the uuid is not in the table yet.
struct sim_pod *pod_table_add(struct pod_table *table, const char *uuid, const char *node_name);
void pod_table_remove(struct pod_table *table, struct sim_pod *pod); // frees it
void pod_table_set_due(struct pod_table *table, struct sim_pod *pod, double due);
// The pod with the earliest due time, or NULL.
struct sim_pod *pod_table_first(const struct pod_table *table);
