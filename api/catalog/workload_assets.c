// Compute resources and environments: what people load into a submission. Both kinds behave alike, so the operations
// share one implementation; the document has checked the specifications.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/catalog/asset_family.h"
#include "api/catalog/asset_scope.h"
#include "api/catalog/asset_usage.h"
#include "api/catalog/template_combine.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/catalog/assets.h"
#include "db/db.h"
#include "db/scopes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct asset_family COMPUTE = {ASSET_KIND_COMPUTE, RESOURCE_TYPE_COMPUTE_RESOURCES};
static const struct asset_family ENVIRONMENT = {ASSET_KIND_ENVIRONMENT, RESOURCE_TYPE_ENVIRONMENTS};

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
        json_text(json, "projectId", asset->scope_id);
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

// Policies alone make an asset unfit; without one every asset complies.
static void write_compliance(struct json_writer *json)
{
    json_key(json, "compliance");
    json_begin_object(json);
    json_bool(json, "imposed", false);
    json_bool(json, "compliance", true);
    json_key(json, "reason");
    json_begin_array(json);
    json_end_array(json);
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

// A parameter that the operation does not have counts as left out.
static void write_asset(struct json_writer *json, const struct request *req, const struct asset *asset,
                        const struct asset_usage *usage)
{
    bool is_get = req->operation->method == HTTP_METHOD_GET;
    bool is_environment = !strcmp(asset->kind, ASSET_KIND_ENVIRONMENT);
    json_begin_object(json);
    write_meta(json, asset);
    json_raw(json, "spec", asset->spec_json);
    if (usage->is_asked)
        asset_usage_write(json, req, asset->uuid, usage);
    if (is_get && request_has_query(req, "complyToProject"))
        write_compliance(json);
    if (is_get && is_environment && request_query_boolean(req, "statusInfo"))
        write_status(json);
    json_end_object(json);
}

// Compliance is asked for a project that the caller may read.
static int check_compliance_project(struct request *req, struct error *err)
{
    if (!request_has_query(req, "complyToProject"))
        return 0;
    int64_t project = request_query_integer(req, "complyToProject", 0);
    if (access_check_project(req, project, RESOURCE_TYPE_PROJECT, ACTION_READ, NULL, err) == 0)
        return 0;
    return err && err->code == ERROR_NOT_FOUND
               ? error_set(err, ERROR_INVALID, "complyToProject: there is no project %" PRId64, project)
               : -1;
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

static int list(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct scope_path place;
    enum scope_type scope;
    bool has_place, has_scope = request_has_query(req, "scope");
    if (has_scope && !scope_type_parse(request_query(req, "scope"), &scope))
        return error_set(err, ERROR_INVALID, "scope: expected system, tenant, cluster, department or project");
    if (check_compliance_project(req, err) < 0 || read_place(req, &has_place, &place, err) < 0)
        return -1;
    struct asset_query query = {
        .kind = family->kind,
        .name = request_query(req, "name"),
        .scope = has_scope ? &scope : NULL,
        .at = has_place ? &place : NULL,
        .has_descendants = request_query_boolean(req, "includeDescendants"),
    };
    struct asset *assets;
    size_t count;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_assets(conn, &query, req->arena, &assets, &count, err);
    db_give_back(req->server->db, conn);
    struct asset_usage usage;
    if (rc < 0 || asset_usage_read(req, NULL, &usage, err) < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "entries");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (asset_scope_is_shown(req, assets[i].scope, &assets[i].path, family->type) && suits_kinds(req, &assets[i]))
            write_asset(&json, req, &assets[i], &usage);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
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

static int answer_asset(struct request *req, struct response *res, const struct asset *asset, struct error *err)
{
    struct json_writer json;
    struct asset_usage usage;
    if (asset_usage_read(req, asset->uuid, &usage, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_asset(&json, req, asset, &usage);
    return 0;
}

static int get(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct asset asset;
    if (check_compliance_project(req, err) < 0 ||
        find_asset(req, family, request_path(req, "AssetId"), ACTION_READ, &asset, err) < 0)
        return -1;
    return answer_asset(req, res, &asset, err);
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
        rc = access_check_project(req, id, family->type, ACTION_CREATE, NULL, err);
        break;
    case SCOPE_DEPARTMENT:
        asset->scope_id = text_or(meta, "departmentId", NULL);
        if (!asset->scope_id)
            return scope_parameter_missing("departmentId", err);
        id = atoll(asset->scope_id);
        asset->scope_id = arena_printf(req->arena, "%" PRId64, id);
        rc = access_check_department(req, id, family->type, ACTION_CREATE, NULL, err);
        break;
    case SCOPE_CLUSTER:
        asset->scope_id = text_or(meta, "clusterId", NULL);
        if (!asset->scope_id)
            return scope_parameter_missing("clusterId", err);
        rc = access_check_cluster(req, asset->scope_id, family->type, ACTION_CREATE, NULL, err);
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

// Between the members of a specification; what is wrong with one alone the document has refused.
static int check_compute(const json_t *spec, struct error *err)
{
    const char *type = text_or(spec, "gpuRequestType", "");
    const json_t *devices = json_object_get(spec, "gpuDevicesRequest");
    bool is_shared = !strcmp(type, "portion") || !strcmp(type, "memory");
    if (is_shared && json_is_number(devices) && json_number_value(devices) > 1)
        return error_set(err, ERROR_INVALID, "spec.gpuDevicesRequest: 1 for a part of a device, got %.0f",
                         json_number_value(devices));
    if (!strcmp(type, "portion") && !json_is_number(json_object_get(spec, "gpuPortionRequest")))
        return error_set(err, ERROR_INVALID, "spec.gpuPortionRequest: required with gpuRequestType portion");
    if (!strcmp(type, "memory") && !json_is_string(json_object_get(spec, "gpuMemoryRequest")))
        return error_set(err, ERROR_INVALID, "spec.gpuMemoryRequest: required with gpuRequestType memory");
    double portion = json_number_value(json_object_get(spec, "gpuPortionRequest"));
    if (portion > 1)
        return error_set(err, ERROR_INVALID, "spec.gpuPortionRequest: at most 1, got %g", portion);
    return 0;
}

// One write of an asset, with the templates that are made from it.
struct asset_write {
    struct asset *asset;
    struct arena *arena;
};

static int create_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    return db_create_asset_in(conn, write->asset, err);
}

static int update_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    if (db_update_asset_in(conn, write->asset, err) < 0)
        return -1;
    return template_refresh(conn, write->asset->uuid, write->arena, err);
}

static int delete_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct asset_write *write = context;
    if (db_delete_asset_in(conn, write->asset->uuid, err) < 0)
        return -1;
    return template_refresh(conn, write->asset->uuid, write->arena, err);
}

static int create(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta"), *spec = json_object_get(req->body, "spec");
    const char *spec_text = dump(req, spec);
    char uuid[UUID_SIZE];
    struct asset asset = {
        .uuid = uuid,
        .kind = family->kind,
        .name = text_or(meta, "name", ""),
        .description = text_or(meta, "description", ""),
        .workload_types_json = dump(req, json_object_get(meta, "workloadSupportedTypes")),
        .spec_json = spec_text ? spec_text : "{}",
        .created_by = req->caller->name,
        .created_ms = req->received_ms,
    };
    struct asset_write write = {&asset, req->arena};
    uuid_create(uuid);
    if (read_scope(req, family, meta, &asset, err) < 0 || (family == &COMPUTE && check_compute(spec, err) < 0) ||
        db_write(req->server->db, create_in, &write, err) < 0 ||
        find_asset(req, family, uuid, ACTION_READ, &asset, err) < 0)
        return -1;
    return answer_asset(req, res, &asset, err);
}

static int update(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta"), *spec = json_object_get(req->body, "spec");
    const char *spec_text = dump(req, spec);
    struct asset asset;
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_UPDATE, &asset, err) < 0 ||
        (family == &COMPUTE && check_compute(spec, err) < 0))
        return -1;
    asset.name = text_or(meta, "name", asset.name);
    asset.description = text_or(meta, "description", "");
    asset.spec_json = spec_text ? spec_text : "{}";
    asset.updated_by = req->caller->name;
    asset.updated_ms = req->received_ms;
    struct asset_write write = {&asset, req->arena};
    if (db_write(req->server->db, update_in, &write, err) < 0)
        return -1;
    return answer_asset(req, res, &asset, err);
}

static int delete_asset(struct request *req, struct response *res, const struct asset_family *family, struct error *err)
{
    struct asset asset;
    struct asset_write write = {&asset, req->arena};
    if (find_asset(req, family, request_path(req, "AssetId"), ACTION_DELETE, &asset, err) < 0 ||
        db_write(req->server->db, delete_in, &write, err) < 0)
        return -1;
    return response_message(res, 202, "Accepted");
}

int op_list_compute_assets(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, &COMPUTE, err);
}

int op_create_compute_asset(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, &COMPUTE, err);
}

int op_get_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, &COMPUTE, err);
}

int op_update_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, &COMPUTE, err);
}

int op_delete_compute_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return delete_asset(req, res, &COMPUTE, err);
}

int op_list_environment_assets(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, &ENVIRONMENT, err);
}

int op_create_environment_asset(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, &ENVIRONMENT, err);
}

int op_get_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, &ENVIRONMENT, err);
}

int op_update_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, &ENVIRONMENT, err);
}

int op_delete_environment_asset_by_id(struct request *req, struct response *res, struct error *err)
{
    return delete_asset(req, res, &ENVIRONMENT, err);
}
