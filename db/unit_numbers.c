#include "db/unit_numbers.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "db/db.h"
#include "db/queues.h"
#include "db/scopes.h"

#include <string.h>

static const char *const SQL_WORKLOADS[] = {
    [ORG_UNIT_PROJECT] = "SELECT s.project_id, sum(s.workload_count) FROM workload_sums s "
                         "WHERE s.project_id IN (SELECT value FROM json_each(?)) GROUP BY 1 ORDER BY 1",
    [ORG_UNIT_DEPARTMENT] =
        "SELECT p.department_id, sum(s.workload_count) FROM projects p JOIN workload_sums s ON s.project_id = p.id "
        "WHERE p.department_id IN (SELECT value FROM json_each(?)) GROUP BY 1 ORDER BY 1",
};

static const char SQL_PROJECT_WORK[] =
    "SELECT p.id, p.name, p.namespace, coalesce(sum(s.workload_count), 0), "
    "coalesce(sum(s.workload_count) FILTER (WHERE p.phase <> 'Deleting' "
    "AND s.phase NOT IN ('Completed', 'Failed', 'Deleting')), 0) "
    "FROM projects p LEFT JOIN workload_sums s ON s.project_id = p.id WHERE p.department_id = ? "
    "GROUP BY p.id ORDER BY p.name";

static const char *const SQL_UNITS[] = {
    [ORG_UNIT_PROJECT] = "SELECT p.id, p.cluster_id, p.department_id, p.id, c.uuid FROM projects p "
                         "JOIN clusters c ON c.id = p.cluster_id WHERE p.id IN (SELECT value FROM json_each(?))",
    [ORG_UNIT_DEPARTMENT] = "SELECT d.id, d.cluster_id, d.id, NULL, c.uuid FROM departments d "
                            "JOIN clusters c ON c.id = d.cluster_id WHERE d.id IN (SELECT value FROM json_each(?))",
};
// Each unit with the places that contain it, as access rules name them; then the rules there.
static const char SQL_PLACES[] =
    "places(unit_id, scope_type, scope_id, cluster_id, department_id, project_id) AS ("
    "SELECT id, 'system', '1', NULL, NULL, NULL FROM units UNION ALL "
    "SELECT id, 'tenant', '1', NULL, NULL, NULL FROM units UNION ALL "
    "SELECT id, 'cluster', uuid, cluster_id, NULL, NULL FROM units UNION ALL "
    "SELECT id, 'department', CAST(department_id AS TEXT), cluster_id, department_id, NULL FROM units UNION ALL "
    "SELECT id, 'project', CAST(project_id AS TEXT), cluster_id, department_id, project_id FROM units) "
    "SELECT l.unit_id, count(DISTINCT replace(r.subject_type, 'app', 'service-account') || ' ' || r.subject_id) "
    "FROM places l JOIN access_rules r ON r.scope_type = l.scope_type AND r.scope_id = l.scope_id "
    "WHERE r.deleted_ms = 0 AND (r.expires_ms = 0 OR r.expires_ms > ?)";

// The statement's rows are (id, number) by id; a unit without a row has 0.
static int read_numbers(struct db_conn *conn, sqlite3_stmt *stmt, struct org_unit *units, size_t count,
                        struct arena *arena, int64_t *out_numbers, struct error *err)
{
    struct org_unit **sorted = db_units_by_id(units, count, arena);
    size_t at = 0;
    int rc;
    memset(out_numbers, 0, count * sizeof(*out_numbers));
    while ((rc = db_step(conn, stmt, err)) == 1) {
        while (sorted[at]->id != db_column_int(stmt, 0))
            at++;
        out_numbers[sorted[at] - units] = db_column_int(stmt, 1);
    }
    return rc;
}

int db_count_unit_workloads(struct db_conn *conn, struct org_unit *units, size_t count, struct arena *arena,
                            int64_t *out_numbers, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (count == 0)
        return 0;
    if (db_prepare(conn, SQL_WORKLOADS[units[0].kind], &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, db_unit_ids(units, count, arena));
    int rc = read_numbers(conn, stmt, units, count, arena, out_numbers, err);
    db_release(conn, stmt);
    return rc;
}

int db_count_unit_subjects(struct db_conn *conn, struct org_unit *units, size_t count, const struct scope_filter *shown,
                           int64_t now_ms, struct arena *arena, int64_t *out_numbers, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct buffer sql;
    const char *lists[3];
    if (count == 0)
        return 0;
    buffer_init(&sql, 0);
    buffer_printf(&sql, "WITH units(id, cluster_id, department_id, project_id, uuid) AS (%s), %s AND ",
                  SQL_UNITS[units[0].kind], SQL_PLACES);
    scope_filter_sql(shown, &sql, "l.cluster_id", "l.department_id", "l.project_id");
    buffer_text(&sql, " GROUP BY 1 ORDER BY 1");
    int rc = db_prepare_once(conn, sql.data, &stmt, err); // kept statements are known by the address of their text
    buffer_done(&sql);
    if (rc < 0)
        return -1;
    db_bind_text(stmt, 1, db_unit_ids(units, count, arena));
    db_bind_int(stmt, 2, now_ms);
    scope_filter_lists(shown, arena, lists);
    for (int i = 0; i < 3 && !shown->is_all; i++)
        db_bind_text(stmt, 3 + i, lists[i]);
    rc = read_numbers(conn, stmt, units, count, arena, out_numbers, err);
    db_release(conn, stmt);
    return rc;
}

int db_list_project_work(struct db_conn *conn, int64_t department_id, struct arena *arena,
                         struct project_work **out_projects, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    int rc;
    *out_projects = NULL;
    *out_count = 0;
    if (db_prepare(conn, SQL_PROJECT_WORK, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, department_id);
    while ((rc = db_step(conn, stmt, err)) == 1) {
        *out_projects = arena_grow(arena, *out_projects, &capacity, *out_count + 1, sizeof(**out_projects));
        (*out_projects)[(*out_count)++] = (struct project_work){.id = db_column_int(stmt, 0),
                                                                .name = db_column_text(stmt, 1, arena),
                                                                .name_space = db_column_text(stmt, 2, arena),
                                                                .workload_count = db_column_int(stmt, 3),
                                                                .unfinished_count = db_column_int(stmt, 4)};
    }
    db_release(conn, stmt);
    return rc;
}
