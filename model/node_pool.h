// A node pool: the nodes that carry its label, with one scheduler's settings. The default pool has no label and takes
// the nodes that no other pool selects.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct error;
struct json_writer;

struct node_pool {
    int64_t id;
    int64_t cluster_id;
    const char *cluster_uuid; // only read, as is cluster_name
    const char *cluster_name;
    const char *name;
    bool is_default;
    const char *label_key; // NULL for the default pool
    const char *label_value;
    const char *phase; // only read: Empty, Ready, or Unschedulable (nodes, but none is ready); kept by db/nodes.c
    const char *phase_message;
    const char *gpu_placement; // "binpack", "spread", "fragmentation"
    const char *cpu_placement;
    int64_t min_guaranteed_runtime_ms;
    const char *time_based_fairshare_json; // NULL: off
    double over_provisioning_ratio;
    const char *network_topology_id;   // NULL: none
    const char *network_topology_name; // only read
    const char *outside_topology_json; // only read: the nodes that lack a label of its levels; NULL where there is none
    const char *settings_json;         // the rest of the API's fields, as sent; see node_pool_from_json
    const char *nodes_json;            // only read: ["name", ...]
    const char *created_by;
    const char *updated_by;
    int64_t created_ms;
    int64_t updated_ms;
};

// What a new pool starts with.
void node_pool_defaults(struct node_pool *pool);
// Takes what the body (NodepoolCreateFields, NodepoolUpdateFields; checked against the schema) says into the pool; what
// it does not name stays as it is. Checks the rules that the schema cannot state. Texts are the arena's.
int node_pool_from_json(struct node_pool *pool, const json_t *body, struct arena *arena, struct error *err);
// The API's Nodepool object.
void node_pool_write_json(const struct node_pool *pool, struct arena *arena, struct json_writer *json);
