#include "db/workload_places.h"

#include "db/db.h"
#include "db/org_units.h"

#include <string.h>

static const char SQL_FIND_PLACE[] =
    "SELECT p.cluster_id, p.department_id, p.id, c.uuid, p.name, d.name, p.namespace, p.phase, p.scheduling_rules_json,"
    " d.scheduling_rules_json, " PROJECT_NODE_POOLS ","
    " p.node_types_json, d.node_types_json, (SELECT number FROM project_numbers WHERE project_id = p.id) FROM projects "
    "p JOIN departments d ON d.id = p.department_id"
    " JOIN clusters c ON c.id = p.cluster_id WHERE p.id = ?";
static const char SQL_HAS_POOL[] = "SELECT 1 FROM node_pools WHERE cluster_id = ? AND name = ? AND deleted_ms = 0";

int db_find_workload_place(struct db_conn *conn, int64_t project_id, struct arena *arena,
                           struct workload_place *out_place, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_PLACE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, project_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_place = (struct workload_place){
            .scope = {.cluster_id = db_column_int(stmt, 0),
                      .department_id = db_column_int(stmt, 1),
                      .project_id = db_column_int(stmt, 2)},
            .cluster_uuid = db_column_text(stmt, 3, arena),
            .project_name = db_column_text(stmt, 4, arena),
            .department_name = db_column_text(stmt, 5, arena),
            .namespace_name = db_column_text(stmt, 6, arena),
            .is_deleting = strcmp(db_column_text(stmt, 7, arena), "Deleting") == 0,
            .project_rules_json = db_column_text(stmt, 8, arena),
            .department_rules_json = db_column_text(stmt, 9, arena),
            .default_node_pools_json = db_column_text(stmt, 10, arena),
            .node_types_json = db_column_text(stmt, 11, arena),
            .department_node_types_json = db_column_text(stmt, 12, arena),
            .project_number = db_column_int(stmt, 13),
        };
    db_release(conn, stmt);
    return rc;
}

int db_has_node_pool(struct db_conn *conn, int64_t cluster_id, const char *name, bool *out_found, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_HAS_POOL, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    db_bind_text(stmt, 2, name);
    int rc = db_step(conn, stmt, err);
    *out_found = rc == 1;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}
