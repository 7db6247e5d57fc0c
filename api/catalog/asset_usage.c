#include "api/catalog/asset_usage.h"

#include "api/access/authorization.h"
#include "api/catalog/asset_scope.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/json_writer.h"
#include "db/catalog/assets.h"
#include "db/catalog/credentials.h"
#include "db/catalog/templates.h"
#include "db/db.h"

#include <string.h>

int asset_usage_read(const struct request *req, enum asset_group group, const char *uuid, struct asset_usage *out_usage,
                     struct error *err)
{
    struct template_use *uses = NULL;
    struct credential_use *credential_uses = NULL;
    *out_usage = (struct asset_usage){
        .is_asked = req->operation->method == HTTP_METHOD_GET && request_query_boolean(req, "usageInfo"),
        .is_of_credentials = group == ASSET_GROUP_CREDENTIAL,
    };
    if (!out_usage->is_asked)
        return 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc =
        out_usage->is_of_credentials
            ? db_list_credential_uses(conn, uuid, req->arena, &credential_uses, &out_usage->credential_use_count, err)
            : db_list_template_uses(conn, uuid, req->arena, &uses, &out_usage->count, err);
    db_give_back(req->server->db, conn);
    out_usage->uses = uses;
    out_usage->credential_uses = credential_uses;
    return rc;
}

static void write_templates(struct json_writer *json, const struct request *req, const char *uuid,
                            const struct asset_usage *usage)
{
    json_key(json, "templates");
    json_begin_array(json);
    for (size_t i = 0; i < usage->count; i++) {
        const struct template_use *use = &usage->uses[i];
        if (strcmp(use->asset_uuid, uuid) != 0 ||
            !asset_scope_is_shown(req, use->scope, &use->path, RESOURCE_TYPE_TEMPLATES))
            continue;
        json_begin_object(json);
        json_text(json, "id", use->uuid);
        json_text(json, "name", use->name);
        json_end_object(json);
    }
    json_end_array(json);
}

static bool is_shown(const struct request *req, const struct credential_use *use)
{
    const struct asset_family *family = asset_family_of(use->kind);
    return family && asset_family_is_allowed(req, family, ACTION_READ) &&
           asset_scope_is_shown(req, use->scope, &use->path, family->type);
}

// Environments, or data sources.
static void write_assets(struct json_writer *json, const struct request *req, const char *uuid,
                         const struct asset_usage *usage, bool is_environments)
{
    json_key(json, is_environments ? "environments" : "datasources");
    json_begin_array(json);
    for (size_t i = 0; i < usage->credential_use_count; i++) {
        const struct credential_use *use = &usage->credential_uses[i];
        bool is_environment = !strcmp(use->kind, ASSET_KIND_ENVIRONMENT);
        if (strcmp(use->credential_uuid, uuid) != 0 || is_environment != is_environments || !is_shown(req, use))
            continue;
        json_begin_object(json);
        json_text(json, "id", use->uuid);
        json_text(json, "name", use->name);
        if (!is_environment)
            json_text(json, "kind", use->kind);
        json_end_object(json);
    }
    json_end_array(json);
}

// A submission copies what it loads: no workload holds on to an asset.
void asset_usage_write(struct json_writer *json, const struct request *req, const char *uuid,
                       const struct asset_usage *usage)
{
    static const char *const USERS[] = {"workspaces", "trainings", "distributed", "inferences"};
    json_key(json, "usedBy");
    json_begin_object(json);
    for (size_t i = 0; i < sizeof(USERS) / sizeof(USERS[0]); i++)
        json_raw(json, USERS[i], "[]");
    write_templates(json, req, uuid, usage);
    if (usage->is_of_credentials) {
        json_key(json, "assets");
        json_begin_object(json);
        write_assets(json, req, uuid, usage, true);
        write_assets(json, req, uuid, usage, false);
        json_end_object(json);
    }
    json_end_object(json);
    json_key(json, "usageTimes");
    json_begin_object(json);
    json_null_at(json, "lastUsedByWorkload");
    json_end_object(json);
}
