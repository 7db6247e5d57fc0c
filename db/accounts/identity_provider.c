#include "db/accounts/identity_provider.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <string.h>

static const char SQL_FIND[] = "SELECT name, issuer, client_id, client_secret_sealed, scopes, groups_claim, "
                               "username_claim, redirect_url, refresh_s, updated_by, updated_ms FROM identity_provider";
static const char SQL_SET[] =
    "INSERT OR REPLACE INTO identity_provider (id, name, issuer, client_id, client_secret_sealed, scopes, "
    "groups_claim, "
    "username_claim, redirect_url, refresh_s, updated_by, updated_ms) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char SQL_DELETE[] = "DELETE FROM identity_provider";
static const char SQL_END_SESSIONS[] =
    "DELETE FROM sessions WHERE subject_type = 'user' AND subject_id IN (SELECT user_id FROM external_identities)";
static const char SQL_TAKE_GROUPS[] = "DELETE FROM user_groups";

int db_find_identity_provider(struct db_conn *conn, struct arena *arena, struct identity_provider *out_provider,
                              struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_provider = (struct identity_provider){
            .name = db_column_text(stmt, 0, arena),
            .issuer = db_column_text(stmt, 1, arena),
            .client_id = db_column_text(stmt, 2, arena),
            .client_secret_sealed = db_column_text(stmt, 3, arena),
            .scopes = db_column_text(stmt, 4, arena),
            .groups_claim = db_column_text(stmt, 5, arena),
            .username_claim = db_column_text(stmt, 6, arena),
            .redirect_url = db_column_text(stmt, 7, arena),
            .refresh_s = db_column_int(stmt, 8),
            .updated_by = db_column_text(stmt, 9, arena),
            .updated_ms = db_column_int(stmt, 10),
        };
    db_release(conn, stmt);
    return rc;
}

static int run(struct db_conn *conn, const char *sql, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int forget_people(struct db_conn *conn, struct error *err)
{
    db_touch(conn, CHANGE_ACCESS, "groups");
    return run(conn, SQL_END_SESSIONS, err) < 0 || run(conn, SQL_TAKE_GROUPS, err) < 0 ? -1 : 0;
}

static int end_where_other(struct db_conn *conn, const struct identity_provider *provider, struct error *err)
{
    struct arena arena;
    struct identity_provider old;
    arena_init(&arena);
    int rc = db_find_identity_provider(conn, &arena, &old, err);
    if (rc > 0)
        rc = strcmp(old.issuer, provider->issuer) != 0 || strcmp(old.client_id, provider->client_id) != 0
                 ? forget_people(conn, err)
                 : 0;
    arena_done(&arena);
    return rc;
}

static int set(struct db_conn *conn, void *context, struct error *err)
{
    const struct identity_provider *provider = context;
    sqlite3_stmt *stmt = NULL;
    if (end_where_other(conn, provider, err) < 0 || db_prepare(conn, SQL_SET, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, provider->name);
    db_bind_text(stmt, 2, provider->issuer);
    db_bind_text(stmt, 3, provider->client_id);
    db_bind_text(stmt, 4, provider->client_secret_sealed);
    db_bind_text(stmt, 5, provider->scopes);
    db_bind_text(stmt, 6, provider->groups_claim);
    db_bind_text(stmt, 7, provider->username_claim);
    db_bind_text(stmt, 8, provider->redirect_url);
    db_bind_int(stmt, 9, provider->refresh_s);
    db_bind_text(stmt, 10, provider->updated_by);
    db_bind_int(stmt, 11, provider->updated_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_SETTING, "identityProvider");
    return rc;
}

int db_set_identity_provider(struct db *db, const struct identity_provider *provider, struct error *err)
{
    struct identity_provider copy = *provider;
    return db_write(db, set, &copy, err);
}

static int delete_provider(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    if (run(conn, SQL_DELETE, err) < 0)
        return -1;
    if (db_changed_rows(conn) == 0)
        return error_set(err, ERROR_NOT_FOUND, "no identity provider is set up");
    db_touch(conn, CHANGE_SETTING, "identityProvider");
    return forget_people(conn, err);
}

int db_delete_identity_provider(struct db *db, struct error *err)
{
    return db_write(db, delete_provider, NULL, err);
}
