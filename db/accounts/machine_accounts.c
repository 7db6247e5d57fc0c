#include "db/accounts/machine_accounts.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/accounts/sessions.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <inttypes.h>
#include <stdio.h>

static const char SQL_FIND_ACCOUNT[] = "SELECT id, coalesce(machine_uid, -1) FROM users WHERE email = ?";
static const char SQL_FIND_SESSION[] =
    "SELECT uuid FROM sessions WHERE subject_type = 'user' AND subject_id = ? AND kind = '" SESSION_KIND_SOCKET
    "' AND expires_ms > ? ORDER BY expires_ms DESC LIMIT 1";
static const char SQL_OWN[] = "UPDATE users SET machine_uid = ?2 WHERE id = ?1";
static const char SQL_FIND_PROJECT[] = "SELECT id FROM projects WHERE name = ? ORDER BY id LIMIT 1";

static int refuse(const struct machine_account *account, int64_t owner, struct error *err)
{
    if (owner < 0)
        error_set(err, ERROR_FORBIDDEN, "there is an account %s already, which an administrator made", account->email);
    else
        error_set(err, ERROR_FORBIDDEN,
                  "the account %s belongs to the machine's user number %" PRId64 ", not to %" PRId64, account->email,
                  owner, account->uid);
    return error_details(err, "an administrator deletes that account, if nobody needs it");
}

// 1: found; 0: none; -1: error, also where it is somebody else's.
static int find_account(struct db_conn *conn, const struct machine_account *account, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t owner = -1;
    if (db_prepare(conn, SQL_FIND_ACCOUNT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, account->email);
    int rc = db_step(conn, stmt, err);
    if (rc > 0) {
        *out_id = db_column_int(stmt, 0);
        owner = db_column_int(stmt, 1);
    }
    db_release(conn, stmt);
    return rc > 0 && owner != account->uid ? refuse(account, owner, err) : rc;
}

static int find_session(struct db_conn *conn, int64_t user_id, struct machine_account *account, struct error *err)
{
    struct arena arena;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_SESSION, &stmt, err) < 0)
        return -1;
    arena_init(&arena);
    db_bind_int(stmt, 1, user_id);
    db_bind_int(stmt, 2, account->good_until_ms);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        snprintf(account->session, sizeof(account->session), "%s", db_column_text(stmt, 0, &arena));
    db_release(conn, stmt);
    arena_done(&arena);
    return rc;
}

int db_find_machine_session(struct db_conn *conn, struct machine_account *account, struct error *err)
{
    int64_t id;
    int rc = find_account(conn, account, &id, err);
    return rc > 0 ? find_session(conn, id, account, err) : rc;
}

static int own(struct db_conn *conn, int64_t user_id, int64_t uid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_OWN, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, user_id);
    db_bind_int(stmt, 2, uid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int create_account(struct db_conn *conn, struct machine_account *account, int64_t *out_id, struct error *err)
{
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    struct user user = {.uuid = uuid,
                        .email = account->email,
                        .password_hash = account->password_hash,
                        .created_by = "the machine's socket",
                        .created_ms = account->now_ms};
    if (db_create_user_in(conn, &user, err) < 0)
        return -1;
    *out_id = user.id;
    account->is_new = true;
    return own(conn, user.id, account->uid, err);
}

static int create_session(struct db_conn *conn, int64_t user_id, struct machine_account *account, struct error *err)
{
    uuid_create(account->session);
    account->is_signed_in = true;
    struct session session = {.uuid = account->session,
                              .kind = SESSION_KIND_SOCKET,
                              .subject_type = SESSION_OF_USER,
                              .subject_id = user_id,
                              .remote_address = account->remote_address,
                              .created_ms = account->now_ms,
                              .expires_ms = account->expires_ms};
    return db_create_session_in(conn, &session, err);
}

// Somebody else's first request may have made it meanwhile.
static int sign_in(struct db_conn *conn, void *context, struct error *err)
{
    struct machine_account *account = context;
    int64_t id;
    account->is_new = account->is_signed_in = false;
    int rc = find_account(conn, account, &id, err);
    if (rc == 0)
        rc = create_account(conn, account, &id, err);
    if (rc < 0)
        return -1;
    rc = find_session(conn, id, account, err);
    return rc == 0 ? create_session(conn, id, account, err) : rc < 0 ? -1 : 0;
}

int db_sign_in_machine_account(struct db *db, struct machine_account *account, struct error *err)
{
    return db_write(db, sign_in, account, err);
}

int db_find_project_number(struct db_conn *conn, const char *name, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_PROJECT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, name);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_id = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return rc;
}
