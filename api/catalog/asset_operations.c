#include "api/catalog/asset_operations.h"

#include "api/access/audit.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/catalog/asset_family.h"
#include "api/catalog/asset_scope.h"
#include "api/catalog/asset_usage.h"
#include "api/catalog/catalog_compliance.h"
#include "api/catalog/template_combine.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/catalog/assets.h"
#include "db/catalog/credentials.h"
#include "db/db.h"
#include "db/scopes.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_meta(struct json_writer *json, const struct asset *asset)
{
    json_key(json, "meta");
    json_begin_object(json);
    json_text(json, "id", asset->uuid);
    json_text(json, "name", asset->name);
    json_text(json, "kind", asset->kind);
    if (*asset->description)
        json_text(json, "description", asset->description);
    json_text(json, "scope", scope_type_text(asset->scope));
    if (asset->scope == SCOPE_CLUSTER)
        json_text(json, "clusterId", asset->scope_id);
    if (asset->scope == SCOPE_DEPARTMENT)
        json_text(json, "departmentId", asset->scope_id);
    if (asset->scope == SCOPE_PROJECT) {
        json_int(json, "projectId", asset->path.project_id);
        json_text(json, "projectName", asset->scope_name);
    }
    json_int(json, "tenantId", TENANT_ID);
    json_bool(json, "autoDelete", false);
    json_bool(json, "private", false);
    json_raw(json, "workloadSupportedTypes", asset->workload_types_json);
    json_text(json, "createdBy", asset->created_by);
    json_time(json, "createdAt", asset->created_ms);
    json_text(json, "updatedBy", asset->updated_by);
    json_time(json, "updatedAt", asset->updated_ms);
    json_end_object(json);
}

static void write_status(struct json_writer *json)
{
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "status", "No issues found");
    json_key(json, "issues");
    json_begin_array(json);
    json_end_array(json);
    json_end_object(json);
}

// within is the member of `spec` that has it, in lists of several kinds; NULL: none.
static void write_spec(struct json_writer *json, const struct asset *asset, const char *within)
{
    if (!within) {
        json_raw(json, "spec", asset->spec_json);
        return;
    }
    json_key(json, "spec");
    json_begin_object(json);
    json_raw(json, within, asset->spec_json);
    json_end_object(json);
}

// A parameter that the operation does not have counts as left out.
static void write_asset(struct json_writer *json, struct request *req, const struct asset *asset, const char *within,
                        const struct asset_usage *usage, const struct catalog_compliance *compliance)
{
    bool is_get = req->operation->method == HTTP_METHOD_GET;
    bool is_environment = !strcmp(asset->kind, ASSET_KIND_ENVIRONMENT);
    json_begin_object(json);
    write_meta(json, asset);
    write_spec(json, asset, within);
    if (usage->is_asked)
        asset_usage_write(json, req, asset->uuid, usage);
    if (is_get && compliance->is_asked)
        catalog_compliance_write(json, compliance, asset->kind, asset->spec_json, req->arena);
    if (is_get && is_environment && request_query_boolean(req, "statusInfo"))
        write_status(json);
    json_end_object(json);
}

// Where the list is asked for: the deepest of the three parameters; false where there is none. An unknown place is a
// 400, since it came in the query.
static int read_place(struct request *req, bool *out_has_place, struct scope_path *out_path, struct error *err)
{
    enum scope_type type = request_has_query(req, "projectId")      ? SCOPE_PROJECT
                           : request_has_query(req, "departmentId") ? SCOPE_DEPARTMENT
                           : request_has_query(req, "clusterId")    ? SCOPE_CLUSTER
                                                                    : SCOPE_TENANT;
    *out_has_place = type != SCOPE_TENANT;
    if (!*out_has_place)
        return 0;
    const char *id = type == SCOPE_PROJECT
                         ? arena_printf(req->arena, "%" PRId64, request_query_integer(req, "projectId", 0))
                     : type == SCOPE_DEPARTMENT ? request_query(req, "departmentId")
                                                : request_query(req, "clusterId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_scope(conn, type, id, req->arena, out_path, NULL, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "%sId: there is no %s %.60s", scope_type_text(type), scope_type_text(type),
                         id);
    return rc < 0 ? -1 : 0;
}

static bool json_text_has(const char *json_text, const char *member)
{
    json_t *object = json_text ? json_loads(json_text, 0, NULL) : NULL;
    bool is_set = json_is_true(json_object_get(object, member));
    json_decref(object);
    return is_set;
}

// isTraining=true and so on: environments that say so. One that names no kinds suits all.
static bool suits_kinds(const struct request *req, const struct asset *asset)
{
    static const char *const KINDS[][2] = {{"isDistributed", "distributed"},
                                           {"isTraining", "training"},
                                           {"isWorkspace", "workspace"},
                                           {"isInference", "inference"}};
    if (strcmp(asset->kind, ASSET_KIND_ENVIRONMENT) != 0 || !asset->workload_types_json)
        return true;
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (request_has_query(req, KINDS[i][0]) &&
            request_query_boolean(req, KINDS[i][0]) != json_text_has(asset->workload_types_json, KINDS[i][1]))
            return false;
    return true;
}

static int find_assets(struct request *req, const char *kind, struct asset **out_assets, size_t *out_count,
                       struct error *err)
{
    struct scope_path place;
    enum scope_type scope;
    bool has_place, has_scope = request_has_query(req, "scope");
    if (has_scope && !scope_type_parse(request_query(req, "scope"), &scope))
        return error_set(err, ERROR_INVALID, "scope: expected system, tenant, cluster, department or project");
    if (read_place(req, &has_place, &place, err) < 0)
        return -1;
    struct asset_query query = {
        .kind = kind,
        .name = request_query(req, "name"),
        .scope = has_scope ? &scope : NULL,
        .at = has_place ? &place : NULL,
        .has_descendants = request_query_boolean(req, "includeDescendants"),
    };
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_assets(conn, &query, req->arena, out_assets, out_count, err);
    db_give_back(req->server->db, conn);
    return rc;
}

// Of one kind, or where family is NULL of all of the group that the caller may read anywhere.
static int list_shown(struct request *req, struct response *res, const struct asset_family *family,
                      enum asset_group group, struct error *err)
{
    struct asset *assets;
    struct asset_usage usage;
    struct catalog_compliance compliance;
    struct json_writer json;
    size_t count;
    if (find_assets(req, family ? family->kind : NULL, &assets, &count, err) < 0 ||
        asset_usage_read(req, group, NULL, &usage, err) < 0 || catalog_compliance_open(req, &compliance, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "entries");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        const struct asset *asset = &assets[i];
        const struct asset_family *own = asset_family_of(asset->kind);
        if (own && own->group == group && asset_family_is_allowed(req, own, ACTION_READ) &&
            asset_scope_is_shown(req, asset->scope, &asset->path, own->type) && suits_kinds(req, asset))
            write_asset(&json, req, asset, family ? NULL : own->within, &usage, &compliance);
    }
    json_end_array(&json);
    json_end_object(&json);
    catalog_compliance_done(&compliance);
    return 0;
}

int asset_list(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    return list_shown(req, res, family, family->group, err);
}

int asset_list_group(struct request *req, struct response *res, enum asset_group group, struct error *err)
{
    return list_shown(req, res, NULL, group, err);
}

static int find_asset(struct request *req, const struct asset_family *family, const char *id, enum access_action action,
                      struct asset *out_asset, struct error *err)
{
    const char *what = arena_printf(req->arena, "asset %.60s", id);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_asset(conn, family->kind, id, req->arena, out_asset, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    return rc < 0 ? -1 : asset_scope_check(req, out_asset->scope, &out_asset->path, family->type, action, what, err);
}

static int answer_asset(struct request *req, struct response *res, const struct asset_family *family,
                        const struct asset *asset, struct error *err)
{
    struct json_writer json;
    struct asset_usage usage;
    struct catalog_compliance compliance;
    if (asset_usage_read(req, family->group, asset->uuid, &usage, err) < 0 ||
        catalog_compliance_open(req, &compliance, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_asset(&json, req, asset, NULL, &usage, &compliance);
    catalog_compliance_done(&compliance);
    return 0;
}

int asset_get(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct asset asset;
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_READ, &asset, err) < 0)
        return -1;
    return answer_asset(req, res, family, &asset, err);
}

static json_t *history_record(struct request *req, const struct asset *asset, const char *reason, const char *who,
                              int64_t time_ms)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(time_ms, time);
    return json_pack("{s:{s:s, s:s}, s:{s:{s:s, s:s, s:s, s:s, s:s}}}", "meta", "creationTimestamp", time, "type",
                     "Event", "spec", "event", "createdAt", time, "type", "Normal", "clusterId",
                     reconciler_cluster_uuid(req->server->reconciler, req->arena), "reason", reason, "message",
                     arena_printf(req->arena, "%s: %s by %s", asset->name, reason, who));
}

int asset_history(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct asset asset;
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_READ, &asset, err) < 0)
        return -1;
    int64_t offset = request_query_integer(req, "offset", 0), limit = request_query_integer(req, "limit", 50);
    json_t *records = json_array(), *page = json_array();
    if (asset.updated_ms > asset.created_ms)
        json_array_append_new(records, history_record(req, &asset, "Updated", asset.updated_by, asset.updated_ms));
    json_array_append_new(records, history_record(req, &asset, "Created", asset.created_by, asset.created_ms));
    int64_t count = (int64_t)json_array_size(records);
    for (int64_t i = offset; i < count && i - offset < limit; i++)
        json_array_append(page, json_array_get(records, (size_t)i));
    json_decref(records);
    json_t *answer = json_pack("{s:o}", "records", page);
    if (offset < count && offset + limit < count)
        json_object_set_new(answer, "next", json_integer(offset + limit));
    return response_json(res, answer);
}

static const char *dump(struct request *req, const json_t *value)
{
    char *text = value && !json_is_null(value) ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    const char *copy = arena_strdup(req->arena, text);
    free(text);
    return copy;
}

static const char *text_or(const json_t *object, const char *name, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : fallback;
}

static int scope_parameter_missing(const char *member, struct error *err)
{
    return error_set(err, ERROR_INVALID, "meta.%s: required for this scope", member);
}

// As text, or as the number that it was once; 0 where it is neither.
static int64_t read_project_id(const json_t *value)
{
    const char *text = json_string_value(value);
    double number = json_number_value(value);
    if (!text)
        return number >= 1 && number <= INT32_MAX && floor(number) == number ? (int64_t)number : 0;
    size_t length = strlen(text);
    return length > 0 && length <= 18 && strspn(text, "0123456789") == length ? atoll(text) : 0;
}

// The scope that meta names, and the right to create there.
static int read_scope(struct request *req, const struct asset_family *family, const json_t *meta, struct asset *asset,
                      struct error *err)
{
    const json_t *project = json_object_get(meta, "projectId");
    int rc = 0;
    scope_type_parse(text_or(meta, "scope", ""), &asset->scope);
    asset->scope_id = "";
    switch (asset->scope) {
    case SCOPE_PROJECT:
        if (!project || json_is_null(project))
            return scope_parameter_missing("projectId", err);
        int64_t id = read_project_id(project);
        if (id <= 0)
            return error_set(err, ERROR_INVALID, "meta.projectId: expected an id of digits");
        asset->scope_id = arena_printf(req->arena, "%" PRId64, id);
        rc = access_check_project(req, id, family->type, ACTION_CREATE, &asset->path, err);
        break;
    case SCOPE_DEPARTMENT:
        asset->scope_id = text_or(meta, "departmentId", NULL);
        if (!asset->scope_id)
            return scope_parameter_missing("departmentId", err);
        id = atoll(asset->scope_id);
        asset->scope_id = arena_printf(req->arena, "%" PRId64, id);
        rc = access_check_department(req, id, family->type, ACTION_CREATE, &asset->path, err);
        break;
    case SCOPE_CLUSTER:
        asset->scope_id = text_or(meta, "clusterId", NULL);
        if (!asset->scope_id)
            return scope_parameter_missing("clusterId", err);
        rc = access_check_cluster(req, asset->scope_id, family->type, ACTION_CREATE, &asset->path, err);
        break;
    case SCOPE_TENANT:
        rc = access_check_tenant(req, family->type, ACTION_CREATE, err);
        break;
    default:
        return error_set(err, ERROR_INVALID, "meta.scope: system is for predefined assets");
    }
    if (rc < 0 && err && err->code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "meta.%sId: there is no %s %.60s", scope_type_text(asset->scope),
                         scope_type_text(asset->scope), asset->scope_id);
    return rc;
}

// Nothing refers to a credential that went while it was read.
static int check_credential(struct db_conn *conn, const struct asset_write *write, struct error *err)
{
    struct asset credential;
    if (!write->credential_uuid)
        return 0;
    int rc = db_find_asset(conn, NULL, write->credential_uuid, write->arena, &credential, err);
    return rc == 0 ? error_set(err, ERROR_INVALID, "spec: credential %s has gone", write->credential_uuid) : rc;
}

static int set_secret(struct db_conn *conn, const struct asset_write *write, struct error *err)
{
    return write->sets_secret ? db_set_credential_secret_in(conn, write->asset->uuid, write->secret_sealed, err) : 0;
}

static int create_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    if (check_credential(conn, write, err) < 0 || db_create_asset_in(conn, write->asset, err) < 0)
        return -1;
    return set_secret(conn, write, err);
}

// The templates that are made from it, and where it is a credential, from what signs in with it.
static int refresh(struct db_conn *conn, const struct asset_write *write, struct error *err)
{
    struct credential_use *uses = NULL;
    size_t count = 0;
    if (write->family->group == ASSET_GROUP_CREDENTIAL &&
        db_list_credential_uses(conn, write->asset->uuid, write->arena, &uses, &count, err) < 0)
        return -1;
    int rc = template_refresh(conn, write->asset->uuid, write->arena, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = template_refresh(conn, uses[i].uuid, write->arena, err);
    return rc;
}

static int update_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    if (check_credential(conn, write, err) < 0 || db_update_asset_in(conn, write->asset, err) < 0 ||
        set_secret(conn, write, err) < 0)
        return -1;
    return refresh(conn, write, err);
}

// 412 while something else signs in with it.
static int check_unused(struct db_conn *conn, const struct asset_write *write, struct error *err)
{
    struct credential_use *uses = NULL;
    size_t count = 0;
    if (write->family->group == ASSET_GROUP_CREDENTIAL &&
        db_list_credential_uses(conn, write->asset->uuid, write->arena, &uses, &count, err) < 0)
        return -1;
    if (count == 0)
        return 0;
    return error_set(err, ERROR_PRECONDITION, "%.60s is in use by %zu %s; take it out of them first",
                     write->asset->name, count, count == 1 ? "asset" : "assets");
}

static int delete_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    if (check_unused(conn, write, err) < 0 || db_delete_asset_in(conn, write->asset->uuid, err) < 0)
        return -1;
    return template_refresh(conn, write->asset->uuid, write->arena, err);
}

int asset_take_spec(struct request *req, const json_t *spec, struct asset_write *write, struct error *err)
{
    (void)err;
    const char *text = dump(req, spec);
    write->asset->spec_json = text ? text : "{}";
    return 0;
}

int asset_create(struct request *req, struct response *res, const struct asset_family *family,
                 asset_read_spec_fn read_spec, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta");
    char uuid[UUID_SIZE];
    struct asset asset = {
        .uuid = uuid,
        .kind = family->kind,
        .name = text_or(meta, "name", ""),
        .description = text_or(meta, "description", ""),
        .workload_types_json = dump(req, json_object_get(meta, "workloadSupportedTypes")),
        .created_by = req->caller->name,
        .created_ms = req->received_ms,
    };
    struct asset_write write = {.asset = &asset, .arena = req->arena, .family = family};
    uuid_create(uuid);
    audit_entity(req, NULL, uuid, NULL);
    if (read_scope(req, family, meta, &asset, err) < 0 ||
        read_spec(req, json_object_get(req->body, "spec"), &write, err) < 0 ||
        db_write(req->server->db, create_in, &write, err) < 0 ||
        find_asset(req, family, uuid, ACTION_READ, &asset, err) < 0)
        return -1;
    return answer_asset(req, res, family, &asset, err);
}

int asset_update(struct request *req, struct response *res, const struct asset_family *family,
                 asset_read_spec_fn read_spec, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta");
    struct asset asset;
    struct asset_write write = {.asset = &asset, .arena = req->arena, .family = family, .is_update = true};
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_UPDATE, &asset, err) < 0 ||
        read_spec(req, json_object_get(req->body, "spec"), &write, err) < 0)
        return -1;
    asset.name = text_or(meta, "name", asset.name);
    asset.description = text_or(meta, "description", "");
    asset.updated_by = req->caller->name;
    asset.updated_ms = req->received_ms;
    if (db_write(req->server->db, update_in, &write, err) < 0)
        return -1;
    return answer_asset(req, res, family, &asset, err);
}

int asset_delete(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct asset asset;
    struct asset_write write = {.asset = &asset, .arena = req->arena, .family = family};
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_DELETE, &asset, err) < 0 ||
        db_write(req->server->db, delete_in, &write, err) < 0)
        return -1;
    return response_message(res, 202, "Accepted");
}
