#include "db/catalog/assets.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <string.h>

#define SELECT_ASSET                                                                                              \
    "SELECT a.id, a.uuid, a.kind, a.name, a.description, a.scope, a.scope_id, coalesce(p.name, d.name, c.name), " \
    "coalesce(p.cluster_id, d.cluster_id, c.id), coalesce(p.department_id, d.id), p.id, a.workload_types_json, "  \
    "a.spec_json, a.created_by, a.updated_by, a.created_ms, a.updated_ms FROM assets a "                          \
    "LEFT JOIN projects p ON a.scope = 'project' AND p.id = CAST(a.scope_id AS INTEGER) "                         \
    "LEFT JOIN departments d ON a.scope = 'department' AND d.id = CAST(a.scope_id AS INTEGER) "                   \
    "LEFT JOIN clusters c ON a.scope = 'cluster' AND c.uuid = a.scope_id "
static const char SQL_BY_UUID[] = SELECT_ASSET "WHERE a.kind = coalesce(?, a.kind) AND a.uuid = ?";
static const char SQL_BY_KIND[] = SELECT_ASSET "WHERE a.kind = coalesce(?, a.kind) ORDER BY a.name, a.id";
static const char SQL_INSERT[] = "INSERT INTO assets (uuid, kind, name, description, scope, scope_id, "
                                 "workload_types_json, spec_json, created_by, updated_by, "
                                 "created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char SQL_UPDATE[] =
    "UPDATE assets SET name = ?2, description = ?3, spec_json = ?4, updated_by = ?5, updated_ms = ?6 WHERE uuid = ?1";
static const char SQL_DELETE[] = "DELETE FROM assets WHERE uuid = ?";

static void asset_from_row(sqlite3_stmt *stmt, struct arena *arena, struct asset *out_asset)
{
    *out_asset = (struct asset){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .kind = db_column_text(stmt, 2, arena),
        .name = db_column_text(stmt, 3, arena),
        .description = db_column_text(stmt, 4, arena),
        .scope_id = db_column_text(stmt, 6, arena),
        .scope_name = db_column_text(stmt, 7, arena),
        .path = {.cluster_id = db_column_int(stmt, 8),
                 .department_id = db_column_int(stmt, 9),
                 .project_id = db_column_int(stmt, 10)},
        .workload_types_json = db_column_text(stmt, 11, arena),
        .spec_json = db_column_text(stmt, 12, arena),
        .created_by = db_column_text(stmt, 13, arena),
        .updated_by = db_column_text(stmt, 14, arena),
        .created_ms = db_column_int(stmt, 15),
        .updated_ms = db_column_int(stmt, 16),
    };
    scope_type_parse(db_column_text(stmt, 5, arena), &out_asset->scope);
}

// An asset of a place that has gone belongs nowhere: it is not shown.
static bool is_placed(const struct asset *asset)
{
    return asset->scope <= SCOPE_TENANT || asset->path.cluster_id;
}

int db_find_asset(struct db_conn *conn, const char *kind, const char *uuid, struct arena *arena,
                  struct asset *out_asset, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_UUID, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, kind);
    db_bind_text(stmt, 2, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        asset_from_row(stmt, arena, out_asset);
    db_release(conn, stmt);
    return rc > 0 && !is_placed(out_asset) ? 0 : rc;
}

static bool is_asked_for(const struct asset *asset, const struct asset_query *query)
{
    if (!is_placed(asset) || (query->name && strcmp(query->name, asset->name) != 0) ||
        (query->scope && *query->scope != asset->scope))
        return false;
    return !query->at || scope_path_contains(&asset->path, query->at) ||
           (query->has_descendants && scope_path_contains(query->at, &asset->path));
}

int db_list_assets(struct db_conn *conn, const struct asset_query *query, struct arena *arena,
                   struct asset **out_assets, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct asset *assets = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, SQL_BY_KIND, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, query->kind);
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        assets = arena_grow(arena, assets, &capacity, count + 1, sizeof(*assets));
        asset_from_row(stmt, arena, &assets[count]);
        if (is_asked_for(&assets[count], query))
            count++;
    }
    db_release(conn, stmt);
    *out_assets = assets;
    *out_count = count;
    return rc;
}

static int run_named(struct db_conn *conn, sqlite3_stmt *stmt, const struct asset *asset, struct error *err)
{
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "meta.name: %.100s is taken in this scope", asset->name);
    if (rc < 0 && err)
        *err = cause;
    return rc;
}

int db_create_asset_in(struct db_conn *conn, struct asset *asset, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, asset->uuid);
    db_bind_text(stmt, 2, asset->kind);
    db_bind_text(stmt, 3, asset->name);
    db_bind_text(stmt, 4, asset->description);
    db_bind_text(stmt, 5, scope_type_text(asset->scope));
    db_bind_text(stmt, 6, asset->scope_id);
    db_bind_text(stmt, 7, asset->workload_types_json);
    db_bind_text(stmt, 8, asset->spec_json);
    db_bind_text(stmt, 9, asset->created_by);
    db_bind_text(stmt, 10, asset->created_by);
    db_bind_int(stmt, 11, asset->created_ms);
    db_bind_int(stmt, 12, asset->created_ms);
    if (run_named(conn, stmt, asset, err) < 0)
        return -1;
    asset->id = db_last_insert_id(conn);
    db_touch(conn, CHANGE_ASSET, asset->uuid);
    return 0;
}

int db_update_asset_in(struct db_conn *conn, const struct asset *asset, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, asset->uuid);
    db_bind_text(stmt, 2, asset->name);
    db_bind_text(stmt, 3, asset->description);
    db_bind_text(stmt, 4, asset->spec_json);
    db_bind_text(stmt, 5, asset->updated_by);
    db_bind_int(stmt, 6, asset->updated_ms);
    if (run_named(conn, stmt, asset, err) < 0)
        return -1;
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "asset %s: not found", asset->uuid);
    db_touch(conn, CHANGE_ASSET, asset->uuid);
    return 0;
}

int db_delete_asset_in(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "asset %s: not found", uuid);
    db_touch(conn, CHANGE_ASSET, uuid);
    return rc;
}
