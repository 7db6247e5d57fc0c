#include "db/policies/policies.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#define SELECT_POLICY                                                                                                 \
    "SELECT y.uuid, y.kind, y.scope, coalesce(p.cluster_id, d.cluster_id, c.id), coalesce(p.department_id, d.id), "   \
    "p.id, coalesce(c.uuid, CASE WHEN y.owner_id THEN CAST(y.owner_id AS TEXT) ELSE '' END), y.name, y.policy_json, " \
    "y.created_by, y.updated_by, y.created_ms, y.updated_ms FROM policies y "                                         \
    "LEFT JOIN projects p ON y.scope = 'project' AND p.id = y.owner_id "                                              \
    "LEFT JOIN departments d ON y.scope = 'department' AND d.id = y.owner_id "                                        \
    "LEFT JOIN clusters c ON y.scope = 'cluster' AND c.id = y.owner_id "
#define ORDER_BY_SCOPE \
    "ORDER BY CASE y.scope WHEN 'tenant' THEN 1 WHEN 'cluster' THEN 2 WHEN 'department' THEN 3 ELSE 4 END"
static const char SQL_AT[] = SELECT_POLICY "WHERE y.kind = :kind AND (y.scope = 'tenant' OR "
                                           "(y.scope = 'cluster' AND y.owner_id = :cluster) OR "
                                           "(y.scope = 'department' AND y.owner_id = :department) OR "
                                           "(y.scope = 'project' AND y.owner_id = :project)) " ORDER_BY_SCOPE;
static const char SQL_ALL[] = SELECT_POLICY ORDER_BY_SCOPE ", y.name, y.id";
static const char SQL_PUT[] =
    "INSERT INTO policies (uuid, kind, scope, owner_id, name, policy_json, created_by, updated_by, created_ms, "
    "updated_ms) VALUES (:uuid, :kind, :scope, :owner, :name, :policy, :updated_by, :updated_by, :updated_ms, "
    ":updated_ms) ON CONFLICT (kind, scope, owner_id) DO UPDATE SET name = excluded.name, "
    "policy_json = excluded.policy_json, updated_by = excluded.updated_by, updated_ms = excluded.updated_ms";
static const char SQL_DELETE[] =
    "DELETE FROM policies WHERE kind = :kind AND scope = :scope AND owner_id = :owner RETURNING uuid";

static void row_from(sqlite3_stmt *stmt, struct arena *arena, struct policy_row *out)
{
    *out = (struct policy_row){
        .uuid = db_column_text(stmt, 0, arena),
        .kind = db_column_text(stmt, 1, arena),
        .path = {.cluster_id = db_column_int(stmt, 3),
                 .department_id = db_column_int(stmt, 4),
                 .project_id = db_column_int(stmt, 5)},
        .scope_id = db_column_text(stmt, 6, arena),
        .name = db_column_text(stmt, 7, arena),
        .policy_json = db_column_text(stmt, 8, arena),
        .created_by = db_column_text(stmt, 9, arena),
        .updated_by = db_column_text(stmt, 10, arena),
        .created_ms = db_column_int(stmt, 11),
        .updated_ms = db_column_int(stmt, 12),
    };
    scope_type_parse(db_column_text(stmt, 2, arena), &out->scope);
}

static int64_t owner_of(enum scope_type scope, const struct scope_path *path)
{
    return scope == SCOPE_PROJECT      ? path->project_id
           : scope == SCOPE_DEPARTMENT ? path->department_id
           : scope == SCOPE_CLUSTER    ? path->cluster_id
                                       : 0;
}

// shown NULL: all. Gives the statement back.
static int read_rows(struct db_conn *conn, sqlite3_stmt *stmt, const struct scope_filter *shown, struct arena *arena,
                     struct policy_row **out_rows, size_t *out_count, struct error *err)
{
    struct policy_row *rows = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        rows = arena_grow(arena, rows, &capacity, count + 1, sizeof(*rows));
        row_from(stmt, arena, &rows[count]);
        if (!shown || scope_filter_shows(shown, &rows[count].path))
            count++;
    }
    db_release(conn, stmt);
    *out_rows = rows;
    *out_count = count;
    return rc;
}

int db_list_policies_at(struct db_conn *conn, const char *kind, const struct scope_path *path, struct arena *arena,
                        struct policy_row **out_rows, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_AT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":kind", kind);
    db_set_int(stmt, ":cluster", path->cluster_id);
    db_set_int(stmt, ":department", path->department_id);
    db_set_int(stmt, ":project", path->project_id);
    return read_rows(conn, stmt, NULL, arena, out_rows, out_count, err);
}

int db_list_policies(struct db_conn *conn, const struct scope_filter *shown, struct arena *arena,
                     struct policy_row **out_rows, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_ALL, &stmt, err) < 0)
        return -1;
    return read_rows(conn, stmt, shown, arena, out_rows, out_count, err);
}

int db_put_policy(struct db_conn *conn, const struct policy_row *row, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_PUT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", row->uuid);
    db_set_text(stmt, ":kind", row->kind);
    db_set_text(stmt, ":scope", scope_type_text(row->scope));
    db_set_int(stmt, ":owner", owner_of(row->scope, &row->path));
    db_set_text(stmt, ":name", row->name);
    db_set_text(stmt, ":policy", row->policy_json);
    db_set_text(stmt, ":updated_by", row->updated_by);
    db_set_int(stmt, ":updated_ms", row->updated_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0)
        db_touch(conn, CHANGE_POLICY, row->uuid);
    return rc;
}

int db_delete_policy(struct db_conn *conn, const char *kind, enum scope_type scope, const struct scope_path *path,
                     struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":kind", kind);
    db_set_text(stmt, ":scope", scope_type_text(scope));
    db_set_int(stmt, ":owner", owner_of(scope, path));
    int rc = db_step(conn, stmt, err);
    if (rc > 0) {
        size_t length;
        db_touch(conn, CHANGE_POLICY, db_column_view(stmt, 0, &length));
    }
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no policy is set here");
    return rc < 0 ? -1 : 0;
}
