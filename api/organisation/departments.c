// Departments: list, count, one, create, change, delete.
#include "api/access/audit.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/org_units.h"
#include "db/unit_numbers.h"

#include <inttypes.h>

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

// What goes with a department.
struct going {
    struct project_work *projects;
    size_t count;
    bool is_counted; // the caller may read the workloads
    bool is_default; // it goes never
};

static int read_going(struct request *req, int64_t id, struct going *out, struct error *err)
{
    struct org_unit unit = {0};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_project_work(conn, id, req->arena, &out->projects, &out->count, err);
    if (rc == 0)
        rc = db_find_org_unit(conn, ORG_UNIT_DEPARTMENT, id, req->arena, &unit, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    out->is_default = unit.is_default;
    struct scope_path where = {.cluster_id = unit.cluster_id, .department_id = id};
    out->is_counted = access_is_held(req->caller, &where, RESOURCE_TYPE_WORKLOADS, ACTION_READ);
    return 0;
}

// "team-a (3 workloads), team-b"; of those alone that have work which is not over, or of all.
static const char *name_going(const struct going *going, bool is_of_unfinished, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < going->count; i++) {
        const struct project_work *project = &going->projects[i];
        int64_t count = is_of_unfinished ? project->unfinished_count : project->workload_count;
        if (is_of_unfinished && count == 0)
            continue;
        text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", project->name);
        if (going->is_counted && count > 0)
            text = arena_printf(arena, "%s (%" PRId64 " workload%s)", text, count, count == 1 ? "" : "s");
    }
    return text;
}

static void write_going(const struct going *going, struct arena *arena, struct response *res)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "projects");
    json_begin_array(&json);
    for (size_t i = 0; i < going->count; i++) {
        json_begin_object(&json);
        json_text(&json, "id", arena_printf(arena, "%" PRId64, going->projects[i].id));
        json_text(&json, "name", going->projects[i].name);
        json_text(&json, "namespace", going->projects[i].name_space);
        if (going->is_counted)
            json_int(&json, "workloads", going->projects[i].workload_count);
        else
            json_null_at(&json, "workloads");
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

int op_delete_department(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    struct going going = {0};
    bool is_asked_for = request_query_boolean(req, "withProjects");
    if (check_department(req, ACTION_DELETE, &id, err) < 0 || read_going(req, id, &going, err) < 0)
        return -1;
    const char *unfinished = name_going(&going, true, req->arena);
    if (!is_asked_for && *unfinished && !going.is_default) {
        error_set(err, ERROR_CONFLICT, "department %" PRId64 ": work is not over in %s", id, unfinished);
        return error_details(err, "withProjects=true deletes its projects and their workloads with it");
    }
    if (going.count > 0)
        audit_detail(req, "projects", name_going(&going, false, req->arena));
    if (org_unit_delete(req, res, ORG_UNIT_DEPARTMENT, id, err) < 0)
        return -1;
    if (is_asked_for) {
        res->status = 200;
        write_going(&going, req->arena, res);
    }
    return 0;
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
