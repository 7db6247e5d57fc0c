#include "db/accounts/access_keys.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#define SELECT_KEY                                                                                        \
    "SELECT k.id, k.uuid, k.user_id, u.uuid, u.email, k.name, k.client_id, k.secret_hash, k.created_ms, " \
    "k.last_login_ms FROM access_keys k JOIN users u ON u.id = k.user_id WHERE "
// Each by the index of what it is asked by; the rest of the filter is small work.
static const char SQL_BY_CLIENT[] = SELECT_KEY "k.client_id = :client_id";
static const char SQL_BY_UUID[] = SELECT_KEY "k.uuid = :uuid AND (:user_id = 0 OR k.user_id = :user_id)";
static const char SQL_LIST_OF_USER[] = SELECT_KEY "k.user_id = :user_id ORDER BY k.name";
static const char SQL_LIST[] = SELECT_KEY "(:client_id IS NULL OR k.client_id = :client_id) AND "
                                          "(:email IS NULL OR u.email = :email) ORDER BY u.email, k.name";
static const char SQL_INSERT[] = "INSERT INTO access_keys (uuid, user_id, name, client_id, secret_hash, created_ms) "
                                 "SELECT :uuid, :user_id, :name, :client_id, :secret_hash, :created_ms "
                                 "WHERE (SELECT count(*) FROM access_keys WHERE user_id = :user_id) < :most";
static const char SQL_SET_SECRET[] =
    "UPDATE access_keys SET secret_hash = :secret_hash WHERE uuid = :uuid AND user_id = :user_id";
static const char SQL_END_SESSIONS[] =
    "DELETE FROM sessions WHERE access_key_id = (SELECT id FROM access_keys WHERE uuid = :uuid)";
static const char SQL_DELETE[] = "DELETE FROM access_keys WHERE uuid = :uuid AND (:user_id = 0 OR user_id = :user_id)";

static void key_from_row(sqlite3_stmt *stmt, struct arena *arena, struct access_key *out_key)
{
    *out_key = (struct access_key){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .user_id = db_column_int(stmt, 2),
        .user_uuid = db_column_text(stmt, 3, arena),
        .user_email = db_column_text(stmt, 4, arena),
        .name = db_column_text(stmt, 5, arena),
        .client_id = db_column_text(stmt, 6, arena),
        .created_ms = db_column_int(stmt, 8),
        .last_login_ms = db_column_int(stmt, 9),
    };
    if (sqlite3_column_bytes(stmt, 7) == ACCESS_KEY_HASH_SIZE)
        memcpy(out_key->secret_hash, sqlite3_column_blob(stmt, 7), ACCESS_KEY_HASH_SIZE);
}

int db_find_access_key(struct db_conn *conn, const struct access_key_filter *filter, struct arena *arena,
                       struct access_key *out_key, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, filter->uuid ? SQL_BY_UUID : SQL_BY_CLIENT, &stmt, err) < 0)
        return -1;
    if (filter->uuid) {
        db_set_text(stmt, ":uuid", filter->uuid);
        db_set_int(stmt, ":user_id", filter->user_id);
    } else {
        db_set_text(stmt, ":client_id", filter->client_id);
    }
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        key_from_row(stmt, arena, out_key);
    db_release(conn, stmt);
    return rc;
}

int db_list_access_keys(struct db_conn *conn, const struct access_key_filter *filter, struct arena *arena,
                        struct access_key **out_keys, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct access_key *keys = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, filter->user_id ? SQL_LIST_OF_USER : SQL_LIST, &stmt, err) < 0)
        return -1;
    if (filter->user_id) {
        db_set_int(stmt, ":user_id", filter->user_id);
    } else {
        db_set_text(stmt, ":client_id", filter->client_id);
        db_set_text(stmt, ":email", filter->user_email);
    }
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        keys = arena_grow(arena, keys, &capacity, count + 1, sizeof(*keys));
        key_from_row(stmt, arena, &keys[count++]);
    }
    db_release(conn, stmt);
    *out_keys = keys;
    *out_count = count;
    return rc;
}

static int refuse_creation(const struct access_key *key, const struct error *cause, struct error *err)
{
    if (cause->code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: you have an access key %s already", key->name);
    if (err)
        *err = *cause;
    return -1;
}

int db_create_access_key_in(struct db_conn *conn, struct access_key *key, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct error cause = {0};
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", key->uuid);
    db_set_int(stmt, ":user_id", key->user_id);
    db_set_text(stmt, ":name", key->name);
    db_set_text(stmt, ":client_id", key->client_id);
    db_set_blob(stmt, ":secret_hash", key->secret_hash, ACCESS_KEY_HASH_SIZE);
    db_set_int(stmt, ":created_ms", key->created_ms);
    db_set_int(stmt, ":most", ACCESS_KEYS_MAX);
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0)
        return refuse_creation(key, &cause, err);
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_CONFLICT, "access keys: you have %d, the most there may be; delete one first",
                         ACCESS_KEYS_MAX);
    key->id = db_last_insert_id(conn);
    return db_touch_user(conn, key->user_id, err);
}

static int create_key(struct db_conn *conn, void *context, struct error *err)
{
    return db_create_access_key_in(conn, context, err);
}

int db_create_access_key(struct db *db, struct access_key *key, struct error *err)
{
    return db_write(db, create_key, key, err);
}

struct key_change {
    const char *uuid;
    int64_t user_id;
    const unsigned char *secret_hash; // NULL: deletion
};

static int end_sessions(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END_SESSIONS, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int change_key(struct db_conn *conn, void *context, struct error *err)
{
    const struct key_change *change = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, change->secret_hash ? SQL_SET_SECRET : SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", change->uuid);
    db_set_int(stmt, ":user_id", change->user_id);
    if (change->secret_hash)
        db_set_blob(stmt, ":secret_hash", change->secret_hash, ACCESS_KEY_HASH_SIZE);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "access key %.60s: not found", change->uuid);
    if (rc < 0 || db_touch_user(conn, change->user_id, err) < 0)
        return -1;
    return !change->secret_hash ? 0 : end_sessions(conn, change->uuid, err);
}

int db_set_access_key_secret(struct db *db, int64_t user_id, const char *uuid,
                             const unsigned char hash[ACCESS_KEY_HASH_SIZE], struct error *err)
{
    struct key_change change = {.uuid = uuid, .user_id = user_id, .secret_hash = hash};
    return db_write(db, change_key, &change, err);
}

int db_delete_access_key(struct db *db, int64_t user_id, const char *uuid, struct error *err)
{
    struct key_change change = {.uuid = uuid, .user_id = user_id};
    return db_write(db, change_key, &change, err);
}
