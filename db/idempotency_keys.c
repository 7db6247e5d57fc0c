#include "db/idempotency_keys.h"

#include "base/error.h"
#include "db/db.h"

#define WHOSE "subject_type = :subject_type AND subject_id = :subject_id AND operation = :operation AND key = :key"
static const char SQL_FIND[] =
    "SELECT request_hash, thing, status, answer FROM idempotency_keys WHERE " WHOSE " AND created_ms > :oldest_ms";
static const char SQL_INSERT[] =
    "INSERT INTO idempotency_keys (subject_type, subject_id, operation, key, request_hash, thing, created_ms) "
    "VALUES (:subject_type, :subject_id, :operation, :key, :request_hash, :thing, :now_ms) ON CONFLICT DO UPDATE SET "
    "request_hash = excluded.request_hash, thing = excluded.thing, status = 0, answer = '', "
    "created_ms = excluded.created_ms WHERE created_ms <= :oldest_ms";
static const char SQL_ANSWER[] = "UPDATE idempotency_keys SET status = :status, answer = :answer WHERE " WHOSE;
static const char SQL_REMOVE[] = "DELETE FROM idempotency_keys WHERE " WHOSE;

static void set_key(sqlite3_stmt *stmt, const struct idempotency_key *key)
{
    db_set_int(stmt, ":subject_type", key->subject_type);
    db_set_int(stmt, ":subject_id", key->subject_id);
    db_set_text(stmt, ":operation", key->operation);
    db_set_text(stmt, ":key", key->key);
}

int db_find_idempotency_key(struct db_conn *conn, const struct idempotency_key *key, int64_t now_ms,
                            struct arena *arena, struct idempotency_row *out_row, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    set_key(stmt, key);
    db_set_int(stmt, ":oldest_ms", now_ms - IDEMPOTENCY_KEEP_MS);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_row = (struct idempotency_row){.request_hash = db_column_text(stmt, 0, arena),
                                            .thing = db_column_text(stmt, 1, arena),
                                            .status = db_column_int(stmt, 2),
                                            .answer = db_column_text(stmt, 3, arena)};
    db_release(conn, stmt);
    return rc;
}

int db_add_idempotency_key(struct db_conn *conn, const struct idempotency_key *key, const struct idempotency_row *row,
                           int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    set_key(stmt, key);
    db_set_text(stmt, ":request_hash", row->request_hash);
    db_set_text(stmt, ":thing", row->thing);
    db_set_int(stmt, ":now_ms", now_ms);
    db_set_int(stmt, ":oldest_ms", now_ms - IDEMPOTENCY_KEEP_MS);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_CONFLICT, "Idempotency-Key: in use");
    return rc;
}

struct change {
    const struct idempotency_key *key;
    int status;
    const char *answer; // NULL: the key goes
};

static int change_key(struct db_conn *conn, void *context, struct error *err)
{
    const struct change *change = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, change->answer ? SQL_ANSWER : SQL_REMOVE, &stmt, err) < 0)
        return -1;
    set_key(stmt, change->key);
    if (change->answer) {
        db_set_int(stmt, ":status", change->status);
        db_set_text(stmt, ":answer", change->answer);
    }
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_answer_idempotency_key(struct db *db, const struct idempotency_key *key, int status, const char *answer,
                              struct error *err)
{
    struct change change = {key, status, answer};
    return db_write_alone(db, change_key, &change, err);
}

int db_remove_idempotency_key(struct db *db, const struct idempotency_key *key, struct error *err)
{
    struct change change = {.key = key};
    return db_write_alone(db, change_key, &change, err);
}
