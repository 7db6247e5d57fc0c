// The devices of nodes and who holds them: the dashboard's cluster map, and the figures of the nodes' telemetry.
#pragma once
#include "db/node_pods.h"
#include "model/node.h"

struct arena;
struct db_conn;
struct error;
struct json_writer;

enum device_state {
    DEVICE_FREE,
    DEVICE_ALLOCATED,
    DEVICE_RELEASING, // all who hold it are on their way out
    DEVICE_DOWN,      // the node is not ready, or the device is unhealthy
    DEVICE_CORDONED,  // free, but nothing is placed there
};

struct device_holder {
    const struct node_pod *pod;
    int64_t share_milli;
    bool is_first; // of the pod's devices
};

struct device {
    enum device_state state;
    struct device_holder *holders;
    size_t holder_count;
    size_t holder_capacity;
    double utilization;    // percent, as measured last; NAN: never, or nobody holds it
    int64_t idle_since_ms; // since when who holds it does nothing with it; 0: it works, or nobody knows
};

// A node with what is held of it.
struct node_view {
    struct node node;
    const char *cluster_uuid;
    const char *cluster_name;
    struct device *devices; // node.gpu_count of them
    int64_t gpu_allocated_milli;
    int64_t cpu_allocated_milli;
    int64_t memory_allocated_bytes;
    const struct node_pod *pods;
    int64_t pod_count;
    double cpu_used_cores, memory_used_bytes; // as measured last; NAN: never
};

// Fills in what is held, by one statement for all.
int node_views_read_devices(struct db_conn *conn, struct node_view *views, size_t count, struct arena *arena,
                            struct error *err);

// Of the nodes, and of the devices that somebody holds; by one statement for all.
int node_views_read_measured(struct db_conn *conn, struct node_view *views, size_t count, int64_t now_ms,
                             struct arena *arena, struct error *err);

// "id", "name", "projectId", "projectName", "preemptible" of the pod's workload as members of the open object; where
// the caller may not read it, neither id nor name nor project.
void node_pod_write_workload(const struct node_pod *pod, const struct scope_filter *readable, struct json_writer *json);
// What is there, allocated and used of CPU and memory, as members of the open object.
void node_view_write_load(const struct node_view *view, struct json_writer *json);
// [{"index", "state", "utilization", "idleSince", "workloads": [{"id", "name", "projectId", "projectName", "share",
// "preemptible"}]}].
void node_view_write_devices(const struct node_view *view, const struct scope_filter *readable,
                             struct json_writer *json);
