// Projects: list, count, one, create, change, delete.
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
    {.name = "name", .sql = "p.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "departmentId", .sql = "CAST(p.department_id AS TEXT)", .type = LIST_TEXT},
    {.name = "parentId", .sql = "CAST(p.department_id AS TEXT)", .type = LIST_TEXT},
    {.name = "parentName", .sql = "d.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "phase", .sql = "p.phase", .type = LIST_TEXT, .is_searched = true},
    {.name = "clusterId", .sql = "c.uuid", .type = LIST_TEXT},
    {.name = "totalGpuQuota", .sql = ORG_UNIT_GPU_QUOTA("project", "p.id"), .type = LIST_NUMBER, .scale = 1000},
    {.name = "gpuAllocated", .sql = ORG_UNIT_GPU_ALLOCATED("project", "p.id"), .type = LIST_NUMBER, .scale = 1000},
    {.name = "createdAt", .sql = "p.created_ms", .type = LIST_TIME},
    ORG_UNIT_OVERTIME_FIELDS("24h"),
    ORG_UNIT_OVERTIME_FIELDS("7d"),
    ORG_UNIT_OVERTIME_FIELDS("30d"),
};

static const struct list_source PROJECT_LIST = {
    .columns = PROJECT_COLUMNS,
    .from = PROJECT_FROM,
    .id = "p.id",
    .order = "p.name, p.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

int projects_init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, &PROJECT_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_PROJECT, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "p.cluster_id", "p.department_id", "p.id");
    return 0;
}

int op_get_projects(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (projects_init_query(req, &query, err) < 0)
        return -1;
    return org_unit_answer_list(req, res, ORG_UNIT_PROJECT, &query, err);
}

int op_count_projects(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return projects_init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

static const char SQL_DEFAULT_DEPARTMENT[] =
    "SELECT d.id FROM departments d JOIN clusters c ON c.id = d.cluster_id WHERE c.uuid = ? AND d.is_default";

// The department that the body names, else the cluster's default one; 0 where there is none.
static int read_parent(struct request *req, int64_t *out_id, struct error *err)
{
    const char *parent = json_string_value(json_object_get(req->body, "parentId"));
    *out_id = parent ? id_from_text(parent) : 0;
    if (parent)
        return 0;
    sqlite3_stmt *stmt = NULL;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_prepare(conn, SQL_DEFAULT_DEPARTMENT, &stmt, err);
    if (rc == 0) {
        db_bind_text(stmt, 1, json_string_value(json_object_get(req->body, "clusterId")));
        rc = db_step(conn, stmt, err);
        if (rc == 1)
            *out_id = db_column_int(stmt, 0);
        db_release(conn, stmt);
    }
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : 0;
}

// The operation's contract has no 404: a place that is not there is a wrong field of the body.
int op_create_project(struct request *req, struct response *res, struct error *err)
{
    struct org_unit unit = {.kind = ORG_UNIT_PROJECT};
    struct scope_path cluster, department;
    const char *cluster_uuid = json_string_value(json_object_get(req->body, "clusterId"));
    if (access_check_cluster(req, cluster_uuid, RESOURCE_TYPE_CLUSTER, ACTION_READ, &cluster, err) < 0) {
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "clusterId: no cluster %.60s", cluster_uuid);
        return -1;
    }
    if (read_parent(req, &unit.department_id, err) < 0)
        return -1;
    if (access_check_department(req, unit.department_id, RESOURCE_TYPE_PROJECT, ACTION_CREATE, &department, err) < 0) {
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "parentId: no such department");
        return -1;
    }
    unit.cluster_id = cluster.cluster_id;
    return org_unit_create(req, res, &unit, err);
}

static int check_project(struct request *req, enum access_action action, int64_t *out_id, struct error *err)
{
    *out_id = id_from_text(request_path(req, "projectId"));
    return access_check_project(req, *out_id, RESOURCE_TYPE_PROJECT, action, NULL, err);
}

int op_get_project(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_project(req, ACTION_READ, &id, err) < 0)
        return -1;
    return org_unit_answer(req, res, ORG_UNIT_PROJECT, id, err);
}

int op_update_project(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_project(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_update(req, res, ORG_UNIT_PROJECT, id, err);
}

int op_delete_project(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_project(req, ACTION_DELETE, &id, err) < 0)
        return -1;
    return org_unit_delete(req, res, ORG_UNIT_PROJECT, id, err);
}

int op_update_project_resources(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_project(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_change_resources(req, res, ORG_UNIT_PROJECT, id, true, err);
}

int op_patch_project_resources(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    if (check_project(req, ACTION_UPDATE, &id, err) < 0)
        return -1;
    return org_unit_change_resources(req, res, ORG_UNIT_PROJECT, id, false, err);
}
