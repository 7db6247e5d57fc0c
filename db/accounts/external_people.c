#include "db/accounts/external_people.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"

#include <string.h>

static const char SQL_FIND_USER[] = "SELECT " DB_USER_COLUMNS " FROM external_identities e JOIN users u ON u.id = "
                                    "e.user_id WHERE e.issuer = ? AND e.subject = ?";
static const char SQL_INSERT_IDENTITY[] = "INSERT INTO external_identities (user_id, issuer, subject) VALUES (?, ?, ?)";
static const char SQL_GROUPS[] = "SELECT name FROM user_groups WHERE user_id = ? ORDER BY name";
static const char SQL_DELETE_GROUPS[] = "DELETE FROM user_groups WHERE user_id = ?";
static const char SQL_INSERT_GROUP[] = "INSERT OR IGNORE INTO user_groups (user_id, name) VALUES (?, ?)";
static const char SQL_INSERT_SESSION[] =
    "INSERT INTO external_sessions (session_uuid, refresh_sealed, confirmed_ms, next_check_ms) VALUES (?, ?, ?, ?)";
static const char SQL_INSERT_CODE[] =
    "INSERT INTO sign_in_codes (code_hash, session_uuid, challenge, redirect_uri, expires_ms) VALUES (?, ?, ?, ?, ?)";
static const char SQL_FIND_CODE[] =
    "SELECT c.session_uuid, c.challenge, c.redirect_uri, c.expires_ms, EXISTS (SELECT 1 FROM external_sessions e WHERE "
    "e.session_uuid = c.session_uuid) FROM sign_in_codes c WHERE c.code_hash = ?";
static const char SQL_DELETE_CODE[] = "DELETE FROM sign_in_codes WHERE code_hash = ?";
static const char SQL_END[] = "DELETE FROM sessions WHERE uuid = ?";
static const char SQL_TAKE_OVER[] =
    "UPDATE sessions SET refresh_family_hash = ?2, refresh_hash = ?3, last_used_ms = ?4, "
    "expires_ms = ?5 WHERE uuid = ?1";
static const char SQL_NEXT[] =
    "SELECT e.session_uuid, s.subject_id, i.subject, e.refresh_sealed, e.confirmed_ms, e.next_check_ms FROM "
    "external_sessions e JOIN sessions s ON s.uuid = e.session_uuid JOIN external_identities i ON i.user_id = "
    "s.subject_id ORDER BY e.next_check_ms LIMIT 1";
static const char SQL_CONFIRM[] =
    "UPDATE external_sessions SET refresh_sealed = ?2, confirmed_ms = ?3, next_check_ms = "
    "?4 WHERE session_uuid = ?1";
static const char SQL_POSTPONE[] = "UPDATE external_sessions SET next_check_ms = ?2 WHERE session_uuid = ?1";

int db_find_external_user(struct db_conn *conn, const char *issuer, const char *subject, struct arena *arena,
                          struct user *out_user, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_USER, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, issuer);
    db_bind_text(stmt, 2, subject);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        db_user_from_row(stmt, arena, out_user);
    db_release(conn, stmt);
    return rc;
}

int db_list_groups_of_user(struct db_conn *conn, int64_t user_id, struct arena *arena,
                           struct external_groups *out_groups, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t capacity = 0;
    struct external_groups groups = {0};
    if (db_prepare(conn, SQL_GROUPS, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, user_id);
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        groups.names = arena_grow(arena, groups.names, &capacity, groups.count + 1, sizeof(*groups.names));
        groups.names[groups.count++] = db_column_text(stmt, 0, arena);
    }
    db_release(conn, stmt);
    *out_groups = groups;
    return rc;
}

static bool has_group(const struct external_groups *groups, const char *name)
{
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->names[i], name) == 0)
            return true;
    return false;
}

static bool has_all(const struct external_groups *groups, const struct external_groups *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!has_group(groups, wanted->names[i]))
            return false;
    return true;
}

static int write_groups(struct db_conn *conn, int64_t user_id, const struct external_groups *groups, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE_GROUPS, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, user_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    for (size_t i = 0; rc == 0 && i < groups->count; i++) {
        if (db_prepare(conn, SQL_INSERT_GROUP, &stmt, err) < 0)
            return -1;
        db_bind_int(stmt, 1, user_id);
        db_bind_text(stmt, 2, groups->names[i]);
        rc = db_run(conn, stmt, err);
        db_release(conn, stmt);
    }
    return rc < 0 ? -1 : db_touch_user(conn, user_id, err);
}

// Most refreshes change nothing.
static int set_groups(struct db_conn *conn, int64_t user_id, const struct external_groups *groups, struct error *err)
{
    struct arena arena;
    struct external_groups old;
    arena_init(&arena);
    int rc = db_list_groups_of_user(conn, user_id, &arena, &old, err);
    if (rc == 0 && !(has_all(&old, groups) && has_all(groups, &old)))
        rc = write_groups(conn, user_id, groups, err);
    arena_done(&arena);
    return rc;
}

static int insert_identity(struct db_conn *conn, int64_t user_id, const struct external_sign_in *sign_in,
                           struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT_IDENTITY, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, user_id);
    db_bind_text(stmt, 2, sign_in->issuer);
    db_bind_text(stmt, 3, sign_in->subject);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// A name that an account has, local or not, is never given to another.
static int create_account(struct db_conn *conn, struct external_sign_in *sign_in, struct error *err)
{
    struct user other;
    if (!sign_in->password_hash)
        return error_set(err, ERROR_UNAVAILABLE, "the account has just been deleted: sign in again");
    int taken = db_find_user_by_email(conn, sign_in->wanted_name, sign_in->arena, &other, err);
    if (taken < 0)
        return -1;
    char *uuid = arena_alloc(sign_in->arena, UUID_SIZE);
    uuid_create(uuid);
    sign_in->user = (struct user){
        .uuid = uuid,
        .email = taken ? sign_in->fallback_name : sign_in->wanted_name,
        .password_hash = sign_in->password_hash,
        .created_by = sign_in->issuer,
        .created_ms = sign_in->session.created_ms,
    };
    sign_in->is_new = true;
    if (db_create_user_in(conn, &sign_in->user, err) < 0)
        return -1;
    return insert_identity(conn, sign_in->user.id, sign_in, err);
}

static int insert_code(struct db_conn *conn, const struct external_sign_in *sign_in, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT_CODE, &stmt, err) < 0)
        return -1;
    db_bind_blob(stmt, 1, sign_in->code.hash, SESSION_HASH_SIZE);
    db_bind_text(stmt, 2, sign_in->session.uuid);
    db_bind_text(stmt, 3, sign_in->code.challenge);
    db_bind_text(stmt, 4, sign_in->code.redirect_uri);
    db_bind_int(stmt, 5, sign_in->code.expires_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int insert_session(struct db_conn *conn, const struct external_sign_in *sign_in, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT_SESSION, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, sign_in->session.uuid);
    db_bind_text(stmt, 2, sign_in->refresh_sealed);
    db_bind_int(stmt, 3, sign_in->session.created_ms);
    db_bind_int(stmt, 4, sign_in->next_check_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int sign_in_external(struct db_conn *conn, void *context, struct error *err)
{
    struct external_sign_in *sign_in = context;
    int found = db_find_external_user(conn, sign_in->issuer, sign_in->subject, sign_in->arena, &sign_in->user, err);
    if (found < 0 || (found == 0 && create_account(conn, sign_in, err) < 0) ||
        set_groups(conn, sign_in->user.id, &sign_in->groups, err) < 0)
        return -1;
    sign_in->session.subject_type = SESSION_OF_USER;
    sign_in->session.subject_id = sign_in->user.id;
    if (db_create_session_in(conn, &sign_in->session, err) < 0 ||
        (sign_in->refresh_sealed && insert_session(conn, sign_in, err) < 0))
        return -1;
    return sign_in->code.hash ? insert_code(conn, sign_in, err) : 0;
}

int db_sign_in_external(struct db *db, struct external_sign_in *sign_in, struct error *err)
{
    return db_write(db, sign_in_external, sign_in, err);
}

static int end_session(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// 1: the code is known, and gone; 0: it is not.
static int take_code(struct db_conn *conn, struct code_exchange *exchange, const char **out_session, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_CODE, &stmt, err) < 0)
        return -1;
    db_bind_blob(stmt, 1, exchange->code_hash, SESSION_HASH_SIZE);
    int found = db_step(conn, stmt, err);
    if (found > 0) {
        *out_session = db_column_text(stmt, 0, exchange->arena);
        exchange->is_refused = strcmp(db_column_text(stmt, 1, exchange->arena), exchange->challenge) != 0 ||
                               strcmp(db_column_text(stmt, 2, exchange->arena), exchange->redirect_uri) != 0 ||
                               db_column_int(stmt, 3) < exchange->now_ms;
        exchange->can_refresh = db_column_int(stmt, 4) != 0;
    }
    db_release(conn, stmt);
    if (found <= 0)
        return found;
    if (db_prepare(conn, SQL_DELETE_CODE, &stmt, err) < 0)
        return -1;
    db_bind_blob(stmt, 1, exchange->code_hash, SESSION_HASH_SIZE);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc < 0 ? -1 : 1;
}

static int take_over(struct db_conn *conn, const struct code_exchange *exchange, const char *session, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_TAKE_OVER, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, session);
    if (exchange->can_refresh) {
        db_bind_blob(stmt, 2, exchange->family_hash, SESSION_HASH_SIZE);
        db_bind_blob(stmt, 3, exchange->refresh_hash, SESSION_HASH_SIZE);
    }
    db_bind_int(stmt, 4, exchange->now_ms);
    db_bind_int(stmt, 5, exchange->can_refresh ? exchange->expires_ms : exchange->short_expires_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// A refusal succeeds as a change: the code must be gone.
static int exchange_code(struct db_conn *conn, void *context, struct error *err)
{
    struct code_exchange *exchange = context;
    const char *session = NULL;
    int found = take_code(conn, exchange, &session, err);
    if (found < 0)
        return -1;
    exchange->is_refused = exchange->is_refused || found == 0;
    if (found == 0)
        return 0;
    if (exchange->is_refused)
        return end_session(conn, session, err);
    if (take_over(conn, exchange, session, err) < 0)
        return -1;
    int rc = db_find_session(conn, session, exchange->arena, &exchange->subject, err);
    exchange->is_refused = rc == 0;
    return rc < 0 ? -1 : 0;
}

int db_exchange_sign_in_code(struct db *db, struct code_exchange *exchange, struct error *err)
{
    if (db_write(db, exchange_code, exchange, err) < 0)
        return -1;
    if (exchange->is_refused)
        return error_set(err, ERROR_UNAUTHORIZED, "the code is unknown, was used before, or has expired");
    return 0;
}

int db_find_next_external_session(struct db_conn *conn, struct arena *arena, struct external_session *out_session,
                                  struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_NEXT, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_session = (struct external_session){
            .session_uuid = db_column_text(stmt, 0, arena),
            .user_id = db_column_int(stmt, 1),
            .subject = db_column_text(stmt, 2, arena),
            .refresh_sealed = db_column_text(stmt, 3, arena),
            .confirmed_ms = db_column_int(stmt, 4),
            .next_check_ms = db_column_int(stmt, 5),
        };
    db_release(conn, stmt);
    return rc;
}

struct confirmation {
    const struct external_session *session;
    const struct external_groups *groups;
};

static int confirm(struct db_conn *conn, void *context, struct error *err)
{
    const struct confirmation *confirmation = context;
    const struct external_session *session = confirmation->session;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_CONFIRM, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, session->session_uuid);
    db_bind_text(stmt, 2, session->refresh_sealed);
    db_bind_int(stmt, 3, session->confirmed_ms);
    db_bind_int(stmt, 4, session->next_check_ms);
    int rc = db_run(conn, stmt, err);
    bool is_there = db_changed_rows(conn) > 0;
    db_release(conn, stmt);
    return rc < 0 || !is_there ? rc : set_groups(conn, session->user_id, confirmation->groups, err);
}

int db_confirm_external_session(struct db *db, const struct external_session *session,
                                const struct external_groups *groups, struct error *err)
{
    struct confirmation confirmation = {session, groups};
    return db_write(db, confirm, &confirmation, err);
}

static int postpone(struct db_conn *conn, void *context, struct error *err)
{
    const struct external_session *session = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_POSTPONE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, session->session_uuid);
    db_bind_int(stmt, 2, session->next_check_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_postpone_external_session(struct db *db, const char *session_uuid, int64_t next_check_ms, struct error *err)
{
    struct external_session session = {.session_uuid = session_uuid, .next_check_ms = next_check_ms};
    return db_write(db, postpone, &session, err);
}
