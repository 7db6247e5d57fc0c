#include "db/accounts/sessions.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <sqlite3.h>
#include <string.h>

// What of a user and of a service account means the same stands in one column.
#define SELECT_SUBJECT                                                                                               \
    "SELECT s.id, s.uuid, s.kind = 'browser', s.subject_type = 'user', s.subject_id, coalesce(u.uuid, a.uuid), "     \
    "coalesce(u.email, a.name), coalesce(u.email, a.client_id), coalesce(a.enabled, 1), coalesce(u.reset_password, " \
    "0), "                                                                                                           \
    "s.last_used_ms, s.expires_ms, s.refresh_hash, s.access_key_id IS NOT NULL FROM sessions s "                     \
    "LEFT JOIN users u ON s.subject_type = 'user' AND u.id = s.subject_id "                                          \
    "LEFT JOIN service_accounts a ON s.subject_type = 'service-account' AND a.id = s.subject_id WHERE "
static const char SQL_BY_UUID[] = SELECT_SUBJECT "s.uuid = ?";
static const char SQL_BY_COOKIE[] = SELECT_SUBJECT "s.cookie_hash = ?";
static const char SQL_BY_FAMILY[] = SELECT_SUBJECT "s.refresh_family_hash = ?";
static const char SQL_INSERT[] =
    "INSERT INTO sessions (uuid, kind, subject_type, subject_id, access_key_id, remote_address, user_agent, "
    "cookie_hash, refresh_family_hash, refresh_hash, created_ms, last_used_ms, expires_ms) VALUES (:uuid, :kind, "
    ":subject_type, :subject_id, :access_key_id, :remote_address, :user_agent, :cookie_hash, :family_hash, "
    ":refresh_hash, :created_ms, :created_ms, :expires_ms)";
static const char SQL_SHOWN_PASSWORD[] = "SELECT 1 FROM users WHERE id = :id AND password_hash = :password_hash";
static const char SQL_SHOWN_KEY[] = "SELECT 1 FROM access_keys WHERE id = :id AND secret_hash = :secret_hash";
static const char SQL_SHOWN_SECRET[] =
    "SELECT 1 FROM service_accounts WHERE id = :id AND secret_hash = :secret_hash AND enabled";
static const char SQL_STAMP_USER[] = "UPDATE users SET last_login_ms = ? WHERE id = ?";
static const char SQL_STAMP_SERVICE_ACCOUNT[] = "UPDATE service_accounts SET last_login_ms = ? WHERE id = ?";
static const char SQL_STAMP_ACCESS_KEY[] = "UPDATE access_keys SET last_login_ms = ? WHERE id = ?";
static const char SQL_USE_STEP[] = "UPDATE second_factors SET last_step = :step WHERE user_id = :user_id AND "
                                   "confirmed_ms > 0 AND last_step < :step";
static const char SQL_USE_CODE[] = "DELETE FROM recovery_codes WHERE user_id = :user_id AND code_hash = :hash";
static const char SQL_NEEDS_FACTOR[] = "SELECT 1 FROM second_factors WHERE user_id = :user_id AND confirmed_ms > 0";
static const char SQL_LIST[] =
    "SELECT s.uuid, CASE WHEN s.access_key_id IS NOT NULL THEN 'access-key' ELSE s.kind END, s.remote_address, "
    "s.user_agent, k.name, s.created_ms, s.last_used_ms, s.expires_ms FROM sessions s LEFT JOIN access_keys k ON "
    "k.id = s.access_key_id WHERE s.subject_type = :type AND s.subject_id = :id AND s.expires_ms >= :now_ms "
    "ORDER BY s.last_used_ms DESC, s.id DESC LIMIT :most";
static const char SQL_END_ONE_OF[] =
    "DELETE FROM sessions WHERE uuid = :uuid AND subject_type = :type AND subject_id = :id";
static const char SQL_TOUCH[] = "UPDATE sessions SET last_used_ms = ?2 WHERE id = ?1";
static const char SQL_END[] = "DELETE FROM sessions WHERE uuid = ?";
static const char SQL_END_OF_SUBJECT[] =
    "DELETE FROM sessions WHERE subject_type = ? AND subject_id = ? AND uuid IS NOT ?";
static const char SQL_END_EXPIRED[] =
    "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_ms < ? ORDER BY expires_ms LIMIT 20)";
static const char SQL_REFRESH[] =
    "UPDATE sessions SET refresh_hash = ?2, last_used_ms = ?3, expires_ms = ?4 WHERE id = ?1";

static void subject_from_row(sqlite3_stmt *stmt, struct arena *arena, struct session_subject *out_subject)
{
    *out_subject = (struct session_subject){
        .session_id = db_column_int(stmt, 0),
        .session_uuid = db_column_text(stmt, 1, arena),
        .is_browser = db_column_int(stmt, 2) != 0,
        .is_user = db_column_int(stmt, 3) != 0,
        .subject_id = db_column_int(stmt, 4),
        .subject_uuid = db_column_text(stmt, 5, arena),
        .name = db_column_text(stmt, 6, arena),
        .rule_key = db_column_text(stmt, 7, arena),
        .is_enabled = db_column_int(stmt, 8) != 0,
        .must_change_password = db_column_int(stmt, 9) != 0,
        .last_used_ms = db_column_int(stmt, 10),
        .expires_ms = db_column_int(stmt, 11),
        .is_access_key = db_column_int(stmt, 13) != 0,
    };
}

// A session whose subject has gone counts as none.
static int step_subject(struct db_conn *conn, sqlite3_stmt *stmt, struct arena *arena,
                        struct session_subject *out_subject, struct error *err)
{
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        subject_from_row(stmt, arena, out_subject);
    return rc > 0 && !out_subject->name ? 0 : rc;
}

int db_find_session(struct db_conn *conn, const char *uuid, struct arena *arena, struct session_subject *out_subject,
                    struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_UUID, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = step_subject(conn, stmt, arena, out_subject, err);
    db_release(conn, stmt);
    return rc;
}

int db_find_session_by_cookie(struct db_conn *conn, const unsigned char hash[SESSION_HASH_SIZE], struct arena *arena,
                              struct session_subject *out_subject, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_COOKIE, &stmt, err) < 0)
        return -1;
    db_bind_blob(stmt, 1, hash, SESSION_HASH_SIZE);
    int rc = step_subject(conn, stmt, arena, out_subject, err);
    db_release(conn, stmt);
    return rc;
}

static int run_with_two(struct db_conn *conn, const char *sql, int64_t first, int64_t second, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, first);
    db_bind_int(stmt, 2, second);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int end_expired(struct db_conn *conn, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END_EXPIRED, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int insert_session(struct db_conn *conn, struct session *session, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", session->uuid);
    db_set_text(stmt, ":kind", session->kind ? session->kind : SESSION_KIND_TOKEN);
    db_set_text(stmt, ":subject_type", session->subject_type);
    db_set_int(stmt, ":subject_id", session->subject_id);
    db_set_int_or_null(stmt, ":access_key_id", session->access_key_id != 0, session->access_key_id);
    db_set_text(stmt, ":remote_address", session->remote_address ? session->remote_address : "");
    db_set_text(stmt, ":user_agent", session->user_agent ? session->user_agent : "");
    db_set_blob(stmt, ":cookie_hash", session->cookie_hash, SESSION_HASH_SIZE);
    db_set_blob(stmt, ":family_hash", session->refresh_family_hash, SESSION_HASH_SIZE);
    db_set_blob(stmt, ":refresh_hash", session->refresh_hash, SESSION_HASH_SIZE);
    db_set_int(stmt, ":created_ms", session->created_ms);
    db_set_int(stmt, ":expires_ms", session->expires_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    session->id = db_last_insert_id(conn);
    return rc;
}

// Between the look at what was shown and this change, it may have been replaced: nobody keeps a session by it.
static int check_shown(struct db_conn *conn, const struct session *session, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!session->shown_password_hash && !session->shown_secret_hash)
        return 0;
    const char *sql = session->shown_password_hash ? SQL_SHOWN_PASSWORD
                      : session->access_key_id     ? SQL_SHOWN_KEY
                                                   : SQL_SHOWN_SECRET;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", session->access_key_id ? session->access_key_id : session->subject_id);
    if (session->shown_password_hash)
        db_set_text(stmt, ":password_hash", session->shown_password_hash);
    else
        db_set_blob(stmt, ":secret_hash", session->shown_secret_hash, SESSION_HASH_SIZE);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc == 0 ? error_set(err, ERROR_UNAUTHORIZED, "what you signed in with has just changed") : rc < 0 ? -1 : 0;
}

// A code or a recovery code is good once: whoever comes second with it finds it used.
static int use_factor(struct db_conn *conn, const struct session *session, struct error *err)
{
    const struct factor_shown *shown = &session->shown_factor;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, shown->step ? SQL_USE_STEP : SQL_USE_CODE, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", session->subject_id);
    if (shown->step)
        db_set_int(stmt, ":step", shown->step);
    else
        db_set_blob(stmt, ":hash", shown->recovery_hash, SESSION_HASH_SIZE);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_UNAUTHORIZED, "otp: wrong, or used before");
    return rc;
}

static int check_factor(struct db_conn *conn, const struct session *session, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!session->shown_password_hash)
        return 0;
    if (session->shown_factor.step || session->shown_factor.recovery_hash)
        return use_factor(conn, session, err);
    if (db_prepare(conn, SQL_NEEDS_FACTOR, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", session->subject_id);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc > 0 ? error_set(err, ERROR_UNAUTHORIZED, "otp: required; the account has a second factor") : rc;
}

static int stamp(struct db_conn *conn, const struct session *session, struct error *err)
{
    if (session->access_key_id)
        return run_with_two(conn, SQL_STAMP_ACCESS_KEY, session->created_ms, session->access_key_id, err);
    const char *sql = strcmp(session->subject_type, SESSION_OF_USER) ? SQL_STAMP_SERVICE_ACCOUNT : SQL_STAMP_USER;
    return run_with_two(conn, sql, session->created_ms, session->subject_id, err);
}

int db_create_session_in(struct db_conn *conn, struct session *session, struct error *err)
{
    if (end_expired(conn, session->created_ms, err) < 0 || check_shown(conn, session, err) < 0 ||
        check_factor(conn, session, err) < 0 || insert_session(conn, session, err) < 0)
        return -1;
    return stamp(conn, session, err);
}

static int create_session(struct db_conn *conn, void *context, struct error *err)
{
    return db_create_session_in(conn, context, err);
}

int db_create_session(struct db *db, struct session *session, struct error *err)
{
    return db_write(db, create_session, session, err);
}

static int touch_session(struct db_conn *conn, void *context, struct error *err)
{
    const int64_t *values = context;
    return run_with_two(conn, SQL_TOUCH, values[0], values[1], err);
}

int db_touch_session(struct db *db, int64_t id, int64_t now_ms, struct error *err)
{
    int64_t values[2] = {id, now_ms};
    return db_write(db, touch_session, values, err);
}

static int end_session(struct db_conn *conn, void *context, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, context);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_end_session(struct db *db, const char *uuid, struct error *err)
{
    return db_write(db, end_session, (void *)(uintptr_t)uuid, err);
}

int db_end_sessions_in(struct db_conn *conn, const char *subject_type, int64_t subject_id, const char *kept_uuid,
                       struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END_OF_SUBJECT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, subject_type);
    db_bind_int(stmt, 2, subject_id);
    db_bind_text(stmt, 3, kept_uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int end_sessions(struct db_conn *conn, void *context, struct error *err)
{
    const struct session_subject *subject = context;
    return db_end_sessions_in(conn, subject->is_user ? SESSION_OF_USER : SESSION_OF_SERVICE_ACCOUNT,
                              subject->subject_id, NULL, err);
}

int db_end_sessions(struct db *db, const char *subject_type, int64_t subject_id, struct error *err)
{
    struct session_subject subject = {.is_user = !strcmp(subject_type, SESSION_OF_USER), .subject_id = subject_id};
    return db_write(db, end_sessions, &subject, err);
}

int db_list_sessions(struct db_conn *conn, const char *subject_type, int64_t subject_id, int64_t now_ms,
                     struct arena *arena, struct session_entry **out_entries, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct session_entry *entries = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":type", subject_type);
    db_set_int(stmt, ":id", subject_id);
    db_set_int(stmt, ":now_ms", now_ms);
    db_set_int(stmt, ":most", SESSIONS_LISTED_MAX);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        entries = arena_grow(arena, entries, &capacity, count + 1, sizeof(*entries));
        entries[count++] = (struct session_entry){
            .uuid = db_column_text(stmt, 0, arena),
            .kind = db_column_text(stmt, 1, arena),
            .remote_address = db_column_text(stmt, 2, arena),
            .user_agent = db_column_text(stmt, 3, arena),
            .access_key = db_column_text(stmt, 4, arena),
            .created_ms = db_column_int(stmt, 5),
            .last_used_ms = db_column_int(stmt, 6),
            .expires_ms = db_column_int(stmt, 7),
        };
    }
    db_release(conn, stmt);
    *out_entries = entries;
    *out_count = count;
    return rc;
}

struct subject_session {
    const char *subject_type;
    int64_t subject_id;
    const char *uuid; // the one to end, or to keep
};

static int end_session_of(struct db_conn *conn, void *context, struct error *err)
{
    const struct subject_session *which = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END_ONE_OF, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", which->uuid);
    db_set_text(stmt, ":type", which->subject_type);
    db_set_int(stmt, ":id", which->subject_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "session %.60s: not found", which->uuid);
    return rc;
}

int db_end_session_of(struct db *db, const char *subject_type, int64_t subject_id, const char *uuid, struct error *err)
{
    struct subject_session which = {subject_type, subject_id, uuid};
    return db_write(db, end_session_of, &which, err);
}

static int end_sessions_but(struct db_conn *conn, void *context, struct error *err)
{
    const struct subject_session *which = context;
    return db_end_sessions_in(conn, which->subject_type, which->subject_id, which->uuid, err);
}

int db_end_sessions_but(struct db *db, const char *subject_type, int64_t subject_id, const char *kept_uuid,
                        struct error *err)
{
    struct subject_session which = {subject_type, subject_id, kept_uuid};
    return db_write(db, end_sessions_but, &which, err);
}

static int find_family(struct db_conn *conn, struct session_refresh *refresh, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_FAMILY, &stmt, err) < 0)
        return -1;
    db_bind_blob(stmt, 1, refresh->family_hash, SESSION_HASH_SIZE);
    int rc = step_subject(conn, stmt, refresh->arena, &refresh->subject, err);
    refresh->is_reused = rc > 0 && (sqlite3_column_bytes(stmt, 12) != SESSION_HASH_SIZE ||
                                    memcmp(sqlite3_column_blob(stmt, 12), refresh->old_hash, SESSION_HASH_SIZE) != 0);
    db_release(conn, stmt);
    return rc;
}

static int refresh_session(struct db_conn *conn, void *context, struct error *err)
{
    struct session_refresh *refresh = context;
    int rc = find_family(conn, refresh, err);
    if (rc < 0)
        return -1;
    if (rc == 0 || refresh->subject.expires_ms < refresh->now_ms)
        return error_set(err, ERROR_UNAUTHORIZED, "the refresh token is unknown or has expired");
    if (refresh->is_reused) // succeeds as a change: the deletion must stay
        return end_session(conn, (void *)(uintptr_t)refresh->subject.session_uuid, err);
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_REFRESH, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, refresh->subject.session_id);
    db_bind_blob(stmt, 2, refresh->new_hash, SESSION_HASH_SIZE);
    db_bind_int(stmt, 3, refresh->now_ms);
    db_bind_int(stmt, 4, refresh->expires_ms);
    rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_refresh_session(struct db *db, struct session_refresh *refresh, struct error *err)
{
    if (db_write(db, refresh_session, refresh, err) < 0)
        return -1;
    if (refresh->is_reused)
        return error_set(err, ERROR_UNAUTHORIZED, "the refresh token was used before; the session has been ended");
    return 0;
}
