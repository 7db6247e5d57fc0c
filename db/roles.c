#include "db/roles.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <inttypes.h>
#include <stdio.h>

#define SELECT_ROLE                                                                                               \
    "SELECT id, name, description, is_enabled, rights_json, created_by, created_ms, updated_by, updated_ms FROM " \
    "roles "
static const char SQL_BY_ID[] = SELECT_ROLE "WHERE id = ?";
static const char SQL_ALL[] = SELECT_ROLE "ORDER BY id";
static const char SQL_COUNT[] = "SELECT count(*) FROM roles";
static const char SQL_EXISTS[] = "SELECT 1 FROM roles WHERE id = ?";
static const char SQL_INSERT[] =
    "INSERT INTO roles (name, description, is_enabled, rights_json, created_by, created_ms, updated_by, updated_ms) "
    "VALUES (:name, :description, :is_enabled, :rights_json, :updated_by, :updated_ms, :updated_by, :updated_ms)";
static const char SQL_UPDATE[] =
    "UPDATE roles SET name = :name, description = :description, is_enabled = :is_enabled, rights_json = :rights_json, "
    "updated_by = :updated_by, updated_ms = :updated_ms WHERE id = :id";
static const char SQL_DELETE[] = "DELETE FROM roles WHERE id = ?";
static const char SQL_USES[] = "SELECT count(*) FROM access_rules WHERE role_id = ? AND deleted_ms = 0 AND "
                               "(expires_ms = 0 OR expires_ms > ?)";

static void role_from_row(sqlite3_stmt *stmt, struct arena *arena, struct custom_role *out_role)
{
    *out_role = (struct custom_role){
        .id = db_column_int(stmt, 0),
        .name = db_column_text(stmt, 1, arena),
        .description = db_column_text(stmt, 2, arena),
        .is_enabled = db_column_int(stmt, 3),
        .rights_json = db_column_text(stmt, 4, arena),
        .created_by = db_column_text(stmt, 5, arena),
        .created_ms = db_column_int(stmt, 6),
        .updated_by = db_column_text(stmt, 7, arena),
        .updated_ms = db_column_int(stmt, 8),
    };
}

int db_find_role(struct db_conn *conn, int64_t id, struct arena *arena, struct custom_role *out_role, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_ID, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        role_from_row(stmt, arena, out_role);
    db_release(conn, stmt);
    return rc;
}

int db_list_roles(struct db_conn *conn, struct arena *arena, struct custom_role **out_roles, size_t *out_count,
                  struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    int rc;
    *out_roles = NULL;
    *out_count = 0;
    if (db_prepare(conn, SQL_ALL, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        *out_roles = arena_grow(arena, *out_roles, &capacity, *out_count + 1, sizeof(**out_roles));
        role_from_row(stmt, arena, &(*out_roles)[(*out_count)++]);
    }
    db_release(conn, stmt);
    return rc;
}

// Roles and rules are told of by one kind of change; the word in front tells them apart.
static void touch(struct db_conn *conn, int64_t id)
{
    char text[32];
    snprintf(text, sizeof(text), "role-%" PRId64, id);
    db_touch(conn, CHANGE_ACCESS, text);
}

static int run_change(struct db_conn *conn, const char *sql, const struct custom_role *role, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (sql == SQL_UPDATE)
        db_set_int(stmt, ":id", role->id);
    db_set_text(stmt, ":name", role->name);
    db_set_text(stmt, ":description", role->description);
    db_set_int(stmt, ":is_enabled", role->is_enabled);
    db_set_text(stmt, ":rights_json", role->rights_json);
    db_set_text(stmt, ":updated_by", role->updated_by);
    db_set_int(stmt, ":updated_ms", role->updated_ms);
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: there is a role %.100s already", role->name);
    if (rc < 0 && err)
        *err = cause;
    return rc;
}

static int create_role(struct db_conn *conn, void *context, struct error *err)
{
    struct custom_role *role = context;
    int64_t count = 0;
    if (db_read_number(conn, SQL_COUNT, &count, err) < 0)
        return -1;
    if (count >= CUSTOM_ROLE_MAX)
        return error_set(err, ERROR_CONFLICT, "there are %d roles already, and no more may be made", CUSTOM_ROLE_MAX);
    if (run_change(conn, SQL_INSERT, role, err) < 0)
        return -1;
    role->id = db_last_insert_id(conn);
    touch(conn, role->id);
    return 0;
}

int db_create_role(struct db *db, struct custom_role *role, struct error *err)
{
    return db_write(db, create_role, role, err);
}

static int changed_one(struct db_conn *conn, int64_t id, struct error *err)
{
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "role %" PRId64 ": not found", id);
    touch(conn, id);
    return 0;
}

static int update_role(struct db_conn *conn, void *context, struct error *err)
{
    const struct custom_role *role = context;
    return run_change(conn, SQL_UPDATE, role, err) < 0 ? -1 : changed_one(conn, role->id, err);
}

int db_update_role(struct db *db, const struct custom_role *role, struct error *err)
{
    struct custom_role change = *role;
    return db_write(db, update_role, &change, err);
}

struct role_deletion {
    int64_t id;
    int64_t now_ms;
};

// A number by an id and a time; 0 where there is no row.
static int read_by_id(struct db_conn *conn, const char *sql, const struct role_deletion *key, int64_t *out_number,
                      struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, key->id);
    if (key->now_ms)
        db_bind_int(stmt, 2, key->now_ms);
    int rc = db_step(conn, stmt, err);
    *out_number = rc > 0 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_role_exists(struct db_conn *conn, int64_t id, struct error *err)
{
    int64_t found;
    if (read_by_id(conn, SQL_EXISTS, &(struct role_deletion){.id = id}, &found, err) < 0)
        return -1;
    return found ? 1 : 0;
}

static int delete_role(struct db_conn *conn, void *context, struct error *err)
{
    const struct role_deletion *deletion = context;
    int64_t uses;
    if (read_by_id(conn, SQL_USES, deletion, &uses, err) < 0)
        return -1;
    if (uses) {
        error_set(err, ERROR_CONFLICT, "role %" PRId64 ": %" PRId64 " access rule%s it", deletion->id, uses,
                  uses == 1 ? " gives" : "s give");
        return error_details(err, "delete the access rules first");
    }
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, deletion->id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc < 0 ? -1 : changed_one(conn, deletion->id, err);
}

int db_delete_role(struct db *db, int64_t id, int64_t now_ms, struct error *err)
{
    struct role_deletion deletion = {id, now_ms};
    return db_write(db, delete_role, &deletion, err);
}
