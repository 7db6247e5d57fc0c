#include "db/clusters.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/events/org_events.h"
#include "db/node_pools.h"
#include "db/org_units.h"

static const char SQL_INSERT[] =
    "INSERT INTO clusters (uuid, name, state, version, created_ms, updated_ms, last_seen_ms, revision) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
static const char SQL_RENAME[] = "UPDATE clusters SET name = ?2, updated_ms = ?3, revision = ?4 WHERE id = ?1";
static const char SQL_IN_USE[] =
    "SELECT (SELECT count(*) FROM nodes WHERE cluster_id = ?1 AND deleted_ms = 0) + "
    "(SELECT count(*) FROM workloads WHERE cluster_id = ?1) + (SELECT count(*) = 1 FROM clusters)";
static const char *const SQL_DELETE[] = {
    ("DELETE FROM policies WHERE (scope = 'cluster' AND owner_id = ?1) OR "
     "(scope = 'project' AND owner_id IN (SELECT id FROM projects WHERE cluster_id = ?1)) OR "
     "(scope = 'department' AND owner_id IN (SELECT id FROM departments WHERE cluster_id = ?1))"),
    "DELETE FROM queues WHERE node_pool_id IN (SELECT id FROM node_pools WHERE cluster_id = ?)",
    "DELETE FROM projects WHERE cluster_id = ?",
    "DELETE FROM departments WHERE cluster_id = ?",
    "DELETE FROM nodes WHERE cluster_id = ?",
    "DELETE FROM node_pools WHERE cluster_id = ?",
    "DELETE FROM clusters WHERE id = ?",
};
static const char SQL_FIND[] = "SELECT " CLUSTER_COLUMNS " FROM clusters c WHERE c.uuid = ?";

static int name_taken(const char *name, struct error *err)
{
    if (err && err->code == ERROR_CONFLICT)
        error_set(err, ERROR_CONFLICT, "name: cluster %.80s exists", name);
    return -1;
}

static int insert_cluster(struct db_conn *conn, struct cluster *cluster, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    char uuid[UUID_SIZE];
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    uuid_create(uuid);
    cluster->uuid = arena_strdup(arena, uuid);
    db_bind_text(stmt, 1, uuid);
    db_bind_text(stmt, 2, cluster->name);
    db_bind_text(stmt, 3, cluster->state);
    db_bind_text(stmt, 4, cluster->version ? cluster->version : "");
    db_bind_int(stmt, 5, cluster->created_ms);
    db_bind_int(stmt, 6, cluster->updated_ms);
    db_bind_int(stmt, 7, cluster->last_seen_ms);
    db_bind_int(stmt, 8, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0)
        return name_taken(cluster->name, err);
    cluster->id = db_last_insert_id(conn);
    db_touch(conn, CHANGE_CLUSTER, cluster->uuid);
    return 0;
}

static int create_default_unit(struct db_conn *conn, enum org_unit_kind kind, const struct cluster *cluster,
                               const char *created_by, struct arena *arena, struct error *err)
{
    struct org_unit unit = {
        .kind = kind,
        .cluster_id = cluster->id,
        .name = "default",
        .is_default = true,
        .description = "",
        .created_by = created_by,
        .updated_by = created_by,
        .created_ms = cluster->created_ms,
        .updated_ms = cluster->created_ms,
        .enforce_scheduler = true,
    };
    return db_create_org_unit(conn, &unit, NULL, arena, err);
}

int db_create_cluster(struct db_conn *conn, struct cluster *cluster, const char *created_by, struct arena *arena,
                      struct error *err)
{
    if (insert_cluster(conn, cluster, arena, err) < 0)
        return -1;
    struct node_pool pool = {
        .cluster_id = cluster->id,
        .name = "default",
        .is_default = true,
        .created_by = created_by,
        .updated_by = created_by,
        .created_ms = cluster->created_ms,
        .updated_ms = cluster->created_ms,
    };
    node_pool_defaults(&pool);
    if (db_create_node_pool(conn, &pool, err) < 0 ||
        create_default_unit(conn, ORG_UNIT_DEPARTMENT, cluster, created_by, arena, err) < 0)
        return -1;
    return create_default_unit(conn, ORG_UNIT_PROJECT, cluster, created_by, arena, err);
}

int db_rename_cluster(struct db_conn *conn, int64_t id, const char *name, const char *who, int64_t now_ms,
                      struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if ((who && org_events_add_renaming(conn, id, name, who, now_ms, err) < 0) ||
        db_prepare(conn, SQL_RENAME, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    db_bind_text(stmt, 2, name);
    db_bind_int(stmt, 3, now_ms);
    db_bind_int(stmt, 4, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_CLUSTER, id);
    return rc < 0 ? name_taken(name, err) : 0;
}

int db_delete_cluster(struct db_conn *conn, int64_t id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_IN_USE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    bool is_used = rc == 1 && db_column_int(stmt, 0) > 0;
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    if (is_used)
        return error_set(err, ERROR_INVALID, "the cluster has nodes or workloads, or is the only one");
    for (size_t i = 0; i < sizeof(SQL_DELETE) / sizeof(SQL_DELETE[0]); i++) {
        if (db_prepare(conn, SQL_DELETE[i], &stmt, err) < 0)
            return -1;
        db_bind_int(stmt, 1, id);
        rc = db_run(conn, stmt, err);
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
    }
    db_touch_number(conn, CHANGE_CLUSTER, id);
    return 0;
}

void cluster_from_row(sqlite3_stmt *stmt, struct arena *arena, struct cluster *out_cluster)
{
    *out_cluster = (struct cluster){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .name = db_column_text(stmt, 2, arena),
        .state = db_column_text(stmt, 3, arena),
        .version = db_column_text(stmt, 4, arena),
        .created_ms = db_column_int(stmt, 5),
        .updated_ms = db_column_int(stmt, 6),
        .last_seen_ms = db_column_int(stmt, 7),
    };
}

int db_find_cluster(struct db_conn *conn, const char *uuid, struct arena *arena, struct cluster *out_cluster,
                    struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        cluster_from_row(stmt, arena, out_cluster);
    else if (rc == 0)
        error_set(err, ERROR_NOT_FOUND, "cluster %.60s: not found", uuid);
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}
