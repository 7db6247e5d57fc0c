// The pods that hold something of nodes, with whose they are: for the nodes' pages and their figures.
#pragma once
#include "model/scope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

struct node_pod {
    int64_t id, node_id;
    const char *name;
    bool is_releasing;
    bool is_preemptible;
    int64_t gpu_milli; // held in all, the same of each device
    const char *gpu_indices_json;
    int64_t cpu_milli;
    int64_t memory_bytes;
    const char *workload_uuid;
    const char *workload_name;
    const char *project_name;
    const char *department_name;
    int64_t started_ms;     // 0: not yet
    struct scope_path path; // of the workload's project
};

// Of these nodes (ids ascending, as JSON for json_each), in the order of node and pod ids.
int db_read_node_pods(struct db_conn *conn, const char *node_ids_json, struct arena *arena, struct node_pod **out_pods,
                      size_t *out_count, struct error *err);
