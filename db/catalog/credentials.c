#include "db/catalog/credentials.h"

#include "base/arena.h"
#include "db/db.h"

// The members by which assets name credentials.
static const char SQL_USES[] =
    "SELECT DISTINCT j.atom, a.uuid, a.name, a.kind, a.scope, coalesce(p.cluster_id, d.cluster_id, c.id), "
    "coalesce(p.department_id, d.id), p.id FROM assets a JOIN json_tree(a.spec_json) j "
    "LEFT JOIN projects p ON a.scope = 'project' AND p.id = CAST(a.scope_id AS INTEGER) "
    "LEFT JOIN departments d ON a.scope = 'department' AND d.id = CAST(a.scope_id AS INTEGER) "
    "LEFT JOIN clusters c ON a.scope = 'cluster' AND c.uuid = a.scope_id "
    "WHERE a.kind IN ('environment', 'git', 's3', 'secret-volume') AND j.key IN ('accessKeyAssetId', 'assetId', "
    "'credentialAssetId', 'credentialId', 'passwordAssetId') AND j.type = 'text' AND j.atom = coalesce(:uuid, j.atom) "
    "ORDER BY 1, a.name, a.id";
// An asset of a scope above the project's holds in it, too.
#define KEPT_FOR(project, secret)                                                                              \
    "FROM projects p JOIN departments d ON d.id = p.department_id "                                            \
    "JOIN clusters c ON c.id = p.cluster_id JOIN assets a JOIN credential_secrets s ON s.asset_uuid = a.uuid " \
    "WHERE p.name = " project " AND (a.uuid = " secret " OR a.name = " secret                                  \
    ") AND (a.scope IN ('system', 'tenant') "                                                                  \
    "OR (a.scope = 'cluster' AND a.scope_id = c.uuid) "                                                        \
    "OR (a.scope = 'department' AND a.scope_id = CAST(d.id AS TEXT)) "                                         \
    "OR (a.scope = 'project' AND a.scope_id = CAST(p.id AS TEXT)))"
static const char SQL_KEPT[] = "SELECT a.uuid, a.kind, a.spec_json, s.secret_sealed " KEPT_FOR(
    ":project", ":secret") " ORDER BY a.uuid != :secret, CASE a.scope WHEN 'project' THEN 0 "
                           "WHEN 'department' THEN 1 WHEN 'cluster' THEN 2 ELSE 3 END, a.kind LIMIT 1";
static const char SQL_NOTED[] = "SELECT 1 FROM cluster_secrets WHERE namespace = :namespace AND name = :name AND "
                                "project_name = :project";
static const char SQL_NOTE[] = "INSERT INTO cluster_secrets (namespace, name, project_name) VALUES (:namespace, :name, "
                               ":project) ON CONFLICT DO UPDATE SET project_name = excluded.project_name";
#define IS_LEFT "NOT EXISTS (SELECT 1 " KEPT_FOR("k.project_name", "k.name") ")"
static const char SQL_LEFT[] =
    "SELECT k.namespace, k.name, k.project_name FROM cluster_secrets k WHERE " IS_LEFT " ORDER BY 1, 2";
static const char SQL_FORGET[] =
    "DELETE FROM cluster_secrets AS k WHERE k.namespace = :namespace AND k.name = :name AND " IS_LEFT;
static const char SQL_HAS_SECRET[] = "SELECT 1 FROM credential_secrets WHERE asset_uuid = :uuid";
static const char SQL_SET_SECRET[] =
    "INSERT INTO credential_secrets (asset_uuid, secret_sealed) VALUES (:uuid, :secret) "
    "ON CONFLICT (asset_uuid) DO UPDATE SET secret_sealed = :secret";
static const char SQL_FORGET_SECRET[] = "DELETE FROM credential_secrets WHERE asset_uuid = :uuid";

int db_list_credential_uses(struct db_conn *conn, const char *credential_uuid, struct arena *arena,
                            struct credential_use **out_uses, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct credential_use *uses = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_USES, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", credential_uuid);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        uses = arena_grow(arena, uses, &capacity, count + 1, sizeof(*uses));
        struct credential_use *use = &uses[count++];
        *use = (struct credential_use){
            .credential_uuid = db_column_text(stmt, 0, arena),
            .uuid = db_column_text(stmt, 1, arena),
            .name = db_column_text(stmt, 2, arena),
            .kind = db_column_text(stmt, 3, arena),
            .path = {.cluster_id = db_column_int(stmt, 5),
                     .department_id = db_column_int(stmt, 6),
                     .project_id = db_column_int(stmt, 7)},
        };
        scope_type_parse(db_column_text(stmt, 4, arena), &use->scope);
    }
    db_release(conn, stmt);
    *out_uses = uses;
    *out_count = count;
    return rc;
}

int db_find_kept_credential(struct db_conn *conn, const char *project_name, const char *secret_name,
                            struct arena *arena, struct kept_credential *out_credential, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_KEPT, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":project", project_name);
    db_set_text(stmt, ":secret", secret_name);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_credential = (struct kept_credential){
            .uuid = db_column_text(stmt, 0, arena),
            .kind = db_column_text(stmt, 1, arena),
            .shown_json = db_column_text(stmt, 2, arena),
            .secret_sealed = db_column_text(stmt, 3, arena),
        };
    db_release(conn, stmt);
    return rc;
}

int db_credential_has_secret(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_HAS_SECRET, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", uuid);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_set_credential_secret_in(struct db_conn *conn, const char *uuid, const char *secret_sealed, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, secret_sealed ? SQL_SET_SECRET : SQL_FORGET_SECRET, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", uuid);
    if (secret_sealed)
        db_set_text(stmt, ":secret", secret_sealed);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int run_of(struct db_conn *conn, const char *sql, const struct cluster_secret *secret, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":namespace", secret->namespace);
    db_set_text(stmt, ":name", secret->name);
    if (sql != SQL_FORGET)
        db_set_text(stmt, ":project", secret->project_name);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int note(struct db_conn *conn, void *context, struct error *err)
{
    return run_of(conn, SQL_NOTE, context, err);
}

static int forget(struct db_conn *conn, void *context, struct error *err)
{
    return run_of(conn, SQL_FORGET, context, err);
}

int db_note_cluster_secret(struct db *db, const struct cluster_secret *secret, struct error *err)
{
    struct cluster_secret copy = *secret;
    struct db_conn *conn = db_acquire(db);
    int rc = run_of(conn, SQL_NOTED, secret, err);
    db_give_back(db, conn);
    return rc == 0 ? db_write_alone(db, note, &copy, err) : rc < 0 ? -1 : 0;
}

int db_list_cluster_secrets_left(struct db_conn *conn, struct arena *arena, struct cluster_secret **out_secrets,
                                 size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct cluster_secret *secrets = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_LEFT, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        secrets = arena_grow(arena, secrets, &capacity, count + 1, sizeof(*secrets));
        secrets[count++] = (struct cluster_secret){.namespace = db_column_text(stmt, 0, arena),
                                                   .name = db_column_text(stmt, 1, arena),
                                                   .project_name = db_column_text(stmt, 2, arena)};
    }
    db_release(conn, stmt);
    *out_secrets = secrets;
    *out_count = count;
    return rc;
}

int db_forget_cluster_secret(struct db *db, const struct cluster_secret *secret, struct error *err)
{
    struct cluster_secret copy = *secret;
    return db_write_alone(db, forget, &copy, err);
}
