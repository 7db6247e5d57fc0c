// Telemetry of projects and departments: what they are given and hold now, by their queues.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/list_query.h"
#include "api/lists/telemetry.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <string.h>

// Column of the queue, and what one unit of the answer is in it. Memory is answered in MB. Unlimited quotas add
// nothing.
static const struct {
    const char *type;
    int column;
    double per_unit;
} TYPES[] = {
    {"GPU_QUOTA", 6, 1000},
    {"CPU_QUOTA", 7, 1},
    {"MEMORY_QUOTA", 8, 1e6},
    {"GPU_ALLOCATION", 9, 1000},
    {"CPU_ALLOCATION", 10, 1},
    {"MEMORY_ALLOCATION", 11, 1e6},
    {"GPU_ALLOCATION_NON_PREEMPTIBLE", 12, 1000},
    {"CPU_ALLOCATION_NON_PREEMPTIBLE", 13, 1},
    {"MEMORY_ALLOCATION_NON_PREEMPTIBLE", 14, 1e6},
};

#define COLUMNS                                                                                         \
    "c.uuid, c.name, np.id, np.name, d.id, d.name, q.gpu_deserved_milli, q.cpu_deserved_milli, "        \
    "q.memory_deserved_bytes, q.gpu_allocated_milli, q.cpu_allocated_milli, q.memory_allocated_bytes, " \
    "q.gpu_allocated_non_preemptible_milli, q.cpu_allocated_non_preemptible_milli, "                    \
    "q.memory_allocated_non_preemptible_bytes"
#define FROM_HERE " JOIN clusters c ON c.id = d.cluster_id JOIN node_pools np ON np.id = q.node_pool_id"

static const struct list_source PROJECT_QUEUES = {
    .columns = COLUMNS,
    .from = "queues q JOIN projects p ON p.id = q.owner_id JOIN departments d ON d.id = p.department_id" FROM_HERE,
    .where = "q.owner_kind = 'project'",
    .id = "q.id",
    .order = "q.id",
};
static const struct list_source DEPARTMENT_QUEUES = {
    .columns = COLUMNS,
    .from = "queues q JOIN departments d ON d.id = q.owner_id" FROM_HERE,
    .where = "q.owner_kind = 'department'",
    .id = "q.id",
    .order = "q.id",
};

// First column of the id and the name of a group.
static int group_column(const char *key)
{
    if (strcmp(key, "NodepoolId") == 0)
        return 2;
    return strcmp(key, "ParentId") == 0 ? 4 : 0; // ClusterId, CLUSTER_ID
}

static void add_row(struct telemetry *telemetry, struct list_query *query, size_t type)
{
    struct telemetry_group groups[TELEMETRY_GROUP_MAX] = {{.key = NULL}};
    for (size_t i = 0; i < telemetry->group_count; i++) {
        int column = group_column(telemetry->group_keys[i]);
        groups[i] = (struct telemetry_group){.value = db_column_text(query->stmt, column, query->arena),
                                             .name = db_column_text(query->stmt, column + 1, query->arena)};
    }
    telemetry_add(telemetry, groups, (double)db_column_int(query->stmt, TYPES[type].column) / TYPES[type].per_unit);
}

static int answer(struct request *req, struct response *res, struct list_query *query, struct error *err)
{
    struct telemetry telemetry;
    const char *cluster = request_query(req, "clusterId");
    const char *department = request_query(req, "departmentId");
    const char *pool_id = request_query(req, "nodepoolId");
    const char *pool_name = request_query(req, "nodepoolName");
    if (cluster)
        list_query_where_text(query, "c.uuid = ?", cluster);
    if (department)
        list_query_where_int(query, "d.id = ?", id_from_text(department));
    if (pool_id)
        list_query_where_int(query, "np.id = ?", id_from_text(pool_id));
    if (pool_name)
        list_query_where_text(query, "np.name = ?", pool_name);
    list_query_take_all(query);
    telemetry_init(&telemetry, req);
    size_t type = 0;
    while (strcmp(TYPES[type].type, request_query(req, "telemetryType")) != 0)
        type++;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(query, conn, err);
    while (rc >= 0 && (rc = list_query_step(query, err)) == 1)
        add_row(&telemetry, query, type);
    list_query_close(query);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : telemetry_answer(&telemetry, req, res);
}

int op_get_projects_telemetry(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &PROJECT_QUEUES, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_PROJECT, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "d.cluster_id", "d.id", "p.id");
    return answer(req, res, &query, err);
}

int op_get_departments_telemetry(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &DEPARTMENT_QUEUES, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_DEPARTMENT, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "d.cluster_id", "d.id", "NULL");
    return answer(req, res, &query, err);
}
