// A machine of a cluster, as the backend reported it. Which pool it is in follows from its labels.
#pragma once
#include "base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct json_t;

enum node_status {
    NODE_STATUS_READY,
    NODE_STATUS_NOT_READY,
    NODE_STATUS_UNKNOWN
};

// "Ready", "NotReady", "Unknown": static text.
const char *node_status_text(enum node_status status);
// Text that is none of them is NODE_STATUS_UNKNOWN.
enum node_status node_status_parse(const char *text);

enum node_drain {
    NODE_DRAIN_NONE,
    NODE_DRAIN_PREEMPTIBLE, // what may be preempted leaves the node
    NODE_DRAIN_ALL
};

// A person's, beside the backend's own.
struct node_cordon {
    int64_t ms;         // when; 0: there is none
    const char *reason; // "": nobody said
    const char *by;
    enum node_drain drain;
};

// Texts are the arena's or the caller's. NULL stands for the column's default where one is named.
struct node {
    int64_t id;
    char uuid[UUID_SIZE];
    int64_t cluster_id;
    const char *name;
    int64_t node_pool_id;       // set by db/nodes.c
    const char *node_pool_name; // only read
    enum node_status status;
    const char *status_reason; // "": none
    bool is_cordoned;          // written: by the backend; read: by it or by a person
    struct node_cordon cordon; // only read
    const char *labels_json;   // {"key": "value"}
    const char *taints_json;   // [{"key", "value", "effect"}]
    int64_t gpu_count;
    int64_t gpu_memory_mib; // of one device
    const char *gpu_type;
    const char *mig_strategy;       // "none", "single", "mixed"
    const char *mig_instances_json; // {"profile": count}
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t max_pods;         // 0: 110
    int64_t others_cpu_milli; // that pods of other schedulers hold, as the two below
    int64_t others_memory_bytes;
    int64_t others_pods;
    int64_t gpus_withheld;           // so many take no pod of ours; which count as these says the next
    const char *unhealthy_gpus_json; // [index, ...]
    const char *ip;
    const char *version; // of the agent or the kernel: what the backend knows
    int64_t created_ms;
    int64_t updated_ms;
    int64_t revision;
};

// {"key": "value"} as text, with kubernetes.io/hostname = name where the labels don't have that key, as nodes of
// Kubernetes have it. labels may be NULL and is left as it is.
const char *node_labels_json(struct arena *arena, const struct json_t *labels, const char *name);
