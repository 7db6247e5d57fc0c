#include "db/accounts/service_accounts.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/access_rules.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#include <sqlite3.h>
#include <string.h>

#define SELECT_ACCOUNT                                                                                           \
    "SELECT id, uuid, name, client_id, secret_hash, enabled, created_by, created_ms, updated_ms, last_login_ms " \
    "FROM service_accounts "
static const char SQL_BY_UUID[] = SELECT_ACCOUNT "WHERE uuid = ?";
static const char SQL_BY_CLIENT[] =
    SELECT_ACCOUNT "WHERE client_id = ?1 OR name = ?1 ORDER BY client_id = ?1 DESC LIMIT 1";
static const char SQL_LIST[] = SELECT_ACCOUNT "ORDER BY name";
static const char SQL_INSERT[] =
    "INSERT INTO service_accounts (uuid, name, client_id, secret_hash, enabled, created_by, created_ms, "
    "updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
static const char SQL_ENABLE[] = "UPDATE service_accounts SET enabled = ?2, updated_ms = ?3 WHERE id = ?1";
static const char SQL_SET_SECRET[] = "UPDATE service_accounts SET secret_hash = ?2, updated_ms = ?3 WHERE id = ?1";
static const char SQL_DELETE[] = "DELETE FROM service_accounts WHERE id = ?1";

static void account_from_row(sqlite3_stmt *stmt, struct arena *arena, struct service_account *out_account)
{
    *out_account = (struct service_account){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .name = db_column_text(stmt, 2, arena),
        .client_id = db_column_text(stmt, 3, arena),
        .is_enabled = db_column_int(stmt, 5) != 0,
        .created_by = db_column_text(stmt, 6, arena),
        .created_ms = db_column_int(stmt, 7),
        .updated_ms = db_column_int(stmt, 8),
        .last_login_ms = db_column_int(stmt, 9),
    };
    if (sqlite3_column_bytes(stmt, 4) == SERVICE_ACCOUNT_HASH_SIZE)
        memcpy(out_account->secret_hash, sqlite3_column_blob(stmt, 4), SERVICE_ACCOUNT_HASH_SIZE);
}

static int find_account(struct db_conn *conn, const char *sql, const char *key, struct arena *arena,
                        struct service_account *out_account, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, key);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        account_from_row(stmt, arena, out_account);
    db_release(conn, stmt);
    return rc;
}

int db_find_service_account(struct db_conn *conn, const char *uuid, struct arena *arena,
                            struct service_account *out_account, struct error *err)
{
    return find_account(conn, SQL_BY_UUID, uuid, arena, out_account, err);
}

int db_find_service_account_by_client(struct db_conn *conn, const char *client_id, struct arena *arena,
                                      struct service_account *out_account, struct error *err)
{
    return find_account(conn, SQL_BY_CLIENT, client_id, arena, out_account, err);
}

int db_list_service_accounts(struct db_conn *conn, struct arena *arena, struct service_account **out_accounts,
                             size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct service_account *accounts = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        accounts = arena_grow(arena, accounts, &capacity, count + 1, sizeof(*accounts));
        account_from_row(stmt, arena, &accounts[count++]);
    }
    db_release(conn, stmt);
    *out_accounts = accounts;
    *out_count = count;
    return rc;
}

static int create_account(struct db_conn *conn, void *context, struct error *err)
{
    struct service_account *account = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, account->uuid);
    db_bind_text(stmt, 2, account->name);
    db_bind_text(stmt, 3, account->client_id);
    db_bind_blob(stmt, 4, account->secret_hash, SERVICE_ACCOUNT_HASH_SIZE);
    db_bind_int(stmt, 5, account->is_enabled);
    db_bind_text(stmt, 6, account->created_by);
    db_bind_int(stmt, 7, account->created_ms);
    db_bind_int(stmt, 8, account->created_ms);
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: there is a service account %s already", account->name);
    if (rc < 0) {
        if (err)
            *err = cause;
        return -1;
    }
    account->id = db_last_insert_id(conn);
    db_touch(conn, CHANGE_ACCESS, account->uuid);
    return 0;
}

int db_create_service_account(struct db *db, struct service_account *account, struct error *err)
{
    return db_write(db, create_account, account, err);
}

struct account_change {
    const char *sql;
    const char *uuid;
    bool is_enabled;
    const unsigned char *secret_hash; // NULL: another change
    bool is_deletion;
    int64_t now_ms;
};

static int run_change(struct db_conn *conn, const struct account_change *change, int64_t id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, change->sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    if (change->secret_hash)
        db_bind_blob(stmt, 2, change->secret_hash, SERVICE_ACCOUNT_HASH_SIZE);
    else if (!change->is_deletion)
        db_bind_int(stmt, 2, change->is_enabled);
    if (!change->is_deletion)
        db_bind_int(stmt, 3, change->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int change_account(struct db_conn *conn, void *context, struct error *err)
{
    const struct account_change *change = context;
    struct arena arena;
    arena_init(&arena);
    struct service_account account = {0};
    int rc = db_find_service_account(conn, change->uuid, &arena, &account, err);
    if (rc == 0)
        rc = error_set(err, ERROR_NOT_FOUND, "service account %s: not found", change->uuid);
    bool ends_sessions = !change->is_enabled || change->secret_hash || change->is_deletion;
    if (rc > 0)
        rc = run_change(conn, change, account.id, err);
    if (rc == 0 && ends_sessions)
        rc = db_end_sessions_in(conn, SESSION_OF_SERVICE_ACCOUNT, account.id, NULL, err);
    if (rc == 0 && change->is_deletion)
        rc = db_delete_access_rules_of_in(conn, SESSION_OF_SERVICE_ACCOUNT, account.client_id, change->now_ms, err);
    if (rc == 0)
        db_touch(conn, CHANGE_ACCESS, change->uuid);
    arena_done(&arena);
    return rc;
}

int db_enable_service_account(struct db *db, const char *uuid, bool is_enabled, int64_t now_ms, struct error *err)
{
    struct account_change change = {.sql = SQL_ENABLE, .uuid = uuid, .is_enabled = is_enabled, .now_ms = now_ms};
    return db_write(db, change_account, &change, err);
}

int db_set_service_account_secret(struct db *db, const char *uuid, const unsigned char hash[SERVICE_ACCOUNT_HASH_SIZE],
                                  int64_t now_ms, struct error *err)
{
    struct account_change change = {.sql = SQL_SET_SECRET, .uuid = uuid, .secret_hash = hash, .now_ms = now_ms};
    return db_write(db, change_account, &change, err);
}

int db_delete_service_account(struct db *db, const char *uuid, int64_t now_ms, struct error *err)
{
    struct account_change change = {.sql = SQL_DELETE, .uuid = uuid, .is_deletion = true, .now_ms = now_ms};
    return db_write(db, change_account, &change, err);
}
