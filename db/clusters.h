// Clusters. One installation runs one; the API allows more to be registered, which then wait to connect.
#pragma once
#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct sqlite3_stmt;

struct cluster {
    int64_t id;
    const char *uuid;
    const char *name;
    const char *state; // WaitingToConnect, Connected, Disconnected
    const char *version;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t last_seen_ms; // 0: never
};

#define CLUSTER_COLUMNS "c.id, c.uuid, c.name, c.state, c.version, c.created_ms, c.updated_ms, c.last_seen_ms"
void cluster_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct cluster *out_cluster);

// Write functions: to be called inside db_write().

// Sets id and uuid; with the node pool, department and project `default` that every cluster has. ERROR_CONFLICT where
// the name is taken.
int db_create_cluster(struct db_conn *conn, struct cluster *cluster, const char *created_by, struct arena *arena,
                      struct error *err);
// who NULL: the server itself, which is not told as an event.
int db_rename_cluster(struct db_conn *conn, int64_t id, const char *name, const char *who, int64_t now_ms,
                      struct error *err);
// ERROR_INVALID while it has nodes or workloads.
int db_delete_cluster(struct db_conn *conn, int64_t id, struct error *err);

// ERROR_NOT_FOUND where there is none.
int db_find_cluster(struct db_conn *conn, const char *uuid, struct arena *arena, struct cluster *out_cluster,
                    struct error *err);
