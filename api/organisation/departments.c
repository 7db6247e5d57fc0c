// Departments: list, count, one, create, change, delete.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/list_answer.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/error.h"
#include "db/db.h"
#include "db/org_units.h"

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "d.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "clusterId", .sql = "c.uuid", .type = LIST_TEXT},
    {.name = "totalGpuQuota", .sql = ORG_UNIT_GPU_QUOTA("department", "d.id"), .type = LIST_NUMBER, .scale = 1000},
    {.name = "gpuAllocated", .sql = ORG_UNIT_GPU_ALLOCATED("department", "d.id"), .type = LIST_NUMBER, .scale = 1000},
    {.name = "createdAt", .sql = "d.created_ms", .type = LIST_TIME},
    ORG_UNIT_OVERTIME_FIELDS("24h"),
    ORG_UNIT_OVERTIME_FIELDS("7d"),
    ORG_UNIT_OVERTIME_FIELDS("30d"),
};

static const struct list_source DEPARTMENT_LIST = {
    .columns = DEPARTMENT_COLUMNS,
    .from = DEPARTMENT_FROM,
    .id = "d.id",
    .order = "d.name, d.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, &DEPARTMENT_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_DEPARTMENT, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "d.cluster_id", "d.id", "NULL");
    return 0;
}

int op_get_departments(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (init_query(req, &query, err) < 0)
        return -1;
    return org_unit_answer_list(req, res, ORG_UNIT_DEPARTMENT, &query, err);
}

int op_count_departments(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

int op_create_department(struct request *req, struct response *res, struct error *err)
{
    struct org_unit unit = {.kind = ORG_UNIT_DEPARTMENT};
    struct scope_path cluster;
    const char *cluster_uuid = json_string_value(json_object_get(req->body, "clusterId"));
    if (access_check_cluster(req, cluster_uuid, RESOURCE_TYPE_DEPARTMENT, ACTION_CREATE, &cluster, err) < 0) {
        // The operation's contract has no 404: a place that is not there is a wrong field of the body.
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "clusterId: no cluster %.60s", cluster_uuid);
        return -1;
    }
    unit.cluster_id = cluster.cluster_id;
    return org_unit_create(req, res, &unit, err);
}

static int check_department(struct request *req, enum access_action action, int64_t *out_id, struct error *err)
{
    *out_id = id_from_text(request_path(req, "departmentId"));
    return access_check_department(req, *out_id, RESOURCE_TYPE_DEPARTMENT, action, NULL, err);
}

int op_get_department(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_department(req, ACTION_READ, &id, err) < 0)
        return -1;
    return org_unit_answer(req, res, ORG_UNIT_DEPARTMENT, id, err);
}

int op_update_department(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_department(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_update(req, res, ORG_UNIT_DEPARTMENT, id, err);
}

int op_delete_department(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_department(req, ACTION_DELETE, &id, err) < 0)
        return -1;
    return org_unit_delete(req, res, ORG_UNIT_DEPARTMENT, id, err);
}

int op_update_department_resources(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_department(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_change_resources(req, res, ORG_UNIT_DEPARTMENT, id, true, err);
}

int op_patch_department_resources(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_department(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_change_resources(req, res, ORG_UNIT_DEPARTMENT, id, false, err);
}
