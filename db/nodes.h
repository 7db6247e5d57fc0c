// Nodes: rows as the backend reports them; the pool of each follows from its labels and is kept here, whenever a node
// or a pool changes. What happens to a node is told as an event (db/events/node_events.h). A removed node's row stays
// with deleted_ms set, because pods refer to it.
#pragma once
#include "model/node.h"

#include <jansson.h>
#include <stddef.h>

struct arena;
struct db_conn;
struct error;

// Write functions: to be called inside db_write().

// Adds the node, or changes the one that has its name in the cluster. Reads all fields but the ids; sets id, uuid,
// node_pool_id, created_ms. updated_ms is the caller's time. Nothing is written where nothing differs.
int db_upsert_node(struct db_conn *conn, struct node *node, struct error *err);
// ERROR_NOT_FOUND where the cluster has no such node.
int db_set_node_status(struct db_conn *conn, int64_t cluster_id, const char *name, enum node_status status,
                       const char *reason, int64_t now_ms, struct error *err);
// Which of its devices must not be used ([index, ...]), and why. ERROR_NOT_FOUND where the cluster has no such node.
int db_set_node_devices(struct db_conn *conn, int64_t cluster_id, const char *name, const char *unhealthy_gpus_json,
                        const char *reason, int64_t now_ms, struct error *err);
// Sets the labels of patch, a JSON object, and removes those that are null there; the node's pool follows, and its pods
// stay. ERROR_NOT_FOUND where the cluster has no such node, ERROR_INVALID where it would have too many labels.
int db_patch_node_labels(struct db_conn *conn, int64_t cluster_id, const char *name, const json_t *patch,
                         int64_t now_ms, struct error *err);
// A person's cordon, beside the backend's own; it outlives what the backend reports, and goes with the node. One
// with ms 0 takes it back for its `by`. node as it was read. ERROR_NOT_FOUND where there is no such node.
int db_set_node_cordon(struct db_conn *conn, const struct node *node, const struct node_cordon *cordon, int64_t now_ms,
                       struct error *err);
// A person's drain has nothing left to send away: told once. Nothing where the
// node has gone.
int db_set_node_drained(struct db_conn *conn, int64_t cluster_id, const char *name, int64_t now_ms, struct error *err);
// Its pods are the reconciler's to end: their node has deleted_ms set from now on.
int db_remove_node(struct db_conn *conn, int64_t cluster_id, const char *name, int64_t now_ms, struct error *err);
// Puts every node of the cluster into the pool that its labels say, and renews the phases of its pools.
int db_assign_nodes_to_pools(struct db_conn *conn, int64_t cluster_id, int64_t now_ms, struct error *err);

// Reading.

// The columns of struct node for `FROM nodes n JOIN node_pools np ON np.id = n.node_pool_id`, in node_from_row's order.
#define NODE_COLUMNS                                                                                                  \
    "n.id, n.uuid, n.cluster_id, n.name, n.node_pool_id, np.name, n.status, n.status_reason, "                        \
    "n.cordoned OR n.cordon_ms <> 0, "                                                                                \
    "n.labels_json, n.taints_json, n.gpu_count, n.gpu_memory_mib, n.gpu_type, n.mig_strategy, n.mig_instances_json, " \
    "n.cpu_milli, n.memory_bytes, n.max_pods, n.unhealthy_gpus_json, n.ip, n.version, n.created_ms, n.updated_ms, "   \
    "n.revision, n.others_cpu_milli, n.others_memory_bytes, n.others_pods, n.gpus_withheld, "                         \
    "n.cordon_ms, n.cordon_reason, n.cordon_by, n.cordon_drain"
enum {
    NODE_COLUMN_COUNT = 33
};
struct sqlite3_stmt;
void node_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct node *out_node);

// ERROR_NOT_FOUND where there is none that is not removed.
int db_find_node(struct db_conn *conn, const char *uuid, struct arena *arena, struct node *out_node, struct error *err);
int db_find_node_by_name(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                         struct node *out_node, struct error *err);
// All nodes of the cluster that are not removed, by name.
int db_list_nodes(struct db_conn *conn, int64_t cluster_id, struct arena *arena, struct node **out_nodes,
                  size_t *out_count, struct error *err);
