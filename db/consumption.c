#include "db/consumption.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"
#include "db/scopes.h"

#include <stdlib.h>

// :until is the earlier of the period's end and now.
static const char SQL_HELD[] =
    "WITH held AS ("
    "SELECT project_id, department_id, node_pool_id, project_name, gpu_milli * held_ms AS gpu, "
    "cpu_milli * held_ms AS cpu, (memory_bytes + 1048575) / 1048576 * held_ms AS memory FROM ("
    "SELECT *, min(iif(ended_ms > 0, ended_ms, :until), :until) - max(started_ms, :start) AS held_ms FROM allocations "
    "WHERE started_ms < :until AND (ended_ms = 0 OR ended_ms > :start)) "
    "UNION ALL SELECT project_id, department_id, node_pool_id, project_name, gpu_milli_ms * part, cpu_milli_ms * part, "
    "memory_mib_ms * part FROM ("
    "SELECT *, (min(day_ms + 86400000, :end) - max(day_ms, :start)) / 86400000.0 AS part FROM usage_days "
    "WHERE day_ms < :end AND day_ms > :start - 86400000)) "
    "SELECT ";
static const char SQL_FROM[] =
    ", total(gpu) / 3600000000.0, total(cpu) / 3600000000.0, total(memory) * 1.048576 / 3600000000.0 FROM held h "
    "LEFT JOIN projects p ON p.id = h.project_id LEFT JOIN departments d ON d.id = h.department_id "
    "LEFT JOIN node_pools n ON n.id = h.node_pool_id "
    "LEFT JOIN clusters c ON c.id = coalesce(p.cluster_id, d.cluster_id) WHERE "
    "(:projects IS NULL OR coalesce(p.name, h.project_name) IN (SELECT value FROM json_each(:projects))) "
    "AND (:departments IS NULL OR d.name IN (SELECT value FROM json_each(:departments))) "
    "AND (:clusters IS NULL OR c.uuid IN (SELECT value FROM json_each(:clusters))) AND ";

// What it is called, and what tells one from another of that name.
static const struct {
    const char *name, *id;
} GROUPS[] = {
    [CONSUMPTION_BY_NOTHING] = {"''", "1"},
    [CONSUMPTION_BY_NODE_POOL] = {"coalesce(n.name, '')", "h.node_pool_id"},
    [CONSUMPTION_BY_PROJECT] = {"coalesce(p.name, max(h.project_name))", "h.project_id"},
    [CONSUMPTION_BY_DEPARTMENT] = {"coalesce(d.name, '')", "h.department_id"},
    [CONSUMPTION_BY_CLUSTER] = {"coalesce(c.name, '')", "c.id"},
};

static char *make_sql(const struct consumption_query *query)
{
    struct buffer sql;
    buffer_init(&sql, 0);
    buffer_text(&sql, SQL_HELD);
    buffer_text(&sql, GROUPS[query->group].name);
    buffer_text(&sql, SQL_FROM);
    scope_filter_sql(query->shown, &sql, "c.id", "h.department_id", "h.project_id");
    buffer_printf(&sql, " GROUP BY %s ORDER BY 1, %s", GROUPS[query->group].id, GROUPS[query->group].id);
    return buffer_take(&sql);
}

enum {
    FIRST_OF_SCOPE = 7 // the six named parameters come before
};

static void bind(sqlite3_stmt *stmt, const struct consumption_query *query, struct arena *arena)
{
    db_set_int(stmt, ":start", query->start_ms);
    db_set_int(stmt, ":end", query->end_ms);
    db_set_int(stmt, ":until", query->end_ms < query->now_ms ? query->end_ms : query->now_ms);
    db_set_text(stmt, ":projects", query->project_names_json);
    db_set_text(stmt, ":departments", query->department_names_json);
    db_set_text(stmt, ":clusters", query->cluster_uuids_json);
    const char *lists[3];
    scope_filter_lists(query->shown, arena, lists);
    for (int i = 0; i < 3 && !query->shown->is_all; i++)
        db_bind_text(stmt, FIRST_OF_SCOPE + i, lists[i]);
}

int db_sum_consumption(struct db_conn *conn, const struct consumption_query *query, struct arena *arena,
                       struct consumption **out_rows, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct consumption *rows = NULL;
    size_t count = 0, capacity = 0;
    char *sql = make_sql(query);
    int rc = db_prepare_once(conn, sql, &stmt, err);
    if (rc == 0)
        bind(stmt, query, arena);
    while (rc >= 0 && (rc = db_step(conn, stmt, err)) > 0) {
        rows = arena_grow(arena, rows, &capacity, count + 1, sizeof(*rows));
        rows[count++] = (struct consumption){.name = db_column_text(stmt, 0, arena),
                                             .gpu_hours = db_column_real(stmt, 1),
                                             .cpu_core_hours = db_column_real(stmt, 2),
                                             .memory_gb_hours = db_column_real(stmt, 3)};
    }
    db_release(conn, stmt);
    free(sql);
    *out_rows = rows;
    *out_count = count;
    return rc;
}
