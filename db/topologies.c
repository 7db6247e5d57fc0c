#include "db/topologies.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"

static const char SQL_INSERT[] =
    "INSERT INTO topologies (uuid, cluster_id, name, levels_json, created_by, created_ms, updated_ms, revision) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)";
static const char SQL_USER[] = "SELECT name FROM node_pools WHERE network_topology_id = ? AND deleted_ms = 0 LIMIT 1";
// What a gang asks for: members "topology" of its shape, the whole's and its sub-groups'.
static const char SQL_WORKLOAD[] =
    "SELECT w.name FROM workloads w JOIN topologies t ON t.uuid = ?1 AND t.cluster_id = w.cluster_id"
    " WHERE w.deleted_ms = 0 AND w.phase NOT IN ('Completed', 'Failed') AND w.sub_groups_json IS NOT NULL"
    " AND EXISTS (SELECT 1 FROM json_tree(w.sub_groups_json) j WHERE j.key = 'topology'"
    " AND j.value ->> '$.name' = t.name) LIMIT 1";
static const char SQL_LEVELS[] = "SELECT levels_json FROM topologies WHERE cluster_id = ?1 AND name = ?2";
static const char SQL_DELETE[] = "DELETE FROM topologies WHERE uuid = ?";
static const char SQL_FIND[] = "SELECT " TOPOLOGY_COLUMNS " FROM " TOPOLOGY_FROM " WHERE t.uuid = ?";

int db_create_topology(struct db_conn *conn, struct topology *topology, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    char uuid[UUID_SIZE];
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    uuid_create(uuid);
    topology->uuid = arena_strdup(arena, uuid);
    db_bind_text(stmt, 1, uuid);
    db_bind_int(stmt, 2, topology->cluster_id);
    db_bind_text(stmt, 3, topology->name);
    db_bind_text(stmt, 4, topology->levels_json);
    db_bind_text(stmt, 5, topology->created_by);
    db_bind_int(stmt, 6, topology->created_ms);
    db_bind_int(stmt, 7, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0 && err && err->code == ERROR_CONFLICT)
        error_set(err, ERROR_INVALID, "name: topology %s exists in this cluster", topology->name);
    db_touch(conn, CHANGE_CLUSTER, uuid);
    return rc;
}

static int check_unused(struct db_conn *conn, const char *sql, const char *what, const char *uuid, struct arena *arena,
                        struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        rc = error_set(err, ERROR_INVALID, "topology %s: %s %s uses it", uuid, what, db_column_text(stmt, 0, arena));
    db_release(conn, stmt);
    return rc;
}

int db_find_topology_levels(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                            const char **out_levels_json, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_LEVELS, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    db_bind_text(stmt, 2, name);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_levels_json = db_column_text(stmt, 0, arena);
    db_release(conn, stmt);
    return rc;
}

int db_delete_topology(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct arena arena;
    arena_init(&arena);
    int rc = check_unused(conn, SQL_USER, "node pool", uuid, &arena, err);
    if (rc == 0)
        rc = check_unused(conn, SQL_WORKLOAD, "workload", uuid, &arena, err);
    if (rc == 0 && (rc = db_prepare(conn, SQL_DELETE, &stmt, err)) == 0) {
        db_bind_text(stmt, 1, uuid);
        rc = db_run(conn, stmt, err);
    }
    db_release(conn, stmt);
    arena_done(&arena);
    db_touch(conn, CHANGE_CLUSTER, uuid);
    return rc;
}

void topology_from_row(sqlite3_stmt *stmt, struct arena *arena, struct topology *out_topology)
{
    *out_topology = (struct topology){
        .cluster_id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .cluster_uuid = db_column_text(stmt, 2, arena),
        .name = db_column_text(stmt, 3, arena),
        .levels_json = db_column_text(stmt, 4, arena),
        .node_pools_json = db_column_text(stmt, 5, arena),
        .created_by = db_column_text(stmt, 6, arena),
        .created_ms = db_column_int(stmt, 7),
        .outside_json = db_column_text(stmt, 8, arena),
    };
}

int db_find_topology(struct db_conn *conn, const char *uuid, struct arena *arena, struct topology *out_topology,
                     struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        topology_from_row(stmt, arena, out_topology);
    else if (rc == 0)
        error_set(err, ERROR_NOT_FOUND, "topology %.60s: not found", uuid);
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}
