#include "db/catalog/templates.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

static const char SQL_BY_UUID[] =
    "SELECT " TEMPLATE_COLUMNS " FROM " TEMPLATE_FROM " WHERE t.uuid = :uuid AND " TEMPLATE_IS_PLACED;
static const char SQL_BY_ASSET[] = "SELECT " TEMPLATE_COLUMNS " FROM " TEMPLATE_FROM " WHERE t.id IN "
                                   "(SELECT template_id FROM template_assets WHERE asset_uuid = :uuid) "
                                   "AND " TEMPLATE_IS_PLACED " ORDER BY t.name, t.id";
static const char SQL_USES[] =
    "SELECT ta.asset_uuid, t.uuid, t.name, t.scope, coalesce(p.cluster_id, d.cluster_id, c.id), "
    "coalesce(p.department_id, d.id), p.id FROM template_assets ta JOIN " TEMPLATE_FROM " WHERE t.id = ta.template_id "
    "AND ta.asset_uuid = coalesce(:uuid, ta.asset_uuid) AND " TEMPLATE_IS_PLACED " ORDER BY 1, t.name, t.id";
static const char SQL_NAME_IS_TAKEN[] =
    "SELECT 1 FROM templates WHERE scope = :scope AND scope_id = :scope_id AND name = :name";
static const char SQL_INSERT[] =
    "INSERT INTO templates (uuid, workload_type, name, description, scope, scope_id, spec_json, assets_json, "
    "master_json, is_master_same, combined_spec_json, combined_master_json, sources_json, issue, created_by, "
    "created_ms, updated_ms) VALUES (:uuid, :type, :name, :description, :scope, :scope_id, :spec, :assets, :master, "
    ":is_master_same, :combined_spec, :combined_master, :sources, :issue, :created_by, :created_ms, 0)";
static const char SQL_UPDATE[] =
    "UPDATE templates SET name = :name, description = :description, spec_json = :spec, assets_json = :assets, "
    "master_json = :master, is_master_same = :is_master_same, combined_spec_json = :combined_spec, "
    "combined_master_json = :combined_master, sources_json = :sources, issue = :issue, updated_by = :updated_by, "
    "updated_ms = :updated_ms WHERE uuid = :uuid";
static const char SQL_SET_COMBINED[] =
    "UPDATE templates SET combined_spec_json = :combined_spec, combined_master_json = :combined_master, "
    "sources_json = :sources, issue = :issue WHERE uuid = :uuid";
static const char SQL_FORGET_ASSETS[] = "DELETE FROM template_assets WHERE template_id = :id";
static const char SQL_ADD_ASSET[] =
    "INSERT OR IGNORE INTO template_assets (template_id, asset_uuid) VALUES (:id, :uuid)";
static const char SQL_DELETE[] = "DELETE FROM templates WHERE uuid = :uuid";

void template_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct workload_template *out_template)
{
    *out_template = (struct workload_template){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .workload_type = db_column_text(stmt, 2, arena),
        .name = db_column_text(stmt, 3, arena),
        .description = db_column_text(stmt, 4, arena),
        .scope_id = db_column_text(stmt, 6, arena),
        .path = {.cluster_id = db_column_int(stmt, 7),
                 .department_id = db_column_int(stmt, 8),
                 .project_id = db_column_int(stmt, 9)},
        .spec_json = db_column_text(stmt, 10, arena),
        .assets_json = db_column_text(stmt, 11, arena),
        .master_json = db_column_text(stmt, 12, arena),
        .is_master_same = db_column_is_null(stmt, 13) ? -1 : db_column_int(stmt, 13) != 0,
        .combined_spec_json = db_column_text(stmt, 14, arena),
        .combined_master_json = db_column_text(stmt, 15, arena),
        .sources_json = db_column_text(stmt, 16, arena),
        .issue = db_column_text(stmt, 17, arena),
        .created_by = db_column_text(stmt, 18, arena),
        .updated_by = db_column_text(stmt, 19, arena),
        .created_ms = db_column_int(stmt, 20),
        .updated_ms = db_column_int(stmt, 21),
        .lacks_an_asset = db_column_int(stmt, 22) != 0,
    };
    scope_type_parse(db_column_text(stmt, 5, arena), &out_template->scope);
}

int db_find_template(struct db_conn *conn, const char *uuid, struct arena *arena,
                     struct workload_template *out_template, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_BY_UUID, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", uuid);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        template_from_row(stmt, arena, out_template);
    db_release(conn, stmt);
    return rc;
}

int db_template_name_is_taken(struct db_conn *conn, enum scope_type scope, const char *scope_id, const char *name,
                              struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_NAME_IS_TAKEN, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":scope", scope_type_text(scope));
    db_set_text(stmt, ":scope_id", scope_id);
    db_set_text(stmt, ":name", name);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_list_templates_of_asset(struct db_conn *conn, const char *asset_uuid, struct arena *arena,
                               struct workload_template **out_templates, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct workload_template *templates = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_BY_ASSET, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", asset_uuid);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        templates = arena_grow(arena, templates, &capacity, count + 1, sizeof(*templates));
        template_from_row(stmt, arena, &templates[count++]);
    }
    db_release(conn, stmt);
    *out_templates = templates;
    *out_count = count;
    return rc;
}

int db_list_template_uses(struct db_conn *conn, const char *asset_uuid, struct arena *arena,
                          struct template_use **out_uses, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct template_use *uses = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_USES, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", asset_uuid);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        uses = arena_grow(arena, uses, &capacity, count + 1, sizeof(*uses));
        struct template_use *use = &uses[count++];
        *use = (struct template_use){
            .asset_uuid = db_column_text(stmt, 0, arena),
            .uuid = db_column_text(stmt, 1, arena),
            .name = db_column_text(stmt, 2, arena),
            .path = {.cluster_id = db_column_int(stmt, 4),
                     .department_id = db_column_int(stmt, 5),
                     .project_id = db_column_int(stmt, 6)},
        };
        scope_type_parse(db_column_text(stmt, 3, arena), &use->scope);
    }
    db_release(conn, stmt);
    *out_uses = uses;
    *out_count = count;
    return rc;
}

static void set_combined(sqlite3_stmt *stmt, const struct workload_template *template)
{
    db_set_text(stmt, ":uuid", template->uuid);
    db_set_text(stmt, ":combined_spec", template->combined_spec_json);
    db_set_text(stmt, ":combined_master", template->combined_master_json);
    db_set_text(stmt, ":sources", template->sources_json);
    db_set_text(stmt, ":issue", template->issue);
}

static void set_contents(sqlite3_stmt *stmt, const struct workload_template *template)
{
    set_combined(stmt, template);
    db_set_text(stmt, ":name", template->name);
    db_set_text(stmt, ":description", template->description);
    db_set_text(stmt, ":spec", template->spec_json);
    db_set_text(stmt, ":assets", template->assets_json);
    db_set_text(stmt, ":master", template->master_json);
    db_set_int_or_null(stmt, ":is_master_same", template->is_master_same >= 0, template->is_master_same);
}

static int run_named(struct db_conn *conn, sqlite3_stmt *stmt, const struct workload_template *template,
                     struct error *err)
{
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "meta.name: %.100s is taken in this scope", template->name);
    if (rc < 0 && err)
        *err = cause;
    return rc;
}

int db_create_template_in(struct db_conn *conn, struct workload_template *template, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    set_contents(stmt, template);
    db_set_text(stmt, ":type", template->workload_type);
    db_set_text(stmt, ":scope", scope_type_text(template->scope));
    db_set_text(stmt, ":scope_id", template->scope_id);
    db_set_text(stmt, ":created_by", template->created_by);
    db_set_int(stmt, ":created_ms", template->created_ms);
    if (run_named(conn, stmt, template, err) < 0)
        return -1;
    template->id = db_last_insert_id(conn);
    db_touch(conn, CHANGE_ASSET, template->uuid);
    return 0;
}

int db_update_template_in(struct db_conn *conn, const struct workload_template *template, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    set_contents(stmt, template);
    db_set_text(stmt, ":updated_by", template->updated_by);
    db_set_int(stmt, ":updated_ms", template->updated_ms);
    if (run_named(conn, stmt, template, err) < 0)
        return -1;
    if (!db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "template %s: not found", template->uuid);
    db_touch(conn, CHANGE_ASSET, template->uuid);
    return 0;
}

int db_set_template_combined_in(struct db_conn *conn, const struct workload_template *template, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_SET_COMBINED, &stmt, err) < 0)
        return -1;
    set_combined(stmt, template);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int run_for_template(struct db_conn *conn, const char *sql, int64_t id, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", id);
    if (uuid)
        db_set_text(stmt, ":uuid", uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_set_template_assets_in(struct db_conn *conn, int64_t template_id, const char *const *asset_uuids, size_t count,
                              struct error *err)
{
    int rc = run_for_template(conn, SQL_FORGET_ASSETS, template_id, NULL, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = run_for_template(conn, SQL_ADD_ASSET, template_id, asset_uuids[i], err);
    return rc;
}

int db_delete_template_in(struct db_conn *conn, const char *uuid, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", uuid);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc == 0 && !db_changed_rows(conn))
        return error_set(err, ERROR_NOT_FOUND, "template %s: not found", uuid);
    db_touch(conn, CHANGE_ASSET, uuid);
    return rc;
}
