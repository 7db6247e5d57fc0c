#include "api/workloads/workload_types.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_properties.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/catalog/workload_types.h"
#include "db/db.h"
#include "model/priority.h"
#include "model/workload_spec.h"

#include <string.h>

static json_t *type_to_json(const struct workload_type_row *type)
{
    const struct workload_category *category = workload_category_find(type->category);
    const struct priority_class *priority = priority_find(type->priority_class);
    char created[TIMESTAMP_SIZE], updated[TIMESTAMP_SIZE];
    timestamp_format(type->created_ms, created);
    timestamp_format(type->updated_ms, updated);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", type->uuid, "name", type->name,
                  "group", type->group, "categoryId", category->id, "categoryName", category->name, "priorityId",
                  priority->id, "priorityName", priority->name, "createdBy", type->created_by, "createdAt", created,
                  "updatedBy", type->updated_by, "updatedAt", updated);
    json_t *interfaces = type->resource_interfaces_json ? json_loads(type->resource_interfaces_json, 0, NULL) : NULL;
    json_t *list = json_array();
    size_t i;
    json_t *one;
    json_array_foreach(interfaces, i, one)
        json_array_append_new(list, json_pack("{s:O}", "resourceInterface", one));
    json_decref(interfaces);
    json_object_set_new(object, "resourceInterfaces", list);
    if (!type->is_predefined)
        json_object_set_new(object, "clusterStatuses",
                            json_pack("[{s:s, s:[{s:s, s:s, s:s, s:s}]}]", "phase", "NotSupported", "conditions",
                                      "type", "Submittable", "status", "False", "reason", "NameOnly", "message",
                                      "the type is a name with a category and a priority: no work of it can be "
                                      "submitted here"));
    return object;
}

static bool passes(const struct request *req, const struct workload_type_row *type)
{
    if (request_query_boolean(req, "externalTypesOnly") && strcmp(type->group, "run.ai") == 0)
        return false;
    for (size_t i = 0; i < req->filter_count; i++) {
        const struct filter *filter = &req->filters[i];
        if (!property_text_passes(strcmp(filter->field, "name") == 0 ? type->name : type->group, filter))
            return false;
    }
    return true;
}

int op_list_workload_types(struct request *req, struct response *res, struct error *err)
{
    struct workload_type_row *types;
    size_t count;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_workload_types(conn, req->arena, &types, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (passes(req, &types[i]))
            json_array_append_new(list, type_to_json(&types[i]));
    return response_json(res, json_pack("{s:o}", "types", list));
}

static int find_type(struct request *req, struct workload_type_row *out_type, struct error *err)
{
    const char *uuid = request_path(req, "workloadTypeId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_workload_type(conn, uuid, req->arena, out_type, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "workload type %.40s: not found", uuid);
    return rc < 0 ? -1 : 0;
}

int op_get_workload_type(struct request *req, struct response *res, struct error *err)
{
    struct workload_type_row type;
    return find_type(req, &type, err) < 0 ? -1 : response_json(res, type_to_json(&type));
}

// What the body says of category, priority and interfaces; what it leaves out stays.
static int read_defaults(const struct request *req, struct workload_type_row *type, struct error *err)
{
    const char *category = json_string_value(json_object_get(req->body, "categoryId"));
    const char *priority = json_string_value(json_object_get(req->body, "priorityId"));
    const json_t *interfaces = json_object_get(req->body, "resourceInterfaces");
    const struct workload_category *found = category ? workload_category_find(category) : NULL;
    const struct priority_class *class = priority ? priority_find_id(priority) : NULL;
    if (category && !found)
        return error_set(err, ERROR_INVALID, "categoryId: there is no category %.40s", category);
    if (priority && !class)
        return error_set(err, ERROR_INVALID, "priorityId: there is no priority %.40s", priority);
    if (found)
        type->category = found->name;
    if (class)
        type->priority_class = class->name;
    if (json_is_array(interfaces))
        type->resource_interfaces_json = workload_spec_text(interfaces, req->arena);
    return 0;
}

int op_create_workload_type(struct request *req, struct response *res, struct error *err)
{
    char uuid[UUID_SIZE];
    struct workload_type_row type = {
        .uuid = uuid,
        .name = json_string_value(json_object_get(req->body, "name")),
        .group = json_string_value(json_object_get(req->body, "group")),
        .created_by = req->caller->name,
        .updated_by = req->caller->name,
        .created_ms = req->received_ms,
        .updated_ms = req->received_ms,
    };
    uuid_create(uuid);
    if (access_check_tenant(req, RESOURCE_TYPE_WORKLOAD_PROPERTIES, ACTION_CREATE, err) < 0 ||
        read_defaults(req, &type, err) < 0 || db_create_workload_type(req->server->db, &type, err) < 0)
        return -1;
    return response_json(res, type_to_json(&type));
}

int op_update_workload_type(struct request *req, struct response *res, struct error *err)
{
    struct workload_type_row type;
    if (access_check_tenant(req, RESOURCE_TYPE_WORKLOAD_PROPERTIES, ACTION_UPDATE, err) < 0 ||
        find_type(req, &type, err) < 0 || read_defaults(req, &type, err) < 0)
        return -1;
    type.updated_by = req->caller->name;
    type.updated_ms = req->received_ms;
    if (db_update_workload_type(req->server->db, &type, err) < 0)
        return -1;
    return response_json(res, type_to_json(&type));
}

int op_delete_workload_type(struct request *req, struct response *res, struct error *err)
{
    struct workload_type_row type;
    if (access_check_tenant(req, RESOURCE_TYPE_WORKLOAD_PROPERTIES, ACTION_DELETE, err) < 0 ||
        find_type(req, &type, err) < 0)
        return -1;
    if (type.is_predefined)
        return error_set(err, ERROR_INVALID, "workload type %s: a predefined type stays; its defaults may be changed",
                         type.name);
    if (db_delete_workload_type(req->server->db, type.uuid, err) < 0)
        return -1;
    return response_empty(res, 204);
}

static bool lacks(const json_t *spec, const char *key)
{
    const json_t *value = json_object_get(spec, key);
    return !value || json_is_null(value);
}

int workload_type_fill(const struct request *req, const char *type, json_t *spec, struct error *err)
{
    struct workload_type_row row;
    if (!json_is_object(spec) || (!lacks(spec, "category") && !lacks(spec, "priorityClass")))
        return 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_submitted_type(conn, type, req->arena, &row, err);
    db_give_back(req->server->db, conn);
    if (rc <= 0)
        return rc;
    if (lacks(spec, "category"))
        json_object_set_new(spec, "category", json_string(row.category));
    if (lacks(spec, "priorityClass"))
        json_object_set_new(spec, "priorityClass", json_string(row.priority_class));
    return 0;
}
