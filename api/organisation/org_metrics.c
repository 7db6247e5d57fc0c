// Time series of projects, departments, node pools, nodes, and of a cluster whole or by group.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/metrics.h"
#include "api/operations.h"
#include "api/organisation/nodes.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/node_pools.h"
#include "db/nodes.h"

#include <string.h>

// How many wait is told only to who may read all of them.
static bool hides_waiting(struct request *req, const char *type)
{
    struct scope_filter workloads;
    if (strcmp(type, "WAITING_WORKLOADS") != 0)
        return false;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &workloads);
    return !workloads.is_all;
}

// All asked types of one scope.
static int answer_series(struct request *req, struct response *res, struct db_conn *conn, const struct series *series,
                         struct error *err)
{
    struct metrics metrics;
    if (metrics_init(&metrics, req, res, err) < 0)
        return -1;
    for (size_t i = 0; i < metrics.type_count; i++)
        if (hides_waiting(req, metrics.types[i]))
            metrics.is_partial = true;
        else if (metrics_add(&metrics, conn, metrics.types[i], series, NULL, err) < 0)
            return -1;
    return metrics_answer(&metrics);
}

// Narrows the series to the pool of nodepoolName, where the caller names one.
static int take_pool(struct request *req, struct db_conn *conn, int64_t cluster_id, struct series *series,
                     struct error *err)
{
    struct node_pool pool;
    const char *name = request_query(req, "nodepoolName");
    if (!name)
        return 0;
    if (db_find_node_pool_by_name(conn, cluster_id, name, req->arena, &pool, err) < 0) {
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "nodepoolName: no node pool %.80s", name);
        return -1;
    }
    series->node_pool_id = pool.id;
    return 0;
}

static int answer_unit(struct request *req, struct response *res, const char *scope, int64_t id, int64_t cluster_id,
                       struct error *err)
{
    struct series series = {.scope = scope, .scope_id = id};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = take_pool(req, conn, cluster_id, &series, err);
    if (rc == 0)
        rc = answer_series(req, res, conn, &series, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_get_project_metrics(struct request *req, struct response *res, struct error *err)
{
    struct scope_path path;
    int64_t id = id_from_text(request_path(req, "projectId"));
    if (access_check_project(req, id, RESOURCE_TYPE_PROJECT, ACTION_READ, &path, err) < 0)
        return -1;
    return answer_unit(req, res, "project", id, path.cluster_id, err);
}

int op_get_department_metrics(struct request *req, struct response *res, struct error *err)
{
    struct scope_path path;
    int64_t id = id_from_text(request_path(req, "departmentId"));
    if (access_check_department(req, id, RESOURCE_TYPE_DEPARTMENT, ACTION_READ, &path, err) < 0)
        return -1;
    return answer_unit(req, res, "department", id, path.cluster_id, err);
}

// A node's figure; of its devices' memory some follow from others, and from what a device has.
static int add_of_node(struct metrics *metrics, struct db_conn *conn, const char *type, const struct node *node,
                       struct error *err)
{
    struct series series = {.scope = "node", .scope_id = node->id};
    double memory = (double)node->gpu_memory_mib * 1048576;
    metrics->factor = 0;
    if (memory > 0 && strcmp(type, "GPU_MEMORY_UTILIZATION_PER_GPU") == 0) {
        series.metric = "GPU_MEMORY_USAGE_BYTES_PER_GPU";
        metrics->factor = 100 / memory;
    } else if (memory > 0 && strcmp(type, "GPU_MEMORY_ALLOCATION_BYTES_PER_GPU") == 0) {
        series.metric = "GPU_ALLOCATION_PER_GPU";
        metrics->factor = memory;
    }
    return metrics_add(metrics, conn, type, &series, NULL, err);
}

static int answer_node(struct request *req, struct response *res, struct db_conn *conn, const struct node *node,
                       struct error *err)
{
    struct metrics metrics;
    if (metrics_init(&metrics, req, res, err) < 0)
        return -1;
    for (size_t i = 0; i < metrics.type_count; i++)
        if (add_of_node(&metrics, conn, metrics.types[i], node, err) < 0)
            return -1;
    return metrics_answer(&metrics);
}

int op_get_node_metrics(struct request *req, struct response *res, struct error *err)
{
    struct node node;
    const char *uuid = request_path(req, "nodeId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_node(conn, uuid, req->arena, &node, err);
    if (rc == 0) {
        struct scope_path where = {.cluster_id = node.cluster_id};
        rc =
            access_check(req, &where, RESOURCE_TYPE_NODES, ACTION_READ, arena_printf(req->arena, "node %s", uuid), err);
        if (rc == 0)
            rc = answer_node(req, res, conn, &node, err);
    }
    db_give_back(req->server->db, conn);
    return rc;
}

int op_get_nodepool_metrics(struct request *req, struct response *res, struct error *err)
{
    struct scope_path cluster;
    struct node_pool pool;
    if (access_check_cluster(req, request_path(req, "clusterUuid"), RESOURCE_TYPE_NODEPOOLS, ACTION_READ, &cluster,
                             err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc =
        db_find_node_pool_by_name(conn, cluster.cluster_id, request_path(req, "nodepoolName"), req->arena, &pool, err);
    if (rc == 0) {
        struct series series = {.scope = "nodepool", .scope_id = pool.id};
        rc = answer_series(req, res, conn, &series, err);
    }
    db_give_back(req->server->db, conn);
    return rc;
}

// How a cluster's figures are divided: where the parts' series are, and which types have parts.
struct grouping {
    const char *name; // groupBy
    const char *sql;  // id, name, department and project of each part of the cluster; 0: none
    const char *scope;
    const char *types[12][2]; // type, the parts' metric
};

static const struct grouping GROUPINGS[] = {
    {"Nodepool",
     "SELECT id, name, 0, 0 FROM node_pools WHERE cluster_id = ? AND deleted_ms = 0 ORDER BY id",
     "nodepool",
     {{"ALLOCATED_GPU", "ALLOCATED_GPU"},
      {"UNALLOCATED_GPU", "UNALLOCATED_GPU"},
      {"TOTAL_GPU", "TOTAL_GPU"},
      {"TOTAL_GPU_NODES", "TOTAL_GPU_NODES"},
      {"GPU_QUOTA", "GPU_QUOTA"},
      {"GPU_UTILIZATION", "GPU_UTILIZATION"},
      {"GPU_MEMORY_UTILIZATION", "GPU_MEMORY_UTILIZATION"},
      {"CPU_UTILIZATION", "CPU_UTILIZATION"},
      {"CPU_MEMORY_UTILIZATION", "CPU_MEMORY_UTILIZATION"},
      {"AVG_WORKLOAD_WAIT_TIME", "AVG_WORKLOAD_WAIT_TIME"},
      {"WORKLOADS_COUNT", "WORKLOADS_COUNT"}}},
    {"Project",
     "SELECT id, name, department_id, id FROM projects WHERE cluster_id = ? ORDER BY id",
     "project",
     {{"ALLOCATED_GPU", "GPU_ALLOCATION"},
      {"GPU_QUOTA", "GPU_QUOTA"},
      {"GPU_UTILIZATION", "GPU_UTILIZATION"},
      {"GPU_MEMORY_UTILIZATION", "GPU_MEMORY_UTILIZATION"},
      {"WORKLOADS_COUNT", "WORKLOADS_COUNT"}}},
    {"Department",
     "SELECT id, name, id, 0 FROM departments WHERE cluster_id = ? ORDER BY id",
     "department",
     {{"ALLOCATED_GPU", "GPU_ALLOCATION"},
      {"GPU_QUOTA", "GPU_QUOTA"},
      {"GPU_UTILIZATION", "GPU_UTILIZATION"},
      {"GPU_MEMORY_UTILIZATION", "GPU_MEMORY_UTILIZATION"},
      {"WORKLOADS_COUNT", "WORKLOADS_COUNT"}}},
    {"Category",
     "SELECT ?1, value, 0, 0 FROM json_each('[\"Build\", \"Train\", \"Deploy\"]')",
     "cluster",
     {{"ALLOCATED_GPU", "ALLOCATED_GPU:"}, {"WORKLOADS_COUNT", "WORKLOADS_COUNT:"}}},
};

static const char *part_metric(const struct grouping *grouping, const char *type)
{
    for (size_t i = 0; grouping->types[i][0]; i++)
        if (strcmp(grouping->types[i][0], type) == 0)
            return grouping->types[i][1];
    return NULL;
}

struct part {
    int64_t id;
    const char *name;
    struct scope_path path;
};

// The parts that the caller may see: node pools and categories with the cluster, units by their own rights.
static bool is_shown(const struct request *req, const struct part *part)
{
    if (part->path.project_id)
        return access_is_allowed(req->caller, &part->path, RESOURCE_TYPE_PROJECT, ACTION_READ);
    return !part->path.department_id ||
           access_is_allowed(req->caller, &part->path, RESOURCE_TYPE_DEPARTMENT, ACTION_READ);
}

static int read_parts(struct request *req, struct db_conn *conn, const struct grouping *grouping, int64_t cluster_id,
                      struct part **out_parts, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct part *parts = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, grouping->sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        parts = arena_grow(req->arena, parts, &capacity, count + 1, sizeof(*parts));
        parts[count++] = (struct part){
            .id = db_column_int(stmt, 0),
            .name = db_column_text(stmt, 1, req->arena),
            .path = {.cluster_id = cluster_id,
                     .department_id = db_column_int(stmt, 2),
                     .project_id = db_column_int(stmt, 3)},
        };
    }
    db_release(conn, stmt);
    *out_parts = parts;
    *out_count = count;
    return rc;
}

static int add_groups(struct metrics *metrics, struct db_conn *conn, const struct grouping *grouping,
                      int64_t cluster_id, int64_t node_pool_id, struct error *err)
{
    struct part *parts;
    size_t part_count;
    if (read_parts(metrics->req, conn, grouping, cluster_id, &parts, &part_count, err) < 0)
        return -1;
    for (size_t t = 0; t < metrics->type_count; t++) {
        const char *metric = part_metric(grouping, metrics->types[t]);
        if (!metric)
            return error_set(err, ERROR_UNPROCESSABLE, "metricType: %s is not kept by %s", metrics->types[t],
                             grouping->name);
        for (size_t p = 0; p < part_count; p++) {
            bool is_category = strcmp(grouping->scope, "cluster") == 0;
            struct metrics_pair group = {grouping->name, parts[p].name};
            struct series series = {
                .scope = grouping->scope,
                .scope_id = parts[p].id,
                .node_pool_id = strcmp(grouping->scope, "nodepool") == 0 ? 0 : node_pool_id,
                .metric = is_category ? arena_printf(metrics->req->arena, "%s%s", metric, parts[p].name) : metric,
            };
            if (is_shown(metrics->req, &parts[p]) &&
                metrics_add(metrics, conn, metrics->types[t], &series, &group, err) < 0)
                return -1;
        }
    }
    return 0;
}

static int answer_cluster(struct request *req, struct response *res, struct db_conn *conn, int64_t cluster_id,
                          struct error *err)
{
    struct metrics metrics;
    struct series series = {.scope = "cluster", .scope_id = cluster_id};
    const char *group_by = request_query(req, "groupBy");
    if (metrics_init(&metrics, req, res, err) < 0 || take_pool(req, conn, cluster_id, &series, err) < 0)
        return -1;
    for (size_t i = 0; group_by && i < sizeof(GROUPINGS) / sizeof(GROUPINGS[0]); i++) {
        if (strcmp(GROUPINGS[i].name, group_by) != 0)
            continue;
        if (add_groups(&metrics, conn, &GROUPINGS[i], cluster_id, series.node_pool_id, err) < 0)
            return -1;
        return metrics_answer(&metrics);
    }
    if (series.node_pool_id)
        series = (struct series){.scope = "nodepool", .scope_id = series.node_pool_id};
    for (size_t i = 0; i < metrics.type_count; i++)
        if (hides_waiting(req, metrics.types[i]))
            metrics.is_partial = true;
        else if (metrics_add(&metrics, conn, metrics.types[i], &series, NULL, err) < 0)
            return -1;
    return metrics_answer(&metrics);
}

int op_get_cluster_metrics(struct request *req, struct response *res, struct error *err)
{
    struct scope_path cluster;
    if (access_check_cluster(req, request_path(req, "clusterUuid"), RESOURCE_TYPE_CLUSTER, ACTION_READ, &cluster, err) <
        0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = answer_cluster(req, res, conn, cluster.cluster_id, err);
    db_give_back(req->server->db, conn);
    return rc;
}
