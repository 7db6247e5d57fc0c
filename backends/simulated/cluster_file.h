// The simulated cluster as a YAML file: nodePools, nodes and topologies with the keys of a snapshot (docs/snapshot.md);
// a node may say `count: N` (its name then gets -0 to -(N-1)), memoryBytes may be a quantity like 512Gi, and a pool may
// name its labelKey and labelValue (else prorata.io/node-pool = its name).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

struct cluster_pool {
    const char *name;
    const char *label_key; // NULL for `default`
    const char *label_value;
    const char *gpu_placement; // "binpack", "spread"
    const char *cpu_placement;
    int64_t min_runtime_ms; // preempt and reclaim
};

struct cluster_node {
    const char *name;
    const char *node_pool;
    const char *labels_json; // with the pool's label
    const char *taints_json;
    int64_t gpu_count;
    int64_t gpu_memory_mib;
    const char *gpu_type;
    const char *mig_strategy;
    const char *mig_instances_json;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t max_pods;
    bool is_ready;
    bool is_cordoned;
};

struct cluster_topology {
    const char *name;
    const char *levels_json;
};

struct cluster_description {
    struct cluster_pool *pools;
    size_t pool_count;
    struct cluster_node *nodes; // counts spelled out
    size_t node_count;
    struct cluster_topology *topologies;
    size_t topology_count;
};

// Texts are arena's. Errors are one line that names the file, and the place in it: unknown keys, bad values, names that
// stand twice or are not there.
int cluster_file_read(const char *path, struct arena *arena, struct cluster_description *out_cluster,
                      struct error *err);
// The same from text; name stands in messages.
int cluster_text_read(const char *text, const char *name, struct arena *arena, struct cluster_description *out_cluster,
                      struct error *err);
