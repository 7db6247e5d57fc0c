// Templates of workloads: one implementation for all types, as the paths differ by the type alone; the document has
// checked the specifications.
#include "db/catalog/templates.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/catalog/asset_scope.h"
#include "api/catalog/catalog_compliance.h"
#include "api/catalog/template_assets.h"
#include "api/catalog/template_combine.h"
#include "api/catalog/template_json.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"
#include "model/workload_type.h"

#include <inttypes.h>
#include <string.h>

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "t.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "description", .sql = "t.description", .type = LIST_TEXT, .is_searched = true},
    {.name = "workloadType", .sql = "t.workload_type", .type = LIST_TEXT},
    {.name = "runnable", .sql = "t.issue = ''", .type = LIST_BOOL},
    {.name = "scopeType", .sql = "t.scope", .type = LIST_TEXT},
    {.name = "clusterId", .sql = "iif(t.scope = 'cluster', t.scope_id, '')", .type = LIST_TEXT},
    {.name = "departmentId", .sql = "iif(t.scope = 'department', t.scope_id, '')", .type = LIST_TEXT},
    {.name = "projectId", .sql = "iif(t.scope = 'project', t.scope_id, '')", .type = LIST_TEXT},
    {.name = "createdAt", .sql = "t.created_ms", .type = LIST_TIME},
    {.name = "updatedAt", .sql = "t.updated_ms", .type = LIST_TIME},
    {.name = "createdBy", .sql = "t.created_by", .type = LIST_TEXT},
    {.name = "updatedBy", .sql = "t.updated_by", .type = LIST_TEXT},
};

static const struct list_source TEMPLATE_LIST = {
    .columns = TEMPLATE_COLUMNS,
    .from = TEMPLATE_FROM,
    .where = TEMPLATE_IS_PLACED,
    .id = "t.id",
    .order = "t.name, t.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

// As access_held_places names the places.
static const char WHERE_SHOWN[] =
    "(t.scope = 'tenant' OR EXISTS (SELECT 1 FROM json_each(?) place WHERE place.value IN ("
    "'c' || coalesce(p.cluster_id, d.cluster_id, c.id), 'd' || coalesce(p.department_id, d.id), 'p' || p.id, "
    "'C' || c.id, 'D' || d.id)))";

// type is NULL for all.
static int init_query(struct request *req, struct list_query *query, const char *type, struct error *err)
{
    if (list_query_init(query, &TEMPLATE_LIST, req, err) < 0)
        return -1;
    const char *places = access_held_places(req, RESOURCE_TYPE_TEMPLATES);
    if (places)
        list_query_where_text(query, WHERE_SHOWN, places);
    if (type)
        list_query_where_text(query, "t.workload_type = ?", type);
    return 0;
}

// Compliance is asked for a project that the caller may read, with what holds for it.
static int narrow_to_project(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_path path;
    if (!request_has_query(req, "complyToProject"))
        return 0;
    int64_t project = request_query_integer(req, "complyToProject", 0);
    if (access_check_project(req, project, RESOURCE_TYPE_PROJECT, ACTION_READ, &path, err) < 0)
        return err && err->code == ERROR_NOT_FOUND
                   ? error_set(err, ERROR_INVALID, "complyToProject: there is no project %" PRId64, project)
                   : -1;
    list_query_where_text(query,
                          "(t.scope = 'tenant' OR EXISTS (SELECT 1 FROM json_each(?) place WHERE place.value IN "
                          "('p' || p.id, 'D' || d.id, 'C' || c.id)))",
                          arena_printf(req->arena, "[\"p%" PRId64 "\",\"D%" PRId64 "\",\"C%" PRId64 "\"]",
                                       path.project_id, path.department_id, path.cluster_id));
    return 0;
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    const struct catalog_compliance *compliance = context;
    struct workload_template template;
    template_from_row(row, req->arena, &template);
    const char *issues = NULL;
    if (compliance->is_asked)
        issues = catalog_compliance_of_template(compliance, template.workload_type, template.combined_spec_json,
                                                template.combined_master_json, req->arena);
    template_write(json, &template, issues);
}

static int list(struct request *req, struct response *res, const char *type, struct error *err)
{
    static const struct list_form FORM = {.key = "entries", .tells_page = true, .write_row = write_row};
    struct list_query query;
    struct catalog_compliance compliance;
    if (init_query(req, &query, type, err) < 0 || narrow_to_project(req, &query, err) < 0 ||
        catalog_compliance_open(req, &compliance, err) < 0)
        return -1;
    int rc = list_answer(req, res, &query, &FORM, &compliance, err);
    catalog_compliance_done(&compliance);
    return rc;
}

// The template of the path, if the caller may do this to it. type is NULL for any.
static int find(struct request *req, const char *type, enum access_action action, struct workload_template *out,
                struct error *err)
{
    const char *id = request_path(req, "templateId"), *what = arena_printf(req->arena, "template %.60s", id);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_template(conn, id, req->arena, out, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (rc == 0 || (type && strcmp(type, out->workload_type) != 0))
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    return asset_scope_check(req, out->scope, &out->path, RESOURCE_TYPE_TEMPLATES, action, what, err);
}

static int answer(struct response *res, const struct workload_template *template)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    template_write(&json, template, NULL);
    return 0;
}

static int get(struct request *req, struct response *res, const char *type, struct error *err)
{
    struct workload_template template;
    return find(req, type, ACTION_READ, &template, err) < 0 ? -1 : answer(res, &template);
}

// One write of a template. The change is made from what is there when its turn comes, so that two at once lose nothing.
struct template_write {
    struct workload_template *template; // to be made, or as it was found
    struct request *req;
    bool is_patch;
    int64_t max_bytes;
};

static int check_size(const struct template_write *write, struct error *err)
{
    const struct workload_template *template = write->template;
    size_t bytes = strlen(template->combined_spec_json);
    bytes += template->combined_master_json ? strlen(template->combined_master_json) : 0;
    if (write->max_bytes == 0 || bytes <= (size_t)write->max_bytes)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "spec: at most %" PRId64 " bytes with its assets (workload-max-bytes), got %zu", write->max_bytes,
                     bytes);
}

static int create_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct template_write *write = context;
    if (template_combine(conn, write->template, write->req->arena, err) < 0 || check_size(write, err) < 0 ||
        catalog_compliance_check_template(conn, write->req, write->template, err) < 0 ||
        db_create_template_in(conn, write->template, err) < 0)
        return -1;
    return template_store_assets(conn, write->template, write->req->arena, err);
}

static int change(const struct template_write *write, struct error *err)
{
    const struct request *req = write->req;
    if (write->is_patch)
        return template_patch(write->template, req->body, req->arena, err);
    template_replace(write->template, req->body, req->arena);
    return 0;
}

static int change_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct template_write *write = context;
    struct workload_template *template = write->template;
    const struct request *req = write->req;
    int rc = db_find_template(conn, template->uuid, req->arena, template, err);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "template %s: not found", template->uuid);
    if (rc < 0 || change(write, err) < 0)
        return -1;
    template->updated_by = req->caller->name;
    template->updated_ms = req->received_ms;
    if (template_combine(conn, template, req->arena, err) < 0 || check_size(write, err) < 0 ||
        catalog_compliance_check_template(conn, write->req, template, err) < 0 ||
        db_update_template_in(conn, template, err) < 0)
        return -1;
    return template_store_assets(conn, template, req->arena, err);
}

static int delete_in(struct db_conn *conn, void *context, struct error *err)
{
    const struct template_write *write = context;
    return db_delete_template_in(conn, write->template->uuid, err);
}

static int create(struct request *req, struct response *res, const char *type, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta");
    struct asset_scope scope;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    if (asset_scope_read(req, json_string_value(json_object_get(meta, "scopeType")),
                         json_string_value(json_object_get(meta, "scopeId")), "meta.scopeType", RESOURCE_TYPE_TEMPLATES,
                         ACTION_CREATE, &scope, err) < 0)
        return -1;
    struct workload_template template = {
        .uuid = uuid,
        .workload_type = type,
        .scope = scope.type,
        .scope_id = scope.id,
        .path = scope.path,
        .created_by = req->caller->name,
        .created_ms = req->received_ms,
    };
    struct template_write write = {&template, req, false, req->server->config.workload_max_bytes};
    template_replace(&template, req->body, req->arena);
    if (template_assets_check(req, &template, req->body, err) < 0 ||
        db_write(req->server->db, create_in, &write, err) < 0)
        return -1;
    return answer(res, &template);
}

static int update(struct request *req, struct response *res, const char *type, bool is_patch, struct error *err)
{
    struct workload_template template;
    struct template_write write = {&template, req, is_patch, req->server->config.workload_max_bytes};
    if (find(req, type, ACTION_UPDATE, &template, err) < 0 ||
        template_assets_check(req, &template, req->body, err) < 0 ||
        db_write(req->server->db, change_in, &write, err) < 0)
        return -1;
    return answer(res, &template);
}

static int delete_template(struct request *req, struct response *res, const char *type, struct error *err)
{
    struct workload_template template;
    struct template_write write = {.template = &template, .req = req};
    if (find(req, type, ACTION_DELETE, &template, err) < 0 || db_write(req->server->db, delete_in, &write, err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_template_name_availability(struct request *req, struct response *res, struct error *err)
{
    struct asset_scope scope;
    const char *name = request_query(req, "templateName");
    if (asset_scope_read(req, request_query(req, "scopeType"), request_query(req, "scopeId"), "scopeId",
                         RESOURCE_TYPE_TEMPLATES, ACTION_READ, &scope, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_template_name_is_taken(conn, scope.type, scope.id, name, err);
    db_give_back(req->server->db, conn);
    if (rc > 0)
        return error_set(err, ERROR_CONFLICT, "templateName: %.100s is taken in this scope", name);
    return rc < 0 ? -1 : response_empty(res, 204);
}

int op_list_templates1(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, NULL, err);
}

int op_count_templates(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, NULL, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

int op_get_template_by_id1(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, NULL, err);
}

int op_list_workspace_templates(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), err);
}

int op_create_workspace_template(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), err);
}

int op_get_workspace_template(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), err);
}

int op_update_workspace_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), false, err);
}

int op_patch_workspace_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), true, err);
}

int op_delete_workspace_template(struct request *req, struct response *res, struct error *err)
{
    return delete_template(req, res, workload_type_text(WORKLOAD_TYPE_WORKSPACE), err);
}

int op_list_training_templates(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), err);
}

int op_create_training_template(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), err);
}

int op_get_training_template(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), err);
}

int op_update_training_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), false, err);
}

int op_patch_training_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), true, err);
}

int op_delete_training_template(struct request *req, struct response *res, struct error *err)
{
    return delete_template(req, res, workload_type_text(WORKLOAD_TYPE_TRAINING), err);
}

int op_list_distributed_templates(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), err);
}

int op_create_distributed_template(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), err);
}

int op_get_distributed_template(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), err);
}

int op_update_distributed_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), false, err);
}

int op_patch_distributed_template(struct request *req, struct response *res, struct error *err)
{
    return update(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), true, err);
}

int op_delete_distributed_template(struct request *req, struct response *res, struct error *err)
{
    return delete_template(req, res, workload_type_text(WORKLOAD_TYPE_DISTRIBUTED), err);
}

int op_list_inference_templates(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, workload_type_text(WORKLOAD_TYPE_INFERENCE), err);
}

int op_create_inference_template(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, workload_type_text(WORKLOAD_TYPE_INFERENCE), err);
}

int op_get_inference_template(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, workload_type_text(WORKLOAD_TYPE_INFERENCE), err);
}

int op_delete_inference_template(struct request *req, struct response *res, struct error *err)
{
    return delete_template(req, res, workload_type_text(WORKLOAD_TYPE_INFERENCE), err);
}
