// Templates of workloads. A template belongs to a scope and is seen by all below it; db/migrations/0017_templates.sql
// says what its columns mean.
#pragma once
#include "model/scope.h"
#include <stddef.h>

struct arena;
struct db_conn;
struct error;
struct sqlite3_stmt;

struct workload_template {
    int64_t id;
    const char *uuid;
    const char *workload_type; // "Workspace", "Training", "Distributed", "Inference"
    const char *name;
    const char *description; // "": none
    enum scope_type scope;
    const char *scope_id;   // as the API names it; "" for the tenant
    struct scope_path path; // read only
    const char *spec_json;  // NULL: none
    const char *assets_json;
    const char *master_json;
    int is_master_same; // -1: not said
    const char *combined_spec_json;
    const char *combined_master_json; // NULL: none
    const char *sources_json;
    const char *issue; // "": it can be submitted as it is
    const char *created_by;
    const char *updated_by;
    int64_t created_ms;
    int64_t updated_ms;  // 0: never changed
    bool lacks_an_asset; // read only: one that it names has gone
};

// The columns that template_from_row reads, for lists of the API.
#define TEMPLATE_COLUMNS                                                                                              \
    "t.id, t.uuid, t.workload_type, t.name, t.description, t.scope, t.scope_id, "                                     \
    "coalesce(p.cluster_id, d.cluster_id, c.id), coalesce(p.department_id, d.id), p.id, t.spec_json, t.assets_json, " \
    "t.master_json, t.is_master_same, t.combined_spec_json, t.combined_master_json, t.sources_json, t.issue, "        \
    "t.created_by, t.updated_by, t.created_ms, t.updated_ms, EXISTS (SELECT 1 FROM template_assets ta WHERE "         \
    "ta.template_id = t.id AND NOT EXISTS (SELECT 1 FROM assets a WHERE a.uuid = ta.asset_uuid))"
#define TEMPLATE_FROM                                                                                 \
    "templates t LEFT JOIN projects p ON t.scope = 'project' AND p.id = CAST(t.scope_id AS INTEGER) " \
    "LEFT JOIN departments d ON t.scope = 'department' AND d.id = CAST(t.scope_id AS INTEGER) "       \
    "LEFT JOIN clusters c ON t.scope = 'cluster' AND c.uuid = t.scope_id"
// A template of a place that has gone belongs nowhere: it is not shown.
#define TEMPLATE_IS_PLACED "(t.scope = 'tenant' OR p.id IS NOT NULL OR d.id IS NOT NULL OR c.id IS NOT NULL)"
void template_from_row(struct sqlite3_stmt *stmt, struct arena *arena, struct workload_template *out_template);

// 1: found; 0: none; -1: error.
int db_find_template(struct db_conn *conn, const char *uuid, struct arena *arena,
                     struct workload_template *out_template, struct error *err);
// 1: a template of the scope has the name; 0: none has; -1: error.
int db_template_name_is_taken(struct db_conn *conn, enum scope_type scope, const char *scope_id, const char *name,
                              struct error *err);
// The templates that name the asset, by name.
int db_list_templates_of_asset(struct db_conn *conn, const char *asset_uuid, struct arena *arena,
                               struct workload_template **out_templates, size_t *out_count, struct error *err);

// That a template names an asset.
struct template_use {
    const char *asset_uuid;
    const char *uuid, *name; // the template's
    enum scope_type scope;
    struct scope_path path;
};

// By asset, then by the template's name; of all assets where asset_uuid is NULL.
int db_list_template_uses(struct db_conn *conn, const char *asset_uuid, struct arena *arena,
                          struct template_use **out_uses, size_t *out_count, struct error *err);

// Write functions: to be called inside db_write().

// Sets id. ERROR_CONFLICT where the name is taken in the scope.
int db_create_template_in(struct db_conn *conn, struct workload_template *template, struct error *err);
// All but type, scope and creation. ERROR_CONFLICT, ERROR_NOT_FOUND.
int db_update_template_in(struct db_conn *conn, const struct workload_template *template, struct error *err);
// What it comes to: the combined columns, the sources and the issue.
int db_set_template_combined_in(struct db_conn *conn, const struct workload_template *template, struct error *err);
// Puts these in the place of the assets that it named.
int db_set_template_assets_in(struct db_conn *conn, int64_t template_id, const char *const *asset_uuids, size_t count,
                              struct error *err);
int db_delete_template_in(struct db_conn *conn, const char *uuid, struct error *err);
