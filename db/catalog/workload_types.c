#include "db/catalog/workload_types.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#define SELECT_TYPE                                                                                                  \
    "SELECT uuid, name, group_name, category, priority_class, resource_interfaces_json, is_predefined, created_by, " \
    "created_ms, updated_by, updated_ms FROM workload_types "
static const char SQL_ALL[] = SELECT_TYPE "ORDER BY id";
static const char SQL_BY_UUID[] = SELECT_TYPE "WHERE uuid = ?";
static const char SQL_BY_NAME[] = SELECT_TYPE "WHERE name = ? AND group_name = 'run.ai'";
static const char SQL_COUNT[] = "SELECT count(*) FROM workload_types";
static const char SQL_INSERT[] =
    "INSERT INTO workload_types (uuid, name, group_name, category, priority_class, resource_interfaces_json, "
    "created_by, created_ms, updated_by, updated_ms) VALUES (:uuid, :name, :group, :category, :priority_class, "
    ":resource_interfaces_json, :created_by, :created_ms, :created_by, :created_ms)";
static const char SQL_UPDATE[] =
    "UPDATE workload_types SET category = :category, priority_class = :priority_class, resource_interfaces_json = "
    ":resource_interfaces_json, updated_by = :updated_by, updated_ms = :updated_ms WHERE uuid = :uuid";
static const char SQL_DELETE[] = "DELETE FROM workload_types WHERE uuid = ? AND is_predefined = 0";

static void type_from_row(sqlite3_stmt *stmt, struct arena *arena, struct workload_type_row *out_type)
{
    *out_type = (struct workload_type_row){
        .uuid = db_column_text(stmt, 0, arena),
        .name = db_column_text(stmt, 1, arena),
        .group = db_column_text(stmt, 2, arena),
        .category = db_column_text(stmt, 3, arena),
        .priority_class = db_column_text(stmt, 4, arena),
        .resource_interfaces_json = db_column_text(stmt, 5, arena),
        .is_predefined = db_column_int(stmt, 6) != 0,
        .created_by = db_column_text(stmt, 7, arena),
        .created_ms = db_column_int(stmt, 8),
        .updated_by = db_column_text(stmt, 9, arena),
        .updated_ms = db_column_int(stmt, 10),
    };
}

int db_list_workload_types(struct db_conn *conn, struct arena *arena, struct workload_type_row **out_types,
                           size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct workload_type_row *types = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_ALL, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        types = arena_grow(arena, types, &capacity, count + 1, sizeof(*types));
        type_from_row(stmt, arena, &types[count++]);
    }
    db_release(conn, stmt);
    *out_types = types;
    *out_count = count;
    return rc;
}

static int find_one(struct db_conn *conn, const char *sql, const char *word, struct arena *arena,
                    struct workload_type_row *out_type, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, word);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        type_from_row(stmt, arena, out_type);
    db_release(conn, stmt);
    return rc;
}

int db_find_workload_type(struct db_conn *conn, const char *uuid, struct arena *arena,
                          struct workload_type_row *out_type, struct error *err)
{
    return find_one(conn, SQL_BY_UUID, uuid, arena, out_type, err);
}

int db_find_submitted_type(struct db_conn *conn, const char *name, struct arena *arena,
                           struct workload_type_row *out_type, struct error *err)
{
    return find_one(conn, SQL_BY_NAME, name, arena, out_type, err);
}

static int create_type(struct db_conn *conn, void *context, struct error *err)
{
    const struct workload_type_row *type = context;
    sqlite3_stmt *stmt = NULL;
    int64_t count = 0;
    if (db_read_number(conn, SQL_COUNT, &count, err) < 0)
        return -1;
    if (count >= WORKLOAD_TYPES_MAX)
        return error_set(err, ERROR_CONFLICT, "there are %d workload types already, and no more may be made",
                         WORKLOAD_TYPES_MAX);
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", type->uuid);
    db_set_text(stmt, ":name", type->name);
    db_set_text(stmt, ":group", type->group);
    db_set_text(stmt, ":category", type->category);
    db_set_text(stmt, ":priority_class", type->priority_class);
    db_set_text(stmt, ":resource_interfaces_json", type->resource_interfaces_json);
    db_set_text(stmt, ":created_by", type->created_by);
    db_set_int(stmt, ":created_ms", type->created_ms);
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: there is a workload type %.100s of %.100s already", type->name,
                         type->group);
    if (rc < 0 && err)
        *err = cause;
    if (rc == 0)
        db_touch(conn, CHANGE_SETTING, type->uuid);
    return rc;
}

int db_create_workload_type(struct db *db, const struct workload_type_row *type, struct error *err)
{
    struct workload_type_row copy = *type;
    return db_write(db, create_type, &copy, err);
}

static int end_change(struct db_conn *conn, const char *uuid, struct error *err)
{
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "workload type %.60s: not found", uuid);
    db_touch(conn, CHANGE_SETTING, uuid);
    return 0;
}

static int update_type(struct db_conn *conn, void *context, struct error *err)
{
    const struct workload_type_row *type = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", type->uuid);
    db_set_text(stmt, ":category", type->category);
    db_set_text(stmt, ":priority_class", type->priority_class);
    db_set_text(stmt, ":resource_interfaces_json", type->resource_interfaces_json);
    db_set_text(stmt, ":updated_by", type->updated_by);
    db_set_int(stmt, ":updated_ms", type->updated_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc < 0 ? -1 : end_change(conn, type->uuid, err);
}

int db_update_workload_type(struct db *db, const struct workload_type_row *type, struct error *err)
{
    struct workload_type_row copy = *type;
    return db_write(db, update_type, &copy, err);
}

static int delete_type(struct db_conn *conn, void *context, struct error *err)
{
    const char *const *uuid = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, *uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc < 0 ? -1 : end_change(conn, *uuid, err);
}

int db_delete_workload_type(struct db *db, const char *uuid, struct error *err)
{
    return db_write(db, delete_type, &uuid, err);
}
