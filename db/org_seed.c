#include "db/org_seed.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/clusters.h"
#include "db/db.h"

static const char SQL_CLUSTER[] = "SELECT id FROM clusters ORDER BY id LIMIT 1";
// CPU and memory stay unlimited.
static const char SQL_DEFAULT_QUOTA[] =
    "UPDATE queues SET revision = ?2, gpu_deserved_milli = CAST(1000 * "
    "(SELECT total(n.gpu_count) FROM nodes n WHERE n.node_pool_id = queues.node_pool_id AND n.deleted_ms = 0) AS "
    "INTEGER) "
    "WHERE (owner_kind, owner_id) IN (SELECT 'department', id FROM departments WHERE is_default AND cluster_id = ?1 "
    "UNION ALL SELECT 'project', id FROM projects WHERE is_default AND cluster_id = ?1)";

int org_seed(struct db_conn *conn, const char *cluster_name, const char *version, int64_t now_ms,
             int64_t *out_cluster_id, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int64_t id = 0;
    int rc = db_read_number(conn, SQL_CLUSTER, &id, err);
    if (rc < 0 || id)
        goto done;
    struct cluster cluster = {.name = cluster_name,
                              .state = "Connected",
                              .version = version,
                              .created_ms = now_ms,
                              .updated_ms = now_ms,
                              .last_seen_ms = now_ms};
    rc = db_create_cluster(conn, &cluster, "prorata", &arena, err);
    id = cluster.id;
done:
    arena_done(&arena);
    if (rc == 0)
        *out_cluster_id = id;
    return rc;
}

int org_seed_default_quota(struct db_conn *conn, int64_t cluster_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DEFAULT_QUOTA, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    db_bind_int(stmt, 2, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_CLUSTER, cluster_id);
    return rc;
}
