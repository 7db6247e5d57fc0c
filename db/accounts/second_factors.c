#include "db/accounts/second_factors.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/accounts/sessions.h"
#include "db/accounts/users.h"
#include "db/db.h"

static const char SQL_FIND[] =
    "SELECT secret_sealed, created_ms, confirmed_ms, last_step, (SELECT count(*) FROM recovery_codes r WHERE "
    "r.user_id = f.user_id) FROM second_factors f WHERE user_id = :user_id";
static const char SQL_BEGIN[] =
    "INSERT INTO second_factors (user_id, secret_sealed, created_ms) VALUES (:user_id, :sealed, :now_ms) "
    "ON CONFLICT (user_id) DO UPDATE SET secret_sealed = :sealed, created_ms = :now_ms WHERE confirmed_ms = 0";
static const char SQL_CONFIRM[] =
    "UPDATE second_factors SET confirmed_ms = :now_ms, last_step = :step WHERE user_id = :user_id AND confirmed_ms = 0 "
    "AND secret_sealed = :sealed";
static const char SQL_ADD_CODE[] = "INSERT INTO recovery_codes (user_id, code_hash) VALUES (:user_id, :hash)";
static const char SQL_REMOVE[] = "DELETE FROM second_factors WHERE user_id = :user_id";
static const char SQL_REMOVE_CODES[] = "DELETE FROM recovery_codes WHERE user_id = :user_id";
static const char SQL_HAS_CODE[] = "SELECT 1 FROM recovery_codes WHERE user_id = :user_id AND code_hash = :hash";

int db_find_second_factor(struct db_conn *conn, int64_t user_id, struct arena *arena, struct second_factor *out_factor,
                          struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", user_id);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_factor = (struct second_factor){
            .secret_sealed = db_column_text(stmt, 0, arena),
            .created_ms = db_column_int(stmt, 1),
            .confirmed_ms = db_column_int(stmt, 2),
            .last_step = db_column_int(stmt, 3),
            .recovery_codes = db_column_int(stmt, 4),
        };
    db_release(conn, stmt);
    return rc;
}

int db_has_recovery_code(struct db_conn *conn, int64_t user_id, const unsigned char hash[RECOVERY_HASH_SIZE],
                         struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_HAS_CODE, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", user_id);
    db_set_blob(stmt, ":hash", hash, RECOVERY_HASH_SIZE);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// Runs sql for the user; the rows that it changed, or -1.
static int64_t run_for_user(struct db_conn *conn, const char *sql, int64_t user_id, const unsigned char *hash,
                            struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", user_id);
    if (hash)
        db_set_blob(stmt, ":hash", hash, RECOVERY_HASH_SIZE);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc < 0 ? -1 : db_changed_rows(conn);
}

struct factor_beginning {
    int64_t user_id;
    const char *secret_sealed;
    int64_t now_ms;
};

static int begin_factor(struct db_conn *conn, void *context, struct error *err)
{
    const struct factor_beginning *beginning = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BEGIN, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", beginning->user_id);
    db_set_text(stmt, ":sealed", beginning->secret_sealed);
    db_set_int(stmt, ":now_ms", beginning->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_CONFLICT, "the account has a second factor already; disable that first");
    return rc;
}

int db_begin_second_factor(struct db *db, int64_t user_id, const char *secret_sealed, int64_t now_ms, struct error *err)
{
    struct factor_beginning beginning = {user_id, secret_sealed, now_ms};
    return db_write(db, begin_factor, &beginning, err);
}

static int confirm_factor(struct db_conn *conn, void *context, struct error *err)
{
    const struct factor_confirmation *confirmation = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_CONFIRM, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", confirmation->user_id);
    db_set_text(stmt, ":sealed", confirmation->secret_sealed);
    db_set_int(stmt, ":step", confirmation->step);
    db_set_int(stmt, ":now_ms", confirmation->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_CONFLICT, "no secret waits for this code any more; begin again");
    for (size_t i = 0; i < RECOVERY_CODES; i++)
        if (run_for_user(conn, SQL_ADD_CODE, confirmation->user_id, confirmation->recovery_hashes[i], err) < 0)
            return -1;
    if (db_touch_user(conn, confirmation->user_id, err) < 0)
        return -1;
    return db_end_sessions_in(conn, SESSION_OF_USER, confirmation->user_id, confirmation->kept_session, err);
}

int db_confirm_second_factor(struct db *db, const struct factor_confirmation *confirmation, struct error *err)
{
    struct factor_confirmation copy = *confirmation;
    return db_write(db, confirm_factor, &copy, err);
}

struct factor_removal {
    int64_t user_id;
    const char *kept_session;
};

static int remove_factor(struct db_conn *conn, void *context, struct error *err)
{
    const struct factor_removal *removal = context;
    int64_t removed = run_for_user(conn, SQL_REMOVE, removal->user_id, NULL, err);
    if (removed == 0)
        return error_set(err, ERROR_NOT_FOUND, "the account has no second factor");
    if (removed < 0 || run_for_user(conn, SQL_REMOVE_CODES, removal->user_id, NULL, err) < 0 ||
        db_touch_user(conn, removal->user_id, err) < 0)
        return -1;
    return db_end_sessions_in(conn, SESSION_OF_USER, removal->user_id, removal->kept_session, err);
}

int db_remove_second_factor(struct db *db, int64_t user_id, const char *kept_session, struct error *err)
{
    struct factor_removal removal = {user_id, kept_session};
    return db_write(db, remove_factor, &removal, err);
}
