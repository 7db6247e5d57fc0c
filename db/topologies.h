// Network topologies: ordered lists of node label keys, farthest level first. Node pools may use one.
#pragma once
#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct sqlite3_stmt;

struct topology {
    int64_t cluster_id;
    const char *uuid;
    const char *cluster_uuid; // only read
    const char *name;
    const char *levels_json;
    const char *node_pools_json; // only read: the names of those that use it
    const char *outside_json;    // only read: the names of their nodes that lack a label of its levels
    const char *created_by;
    int64_t created_ms;
};

// Whether a node lacks a label of a topology's levels: then the topology is off in the node's pool.
#define TOPOLOGY_LACKS(topology, node)                                                                 \
    "EXISTS (SELECT 1 FROM json_each(" topology ".levels_json) level WHERE NOT EXISTS (SELECT 1 FROM " \
    "json_each(" node ".labels_json) label WHERE label.key = level.value))"
#define TOPOLOGY_OUTSIDE                                                                             \
    "(SELECT n.name FROM node_pools np JOIN nodes n ON n.node_pool_id = np.id AND n.deleted_ms = 0 " \
    "WHERE np.network_topology_id = t.uuid AND np.deleted_ms = 0 AND " TOPOLOGY_LACKS("t", "n") " ORDER BY 1)"
#define TOPOLOGY_COLUMNS                                                                                         \
    "t.cluster_id, t.uuid, c.uuid, t.name, t.levels_json, (SELECT json_group_array(np.name) FROM node_pools np " \
    "WHERE np.network_topology_id = t.uuid AND np.deleted_ms = 0), t.created_by, t.created_ms, (SELECT "         \
    "json_group_array(name) FROM " TOPOLOGY_OUTSIDE ")"
#define TOPOLOGY_FROM "topologies t JOIN clusters c ON c.id = t.cluster_id"
void topology_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct topology *out_topology);

// Write functions: to be called inside db_write().

// Sets uuid. ERROR_INVALID where the name is taken: the operation has no 409.
int db_create_topology(struct db_conn *conn, struct topology *topology, struct arena *arena, struct error *err);
// ERROR_INVALID while a node pool uses it, or an unfinished workload names it.
int db_delete_topology(struct db_conn *conn, const char *uuid, struct error *err);

// The levels of the topology of this name, as a list; the arena's. 1: found; 0: there is none; -1: error.
int db_find_topology_levels(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                            const char **out_levels_json, struct error *err);
// ERROR_NOT_FOUND where there is none.
int db_find_topology(struct db_conn *conn, const char *uuid, struct arena *arena, struct topology *out_topology,
                     struct error *err);
