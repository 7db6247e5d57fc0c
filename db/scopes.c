#include "db/scopes.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const char SQL_PROJECT[] = "SELECT cluster_id, department_id, name FROM projects WHERE id = ?";
static const char SQL_DEPARTMENT[] = "SELECT cluster_id, id, name FROM departments WHERE id = ?";
static const char SQL_CLUSTER[] = "SELECT id, 0, name FROM clusters WHERE uuid = ?";
static const char SQL_TENANT_NAME[] = "SELECT value FROM meta WHERE key = 'tenant_name'";

void scope_filter_sql(const struct scope_filter *filter, struct buffer *sql, const char *cluster_column,
                      const char *department_column, const char *project_column)
{
    if (filter->is_all)
        buffer_text(sql, "(1)");
    else
        buffer_printf(sql,
                      "(%s IN (SELECT value FROM json_each(?)) OR %s IN (SELECT value FROM json_each(?)) OR "
                      "%s IN (SELECT value FROM json_each(?)))",
                      cluster_column, department_column, project_column);
}

static void write_list(struct buffer *list, const int64_t *ids, size_t count)
{
    buffer_clear(list);
    buffer_char(list, '[');
    for (size_t i = 0; i < count; i++)
        buffer_printf(list, "%s%" PRId64, i ? "," : "", ids[i]);
    buffer_char(list, ']');
}

void scope_filter_lists(const struct scope_filter *filter, struct arena *arena, const char *out_lists[3])
{
    struct buffer list;
    buffer_init(&list, 0);
    write_list(&list, filter->cluster_ids, filter->cluster_count);
    out_lists[0] = arena_strdup(arena, list.data);
    write_list(&list, filter->department_ids, filter->department_count);
    out_lists[1] = arena_strdup(arena, list.data);
    write_list(&list, filter->project_ids, filter->project_count);
    out_lists[2] = arena_strdup(arena, list.data);
    buffer_done(&list);
}

static int read_path(struct db_conn *conn, const char *sql, const char *text_key, int64_t key, struct arena *arena,
                     struct scope_path *out_path, const char **out_name, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (text_key)
        db_bind_text(stmt, 1, text_key);
    else
        db_bind_int(stmt, 1, key);
    int rc = db_step(conn, stmt, err);
    if (rc > 0) {
        *out_path = (struct scope_path){.cluster_id = db_column_int(stmt, 0), .department_id = db_column_int(stmt, 1)};
        if (out_name)
            *out_name = db_column_text(stmt, 2, arena);
    }
    db_release(conn, stmt);
    return rc;
}

int db_find_project_path(struct db_conn *conn, int64_t project_id, struct scope_path *out_path, struct error *err)
{
    int rc = read_path(conn, SQL_PROJECT, NULL, project_id, NULL, out_path, NULL, err);
    if (rc > 0)
        out_path->project_id = project_id;
    return rc;
}

int db_find_department_path(struct db_conn *conn, int64_t department_id, struct scope_path *out_path, struct error *err)
{
    return read_path(conn, SQL_DEPARTMENT, NULL, department_id, NULL, out_path, NULL, err);
}

static int find_tenant(struct db_conn *conn, struct arena *arena, const char **out_name, struct error *err)
{
    if (!out_name)
        return 1;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_TENANT_NAME, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc >= 0)
        *out_name = rc > 0 ? db_column_text(stmt, 0, arena) : "prorata";
    db_release(conn, stmt);
    return rc < 0 ? -1 : 1;
}

// Ids as they are written, and no other way: a rule is found again by the text that was given.
static int64_t scope_id_parse(const char *text)
{
    errno = 0;
    char *end;
    int64_t id = text[0] >= '1' && text[0] <= '9' ? strtoll(text, &end, 10) : 0;
    return id && !errno && !*end ? id : 0;
}

int db_find_scope(struct db_conn *conn, enum scope_type type, const char *scope_id, struct arena *arena,
                  struct scope_path *out_path, const char **out_name, struct error *err)
{
    int64_t id = type == SCOPE_CLUSTER ? 0 : scope_id_parse(scope_id);
    if (type == SCOPE_SYSTEM || (type == SCOPE_TENANT && id == TENANT_ID)) {
        *out_path = (struct scope_path){0};
        return find_tenant(conn, arena, out_name, err);
    }
    if (type == SCOPE_CLUSTER)
        return read_path(conn, SQL_CLUSTER, scope_id, 0, arena, out_path, out_name, err);
    if (type == SCOPE_TENANT || id <= 0)
        return 0;
    int rc =
        read_path(conn, type == SCOPE_PROJECT ? SQL_PROJECT : SQL_DEPARTMENT, NULL, id, arena, out_path, out_name, err);
    if (rc > 0 && type == SCOPE_PROJECT)
        out_path->project_id = id;
    return rc;
}
