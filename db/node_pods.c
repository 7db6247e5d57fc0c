#include "db/node_pods.h"

#include "base/arena.h"
#include "db/db.h"

#include <string.h>

static const char SQL_READ[] =
    "SELECT p.node_id, p.status, w.preemptible, p.gpu_allocated_milli, p.gpu_indices_json, "
    "p.cpu_milli, p.memory_bytes, w.uuid, w.name, w.project_name, w.cluster_id, w.department_id, "
    "w.project_id, w.department_name, p.started_ms, p.id, p.name FROM pods p CROSS JOIN workloads w ON w.id = "
    "p.workload_id "
    "WHERE p.node_id IN (SELECT value FROM json_each(?)) AND p.deleted_ms = 0 "
    "AND p.status IN ('Binding', 'Bound', 'Running', 'Releasing') ORDER BY p.node_id, p.id";

static struct node_pod read_pod(sqlite3_stmt *stmt, struct arena *arena)
{
    return (struct node_pod){
        .node_id = db_column_int(stmt, 0),
        .is_releasing = strcmp(db_column_text(stmt, 1, arena), "Releasing") == 0,
        .is_preemptible = db_column_int(stmt, 2) != 0,
        .gpu_milli = db_column_int(stmt, 3),
        .gpu_indices_json = db_column_text(stmt, 4, arena),
        .cpu_milli = db_column_int(stmt, 5),
        .memory_bytes = db_column_int(stmt, 6),
        .workload_uuid = db_column_text(stmt, 7, arena),
        .workload_name = db_column_text(stmt, 8, arena),
        .project_name = db_column_text(stmt, 9, arena),
        .path = {.cluster_id = db_column_int(stmt, 10),
                 .department_id = db_column_int(stmt, 11),
                 .project_id = db_column_int(stmt, 12)},
        .department_name = db_column_text(stmt, 13, arena),
        .started_ms = db_column_int(stmt, 14),
        .id = db_column_int(stmt, 15),
        .name = db_column_text(stmt, 16, arena),
    };
}

int db_read_node_pods(struct db_conn *conn, const char *node_ids_json, struct arena *arena, struct node_pod **out_pods,
                      size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_READ, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, node_ids_json);
    struct node_pod *pods = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        pods = arena_grow(arena, pods, &capacity, count + 1, sizeof(*pods));
        pods[count++] = read_pod(stmt, arena);
    }
    db_release(conn, stmt);
    *out_pods = pods;
    *out_count = count;
    return rc;
}
