#include "db/node_pools.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events/org_events.h"
#include "db/nodes.h"
#include "db/queues.h"

#include <inttypes.h>

static const char SQL_INSERT[] =
    "INSERT INTO node_pools (cluster_id, name, is_default, label_key, label_value, gpu_placement, cpu_placement, "
    "min_guaranteed_runtime_ms, time_based_fairshare_json, over_provisioning_ratio, network_topology_id, "
    "settings_json, "
    "created_by, updated_by, created_ms, updated_ms, revision) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
static const char SQL_UPDATE[] =
    "UPDATE node_pools SET label_key = ?4, label_value = ?5, gpu_placement = ?6, cpu_placement = ?7, "
    "min_guaranteed_runtime_ms = ?8, time_based_fairshare_json = ?9, over_provisioning_ratio = ?10, "
    "network_topology_id = ?11, settings_json = ?12, updated_by = ?14, updated_ms = ?16, revision = ?17 "
    "WHERE id = ?18 AND deleted_ms = 0";
static const char SQL_TAKEN[] =
    "SELECT name, name = ?2 FROM node_pools WHERE cluster_id = ?1 AND deleted_ms = 0 AND id <> ?5 "
    "AND (name = ?2 OR (label_key = ?3 AND label_value = ?4)) ORDER BY name = ?2 DESC LIMIT 1";
static const char SQL_TOPOLOGY[] = "SELECT count(*) FROM topologies WHERE cluster_id = ? AND uuid = ?";
static const char SQL_HELD[] = "SELECT count(*), p.name FROM pods p JOIN nodes n ON n.id = p.node_id "
                               "WHERE n.node_pool_id = ? AND p.deleted_ms = 0 "
                               "AND p.status IN ('Binding', 'Bound', 'Running', 'Releasing')";
static const char SQL_DELETE[] =
    "UPDATE node_pools SET phase = 'Deleted', deleted_ms = ?2, updated_ms = ?2, revision = ?3 WHERE id = ?1";
// A list of defaults that becomes empty is none.
static const char SQL_FORGET_PROJECTS[] =
    "UPDATE projects SET default_node_pools_json = (SELECT nullif(json_group_array(each.value), '[]') "
    "FROM json_each(default_node_pools_json) AS each WHERE each.value <> ?1), revision = ?2 "
    "WHERE cluster_id = ?3 AND EXISTS (SELECT 1 FROM json_each(default_node_pools_json) AS each WHERE each.value = ?1)";
static const char SQL_FORGET_DEPARTMENTS[] =
    "UPDATE departments SET default_node_pools_json = (SELECT nullif(json_group_array(each.value), '[]') "
    "FROM json_each(default_node_pools_json) AS each WHERE each.value <> ?1), revision = ?2 "
    "WHERE cluster_id = ?3 AND EXISTS (SELECT 1 FROM json_each(default_node_pools_json) AS each WHERE each.value = ?1)";
static const char SQL_FIND[] =
    "SELECT " NODE_POOL_COLUMNS " FROM " NODE_POOL_FROM " WHERE np.id = ? AND np.deleted_ms = 0";
static const char SQL_FIND_BY_NAME[] = "SELECT " NODE_POOL_COLUMNS " FROM " NODE_POOL_FROM
                                       " WHERE np.cluster_id = ? AND np.name = ? AND np.deleted_ms = 0";
static const char SQL_FIND_DEFAULT[] =
    "SELECT id FROM node_pools WHERE cluster_id = ? AND is_default AND deleted_ms = 0";

static int check_taken(struct db_conn *conn, const struct node_pool *pool, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct arena arena;
    arena_init(&arena);
    int rc = db_prepare(conn, SQL_TAKEN, &stmt, err);
    if (rc < 0)
        goto done;
    db_bind_int(stmt, 1, pool->cluster_id);
    db_bind_text(stmt, 2, pool->name);
    db_bind_text(stmt, 3, pool->label_key);
    db_bind_text(stmt, 4, pool->label_value);
    db_bind_int(stmt, 5, pool->id);
    rc = db_step(conn, stmt, err);
    if (rc == 1 && db_column_int(stmt, 1))
        rc = error_set(err, ERROR_INVALID, "name: node pool %s exists in this cluster", pool->name);
    else if (rc == 1)
        rc = error_set(err, ERROR_INVALID, "labelValue: nodes with %s=%s belong to node pool %s", pool->label_key,
                       pool->label_value, db_column_text(stmt, 0, &arena));
done:
    db_release(conn, stmt);
    arena_done(&arena);
    return rc;
}

static int check_topology(struct db_conn *conn, const struct node_pool *pool, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!pool->network_topology_id)
        return 0;
    if (db_prepare(conn, SQL_TOPOLOGY, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, pool->cluster_id);
    db_bind_text(stmt, 2, pool->network_topology_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1 && db_column_int(stmt, 0) == 0)
        rc = error_set(err, ERROR_INVALID, "networkTopologyId: no topology %s in this cluster",
                       pool->network_topology_id);
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int write_pool(struct db_conn *conn, const char *sql, const struct node_pool *pool, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (check_taken(conn, pool, err) < 0 || check_topology(conn, pool, err) < 0 ||
        db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 4, pool->label_key);
    db_bind_text(stmt, 5, pool->label_value);
    db_bind_text(stmt, 6, pool->gpu_placement);
    db_bind_text(stmt, 7, pool->cpu_placement);
    db_bind_int(stmt, 8, pool->min_guaranteed_runtime_ms);
    db_bind_text(stmt, 9, pool->time_based_fairshare_json);
    db_bind_real(stmt, 10, pool->over_provisioning_ratio);
    db_bind_text(stmt, 11, pool->network_topology_id);
    db_bind_text(stmt, 12, pool->settings_json);
    db_bind_text(stmt, 14, pool->updated_by);
    db_bind_int(stmt, 16, pool->updated_ms);
    db_bind_int(stmt, 17, db_revision(conn));
    if (sql == SQL_INSERT) {
        db_bind_int(stmt, 1, pool->cluster_id);
        db_bind_text(stmt, 2, pool->name);
        db_bind_int(stmt, 3, pool->is_default);
        db_bind_text(stmt, 13, pool->created_by);
        db_bind_int(stmt, 15, pool->created_ms);
    } else {
        db_bind_int(stmt, 18, pool->id);
    }
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_create_node_pool(struct db_conn *conn, struct node_pool *pool, struct error *err)
{
    pool->id = 0;
    if (write_pool(conn, SQL_INSERT, pool, err) < 0)
        return -1;
    pool->id = db_last_insert_id(conn);
    db_touch_number(conn, CHANGE_NODE_POOL, pool->id);
    if (queues_fill(conn, pool->cluster_id, err) < 0 || org_events_add_pool_creation(conn, pool, err) < 0)
        return -1;
    return db_assign_nodes_to_pools(conn, pool->cluster_id, pool->updated_ms, err);
}

int db_update_node_pool(struct db_conn *conn, const struct node_pool *pool, struct error *err)
{
    struct arena arena;
    struct node_pool before;
    arena_init(&arena);
    int rc = db_find_node_pool(conn, pool->id, &arena, &before, err);
    if (rc == 0)
        rc = write_pool(conn, SQL_UPDATE, pool, err);
    if (rc == 0)
        rc = org_events_add_pool_change(conn, &before, pool, &arena, err);
    arena_done(&arena);
    if (rc < 0)
        return -1;
    db_touch_number(conn, CHANGE_NODE_POOL, pool->id);
    return db_assign_nodes_to_pools(conn, pool->cluster_id, pool->updated_ms, err);
}

static int check_unused(struct db_conn *conn, const struct node_pool *pool, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (pool->is_default)
        return error_set(err, ERROR_INVALID, "node pool %s: the default node pool cannot be deleted", pool->name);
    if (db_prepare(conn, SQL_HELD, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, pool->id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1 && db_column_int(stmt, 0) > 0)
        rc = error_set(err, ERROR_INVALID, "node pool %s: %" PRId64 " pods run in it, %s among them", pool->name,
                       (int64_t)db_column_int(stmt, 0), db_column_text(stmt, 1, arena));
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int forget_pool(struct db_conn *conn, const char *sql, const struct node_pool *pool, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, pool->name);
    db_bind_int(stmt, 2, db_revision(conn));
    db_bind_int(stmt, 3, pool->cluster_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int mark_deleted(struct db_conn *conn, const struct node_pool *pool, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, pool->id);
    db_bind_int(stmt, 2, now_ms);
    db_bind_int(stmt, 3, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_NODE_POOL, pool->id);
    return rc;
}

int db_delete_node_pool(struct db_conn *conn, int64_t id, const char *who, int64_t now_ms, struct error *err)
{
    struct arena arena;
    struct node_pool pool;
    arena_init(&arena);
    int rc = db_find_node_pool(conn, id, &arena, &pool, err);
    if (rc == 0 &&
        (check_unused(conn, &pool, &arena, err) < 0 || mark_deleted(conn, &pool, now_ms, err) < 0 ||
         org_events_add_pool_deletion(conn, &pool, who, now_ms, err) < 0 || queues_delete_of_pool(conn, id, err) < 0 ||
         forget_pool(conn, SQL_FORGET_PROJECTS, &pool, err) < 0 ||
         forget_pool(conn, SQL_FORGET_DEPARTMENTS, &pool, err) < 0 ||
         db_assign_nodes_to_pools(conn, pool.cluster_id, now_ms, err) < 0))
        rc = -1;
    arena_done(&arena);
    return rc;
}

void node_pool_from_row(sqlite3_stmt *stmt, struct arena *arena, struct node_pool *out_pool)
{
    *out_pool = (struct node_pool){
        .id = db_column_int(stmt, 0),
        .cluster_id = db_column_int(stmt, 1),
        .cluster_uuid = db_column_text(stmt, 2, arena),
        .cluster_name = db_column_text(stmt, 3, arena),
        .name = db_column_text(stmt, 4, arena),
        .is_default = db_column_int(stmt, 5) != 0,
        .label_key = db_column_text(stmt, 6, arena),
        .label_value = db_column_text(stmt, 7, arena),
        .phase = db_column_text(stmt, 8, arena),
        .phase_message = db_column_text(stmt, 9, arena),
        .gpu_placement = db_column_text(stmt, 10, arena),
        .cpu_placement = db_column_text(stmt, 11, arena),
        .min_guaranteed_runtime_ms = db_column_int(stmt, 12),
        .time_based_fairshare_json = db_column_text(stmt, 13, arena),
        .over_provisioning_ratio = db_column_real(stmt, 14),
        .network_topology_id = db_column_text(stmt, 15, arena),
        .network_topology_name = db_column_text(stmt, 16, arena),
        .settings_json = db_column_text(stmt, 17, arena),
        .nodes_json = db_column_text(stmt, 18, arena),
        .created_by = db_column_text(stmt, 19, arena),
        .updated_by = db_column_text(stmt, 20, arena),
        .created_ms = db_column_int(stmt, 21),
        .updated_ms = db_column_int(stmt, 22),
        .outside_topology_json = db_column_text(stmt, 23, arena),
    };
}

static int fetch_pool(struct db_conn *conn, sqlite3_stmt *stmt, const char *what, struct arena *arena,
                      struct node_pool *out_pool, struct error *err)
{
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        node_pool_from_row(stmt, arena, out_pool);
    else if (rc == 0)
        error_set(err, ERROR_NOT_FOUND, "node pool %.80s: not found", what);
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}

int db_find_node_pool(struct db_conn *conn, int64_t id, struct arena *arena, struct node_pool *out_pool,
                      struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    return fetch_pool(conn, stmt, arena_printf(arena, "%" PRId64, id), arena, out_pool, err);
}

int db_find_node_pool_by_name(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                              struct node_pool *out_pool, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_BY_NAME, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    db_bind_text(stmt, 2, name);
    return fetch_pool(conn, stmt, name, arena, out_pool, err);
}

int db_find_default_node_pool(struct db_conn *conn, int64_t cluster_id, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_DEFAULT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_id = db_column_int(stmt, 0);
    else if (rc == 0)
        error_set(err, ERROR_NOT_FOUND, "the cluster has no default node pool");
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}
