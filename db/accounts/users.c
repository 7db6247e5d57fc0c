#include "db/accounts/users.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/access_rules.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#define SELECT_USER "SELECT " DB_USER_COLUMNS " FROM users u WHERE "
static const char SQL_BY_EMAIL[] = SELECT_USER "u.email = ?";
static const char SQL_BY_UUID[] = SELECT_USER "u.uuid = ?";
static const char SQL_BY_ID[] = SELECT_USER "u.id = ?";
static const char SQL_INSERT[] =
    "INSERT INTO users (uuid, email, password_hash, reset_password, is_local, created_by, created_ms, "
    "updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
static const char SQL_SET_PASSWORD[] =
    "UPDATE users SET password_hash = ?, reset_password = ?, updated_ms = ? WHERE id = ?";
static const char SQL_KEEP_OLD[] = "INSERT INTO old_passwords (user_id, password_hash) "
                                   "SELECT id, password_hash FROM users WHERE id = :user_id";
static const char SQL_FORGET_OLD[] =
    "DELETE FROM old_passwords WHERE user_id = :user_id AND id NOT IN (SELECT id FROM old_passwords "
    "WHERE user_id = :user_id ORDER BY id DESC LIMIT :count)";
static const char SQL_LIST_OLD[] =
    "SELECT password_hash FROM old_passwords WHERE user_id = :user_id ORDER BY id DESC LIMIT :count";
static const char SQL_UUID[] = "SELECT uuid FROM users WHERE id = ?";
static const char SQL_DELETE[] = "DELETE FROM users WHERE id = ?";

void db_user_from_row(sqlite3_stmt *stmt, struct arena *arena, struct user *out_user)
{
    *out_user = (struct user){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .email = db_column_text(stmt, 2, arena),
        .password_hash = db_column_text(stmt, 3, arena),
        .must_change_password = db_column_int(stmt, 4) != 0,
        .is_local = db_column_int(stmt, 5) != 0,
        .created_by = db_column_text(stmt, 6, arena),
        .created_ms = db_column_int(stmt, 7),
        .updated_ms = db_column_int(stmt, 8),
        .last_login_ms = db_column_int(stmt, 9),
        .has_second_factor = db_column_int(stmt, 10) != 0,
        .groups_json = db_column_text(stmt, 11, arena),
    };
}

static int find_user(struct db_conn *conn, const char *sql, const char *text, int64_t id, struct arena *arena,
                     struct user *out_user, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (text)
        db_bind_text(stmt, 1, text);
    else
        db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        db_user_from_row(stmt, arena, out_user);
    db_release(conn, stmt);
    return rc;
}

int db_find_user_by_email(struct db_conn *conn, const char *email, struct arena *arena, struct user *out_user,
                          struct error *err)
{
    return find_user(conn, SQL_BY_EMAIL, email, 0, arena, out_user, err);
}

int db_find_user_by_uuid(struct db_conn *conn, const char *uuid, struct arena *arena, struct user *out_user,
                         struct error *err)
{
    return find_user(conn, SQL_BY_UUID, uuid, 0, arena, out_user, err);
}

int db_find_user(struct db_conn *conn, int64_t id, struct arena *arena, struct user *out_user, struct error *err)
{
    return find_user(conn, SQL_BY_ID, NULL, id, arena, out_user, err);
}

int db_create_user_in(struct db_conn *conn, struct user *user, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, user->uuid);
    db_bind_text(stmt, 2, user->email);
    db_bind_text(stmt, 3, user->password_hash);
    db_bind_int(stmt, 4, user->must_change_password);
    db_bind_int(stmt, 5, user->is_local);
    db_bind_text(stmt, 6, user->created_by);
    db_bind_int(stmt, 7, user->created_ms);
    db_bind_int(stmt, 8, user->created_ms);
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "email: there is a user %s already", user->email);
    if (rc < 0) {
        if (err)
            *err = cause;
        return -1;
    }
    user->id = db_last_insert_id(conn);
    db_touch(conn, CHANGE_ACCESS, user->uuid);
    return 0;
}

int db_touch_user(struct db_conn *conn, int64_t id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct arena arena;
    if (db_prepare(conn, SQL_UUID, &stmt, err) < 0)
        return -1;
    arena_init(&arena);
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        db_touch(conn, CHANGE_ACCESS, db_column_text(stmt, 0, &arena));
    db_release(conn, stmt);
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}

static int create_user(struct db_conn *conn, void *context, struct error *err)
{
    return db_create_user_in(conn, context, err);
}

int db_create_user(struct db *db, struct user *user, struct error *err)
{
    return db_write(db, create_user, user, err);
}

static int run_for_old(struct db_conn *conn, const char *sql, const struct password_change *change, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", change->user_id);
    if (sql == SQL_FORGET_OLD)
        db_set_int(stmt, ":count", change->kept_old);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int set_password(struct db_conn *conn, void *context, struct error *err)
{
    const struct password_change *change = context;
    sqlite3_stmt *stmt = NULL;
    if (run_for_old(conn, SQL_KEEP_OLD, change, err) < 0 || run_for_old(conn, SQL_FORGET_OLD, change, err) < 0)
        return -1;
    if (db_prepare(conn, SQL_SET_PASSWORD, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, change->hash);
    db_bind_int(stmt, 2, change->must_change);
    db_bind_int(stmt, 3, change->now_ms);
    db_bind_int(stmt, 4, change->user_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "user: not found");
    if (rc < 0 || db_touch_user(conn, change->user_id, err) < 0)
        return -1;
    return db_end_sessions_in(conn, SESSION_OF_USER, change->user_id, change->kept_session, err);
}

int db_set_user_password(struct db *db, const struct password_change *change, struct error *err)
{
    struct password_change copy = *change;
    return db_write(db, set_password, &copy, err);
}

int db_list_old_passwords(struct db_conn *conn, int64_t user_id, int count, struct arena *arena,
                          const char ***out_hashes, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    int rc;
    *out_hashes = NULL;
    *out_count = 0;
    if (db_prepare(conn, SQL_LIST_OLD, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", user_id);
    db_set_int(stmt, ":count", count);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        *out_hashes = arena_grow(arena, *out_hashes, &capacity, *out_count + 1, sizeof(**out_hashes));
        (*out_hashes)[(*out_count)++] = db_column_text(stmt, 0, arena);
    }
    db_release(conn, stmt);
    return rc;
}

struct user_deletion {
    int64_t user_id;
    int64_t now_ms;
};

static int delete_user(struct db_conn *conn, void *context, struct error *err)
{
    const struct user_deletion *deletion = context;
    struct arena arena;
    arena_init(&arena);
    struct user user = {0};
    sqlite3_stmt *stmt = NULL;
    int rc = db_find_user(conn, deletion->user_id, &arena, &user, err);
    if (rc == 0)
        rc = error_set(err, ERROR_NOT_FOUND, "user: not found");
    if (rc > 0)
        rc = db_delete_access_rules_of_in(conn, "user", user.email, deletion->now_ms, err);
    if (rc == 0)
        rc = db_end_sessions_in(conn, SESSION_OF_USER, user.id, NULL, err);
    if (rc == 0)
        rc = db_prepare(conn, SQL_DELETE, &stmt, err);
    if (rc == 0) {
        db_bind_int(stmt, 1, user.id);
        rc = db_run(conn, stmt, err);
        db_touch(conn, CHANGE_ACCESS, user.uuid);
    }
    if (rc == 0)
        rc = db_check_administrator_in(conn, err);
    db_release(conn, stmt);
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}

int db_delete_user(struct db *db, int64_t id, int64_t now_ms, struct error *err)
{
    struct user_deletion deletion = {id, now_ms};
    return db_write(db, delete_user, &deletion, err);
}
