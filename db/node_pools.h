// Node pools. Every change renews which node is in which pool. A new pool gets a queue row for each department and each
// project; a deleted one takes its queues with it, its nodes fall back to the default pool, its row stays with
// deleted_ms set.
#pragma once
#include "db/topologies.h"
#include "model/node_pool.h"

#include <stddef.h>

struct arena;
struct db_conn;
struct error;

// Write functions: to be called inside db_write(). The pool's times are the caller's.

// Sets pool->id. ERROR_INVALID where the name or the label is taken or the topology is unknown: the operations on node
// pools have no 409.
int db_create_node_pool(struct db_conn *conn, struct node_pool *pool, struct error *err);
// Writes all but name, cluster, is_default and created_*.
int db_update_node_pool(struct db_conn *conn, const struct node_pool *pool, struct error *err);
// ERROR_INVALID for the default pool and while pods are placed in it.
int db_delete_node_pool(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, struct error *err);

// Reading. ERROR_NOT_FOUND where there is none.
#define NODE_POOL_COLUMNS                                                                                             \
    "np.id, np.cluster_id, c.uuid, c.name, np.name, np.is_default, np.label_key, np.label_value, np.phase, "          \
    "np.phase_message, np.gpu_placement, np.cpu_placement, np.min_guaranteed_runtime_ms, "                            \
    "np.time_based_fairshare_json, np.over_provisioning_ratio, np.network_topology_id, t.name, np.settings_json, "    \
    "(SELECT json_group_array(name) FROM (SELECT name FROM nodes WHERE node_pool_id = np.id AND deleted_ms = 0 "      \
    "ORDER BY name)), np.created_by, np.updated_by, np.created_ms, np.updated_ms, CASE WHEN t.uuid IS NOT NULL THEN " \
    "(SELECT json_group_array(name) FROM (SELECT n.name FROM nodes n WHERE n.node_pool_id = np.id AND "               \
    "n.deleted_ms = 0 AND " TOPOLOGY_LACKS("t", "n") " ORDER BY 1)) END"
#define NODE_POOL_FROM \
    "node_pools np JOIN clusters c ON c.id = np.cluster_id LEFT JOIN topologies t ON t.uuid = np.network_topology_id"
struct sqlite3_stmt;
void node_pool_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct node_pool *out_pool);

int db_find_node_pool(struct db_conn *conn, int64_t id, struct arena *arena, struct node_pool *out_pool,
                      struct error *err);
int db_find_node_pool_by_name(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                              struct node_pool *out_pool, struct error *err);
int db_find_default_node_pool(struct db_conn *conn, int64_t cluster_id, int64_t *out_id, struct error *err);
