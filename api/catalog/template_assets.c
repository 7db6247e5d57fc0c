#include "api/catalog/template_assets.h"

#include "api/catalog/asset_family.h"
#include "api/catalog/asset_scope.h"
#include "api/catalog/template_combine.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/catalog/assets.h"
#include "db/catalog/templates.h"
#include "db/db.h"
#include "model/asset_spec.h"

#include <string.h>

struct checking {
    struct request *req;
    struct db_conn *conn;
    const struct workload_template *template;
    const char *prefix; // "", "master."
    struct error *err;
};

// kind is NULL for data sources.
static int check_asset(const struct checking *checking, const char *member, const char *kind, const char *uuid)
{
    struct asset asset;
    const char *path_member;
    struct error *err = checking->err;
    int rc = db_find_asset(checking->conn, kind, uuid, checking->req->arena, &asset, err);
    if (rc < 0)
        return -1;
    const struct asset_family *family = rc > 0 ? asset_family_of(asset.kind) : NULL;
    if (!family || (!kind && !asset_spec_storage(asset.kind, &path_member)) ||
        !asset_scope_is_shown(checking->req, asset.scope, &asset.path, family->type))
        return error_set(err, ERROR_INVALID, "%sassets.%s: there is no %s %.60s", checking->prefix, member,
                         kind ? kind : "data source", uuid);
    if (!asset_scope_holds(asset.scope, &asset.path, &checking->template->path))
        return error_set(err, ERROR_INVALID, "%sassets.%s: %.60s holds for its %s alone, the template for more",
                         checking->prefix, member, asset.name, scope_type_text(asset.scope));
    return 0;
}

static int check_named(const struct checking *checking, const json_t *assets, const char *kind)
{
    const json_t *value = json_object_get(assets, kind);
    if (!value || json_is_null(value))
        return 0;
    return check_asset(checking, kind, kind, json_string_value(value) ? json_string_value(value) : "");
}

static int check_sources(const struct checking *checking, const json_t *sources)
{
    struct arena *arena = checking->req->arena;
    json_t *source;
    size_t i;
    if (json_array_size(sources) > TEMPLATE_DATA_SOURCES_MAX)
        return error_set(checking->err, ERROR_INVALID, "%sassets.datasources: at most %d, got %zu", checking->prefix,
                         TEMPLATE_DATA_SOURCES_MAX, json_array_size(sources));
    json_array_foreach((json_t *)(uintptr_t)sources, i, source) {
        const char *uuid = json_string_value(json_object_get(source, "id"));
        if (check_asset(checking, arena_printf(arena, "datasources[%zu].id", i), NULL, uuid ? uuid : "") < 0)
            return -1;
    }
    return 0;
}

static int check_section(const struct checking *checking, const json_t *assets)
{
    if (check_named(checking, assets, ASSET_KIND_ENVIRONMENT) < 0 ||
        check_named(checking, assets, ASSET_KIND_COMPUTE) < 0)
        return -1;
    return check_sources(checking, json_object_get(assets, "datasources"));
}

int template_assets_check(struct request *req, const struct workload_template *template, const json_t *body,
                          struct error *err)
{
    struct db *db = req->server->db;
    struct checking checking = {req, db_acquire(db), template, "", err};
    int rc = check_section(&checking, json_object_get(body, "assets"));
    checking.prefix = "master.";
    if (rc == 0)
        rc = check_section(&checking, json_object_get(json_object_get(body, "master"), "assets"));
    db_give_back(db, checking.conn);
    return rc;
}
