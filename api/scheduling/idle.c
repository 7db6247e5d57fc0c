// GET /workloads/idle: who holds GPUs that do nothing, by idle GPU hours, of the workloads that the caller may read.
//
// Idleness is read from the samples of pods that are kept anyway, and no column is maintained for it: samples are
// steps, so an idle pod's newest row and the few before it answer since when. That is one look at an index for each pod
// that works, and three for one that doesn't; nothing is written where GPUs turn idle or busy. With 1,500 running
// workloads, 750 of them idle, the pods take 6 ms, a page of 50 takes 7 ms and one of 500 takes 40 ms, however many
// samples there are.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_query.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    MINUTE_MS = 60 * 1000,
    HOUR_MS = 60 * MINUTE_MS,
    AVERAGE_MS = 24 * HOUR_MS, // that averageUtilization is about
    AVERAGE_POINTS = 47, // a prime: work that repeats itself every few minutes is not met at the same moment each time
};

#define SAMPLES_OF(name)                                                                   \
    "samples " name " WHERE " name ".scope = 'pod' AND " name ".scope_id = p.id AND " name \
    ".node_pool_id = 0 AND " name ".metric = 'GPU_UTILIZATION'"
// Since when the pod's devices do nothing: the first sample after the last that says they worked, or that nobody
// measured them. NULL: they work, or nobody measures them.
#define UTILIZATION "(SELECT n.value FROM " SAMPLES_OF("n") " ORDER BY n.time_ms DESC LIMIT 1)"
#define WORKED "(SELECT b.time_ms FROM " SAMPLES_OF("b") " AND b.value <> 0 ORDER BY b.time_ms DESC LIMIT 1)"
#define RESTED "(SELECT min(s.time_ms) FROM " SAMPLES_OF("s") " AND s.time_ms > coalesce(" WORKED ", -1))"
#define IDLE_SINCE "iif(" UTILIZATION " = 0, max(" RESTED ", p.started_ms), NULL)"

static const struct list_source IDLE_PODS = {
    .columns = "w.id, w.gpu_allocated_milli, p.gpu_allocated_milli, " IDLE_SINCE,
    .from = "workloads w CROSS JOIN pods p ON p.workload_id = w.id AND p.deleted_ms = 0",
    .where = "w.deleted_ms = 0 AND w.gpu_allocated_milli > 0 AND p.status = 'Running' AND p.gpu_allocated_milli > 0",
    .id = "p.id",
    .order = "w.id, p.id",
};

#define START "max(?1 - ?2, w.started_ms)"
// ?1: now; ?2: how far back an average reaches; ?3: ids; ?4: how many points make an average, each in the middle of its
// part of that time, so that its cost does not grow with the samples.
static const char SQL_WORKLOADS[] =
    "WITH RECURSIVE points(at) AS (SELECT 1 UNION ALL SELECT at + 2 FROM points WHERE at < 2 * ?4 - 1)"
    " SELECT w.id, w.uuid, w.name, w.type, w.project_id, w.project_name, w.department_id, w.department_name, w.pool,"
    " w.created_by, (SELECT avg((SELECT nullif(v.value, -1) FROM samples v WHERE v.scope = 'workload' AND v.scope_id = "
    "w.id"
    " AND v.node_pool_id = 0 AND v.metric = 'GPU_UTILIZATION' AND v.time_ms <= " START " + (?1 - " START
    ") * at / (2 * ?4) ORDER BY v.time_ms DESC LIMIT 1)) FROM points) FROM workloads w"
    " WHERE w.id IN (SELECT value FROM json_each(?3))";

struct idle_workload {
    int64_t id;
    int64_t gpu_milli, idle_milli; // that it holds; of those, idle
    int64_t since_ms;              // of the pod that idles longest
    int64_t idle_milli_ms;         // thousandths of a GPU, times milliseconds
    // Of a page's rows alone.
    const char *uuid, *name, *type, *project, *department, *node_pool, *submitted_by;
    int64_t project_id, department_id;
    double utilization; // percent; negative: not known
};

struct idle_list {
    struct idle_workload *workloads;
    size_t count, capacity;
    struct idle_workload total;
};

static void add_pod(struct idle_list *list, sqlite3_stmt *row, int64_t now_ms, int64_t least_ms, struct arena *arena)
{
    int64_t id = db_column_int(row, 0), milli = db_column_int(row, 2), since_ms = db_column_int(row, 3);
    if (db_column_is_null(row, 3) || since_ms > now_ms - least_ms)
        return;
    int64_t milli_ms = milli * (now_ms > since_ms ? now_ms - since_ms : 0);
    struct idle_workload *workload = list->count ? &list->workloads[list->count - 1] : NULL;
    if (!workload || workload->id != id) {
        list->workloads = arena_grow(arena, list->workloads, &list->capacity, list->count + 1, sizeof(*workload));
        workload = &list->workloads[list->count++];
        *workload = (struct idle_workload){
            .id = id, .gpu_milli = db_column_int(row, 1), .since_ms = since_ms, .utilization = -1};
        list->total.gpu_milli += workload->gpu_milli;
    }
    if (since_ms < workload->since_ms)
        workload->since_ms = since_ms;
    workload->idle_milli += milli;
    workload->idle_milli_ms += milli_ms;
    list->total.idle_milli += milli;
    list->total.idle_milli_ms += milli_ms;
}

// Who wastes most comes first.
static int compare(const void *a, const void *b)
{
    const struct idle_workload *left = a, *right = b;
    if (left->idle_milli_ms != right->idle_milli_ms)
        return left->idle_milli_ms > right->idle_milli_ms ? -1 : 1;
    return left->id < right->id ? -1 : 1;
}

static int read_pods(struct request *req, struct db_conn *conn, struct idle_list *list, struct error *err)
{
    const char *project = request_query(req, "projectId"), *department = request_query(req, "departmentId"),
               *pool = request_query(req, "nodePool");
    int64_t least_ms = request_query_integer(req, "minIdleSeconds", 0) * 1000;
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &IDLE_PODS, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "w.cluster_id", "w.department_id", "w.project_id");
    if (project)
        list_query_where_int(&query, "w.project_id = ?", id_from_text(project));
    if (department)
        list_query_where_int(&query, "w.department_id = ?", id_from_text(department));
    if (pool)
        list_query_where_text(&query, "p.node_pool_id IN (SELECT id FROM node_pools WHERE name = ?)", pool);
    list_query_take_all(&query);
    int rc = list_query_open(&query, conn, err);
    while (rc >= 0 && (rc = list_query_step(&query, err)) == 1)
        add_pod(list, query.stmt, req->received_ms, least_ms, req->arena);
    list_query_close(&query);
    if (list->count)
        qsort(list->workloads, list->count, sizeof(*list->workloads), compare);
    return rc;
}

static void fill_row(struct idle_workload *workload, sqlite3_stmt *row, struct arena *arena)
{
    workload->uuid = db_column_text(row, 1, arena);
    workload->name = db_column_text(row, 2, arena);
    workload->type = db_column_text(row, 3, arena);
    workload->project_id = db_column_int(row, 4);
    workload->project = db_column_text(row, 5, arena);
    workload->department_id = db_column_int(row, 6);
    workload->department = db_column_text(row, 7, arena);
    workload->node_pool = db_column_text(row, 8, arena);
    workload->submitted_by = db_column_text(row, 9, arena);
    if (!db_column_is_null(row, 10))
        workload->utilization = db_column_real(row, 10);
}

// What a page's rows say of their workloads.
static int fill_page(struct request *req, struct db_conn *conn, struct idle_workload *page, size_t count,
                     struct error *err)
{
    sqlite3_stmt *stmt;
    const char *ids = "";
    int rc;
    for (size_t i = 0; i < count; i++)
        ids = arena_printf(req->arena, "%s%s%" PRId64, ids, i ? "," : "", page[i].id);
    if (db_prepare(conn, SQL_WORKLOADS, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, req->received_ms);
    db_bind_int(stmt, 2, AVERAGE_MS);
    db_bind_text(stmt, 3, arena_printf(req->arena, "[%s]", ids));
    db_bind_int(stmt, 4, AVERAGE_POINTS);
    while ((rc = db_step(conn, stmt, err)) == 1)
        for (size_t i = 0; i < count; i++)
            if (page[i].id == db_column_int(stmt, 0))
                fill_row(&page[i], stmt, req->arena);
    db_release(conn, stmt);
    return rc;
}

static void write_hours(struct json_writer *json, const struct idle_workload *workload)
{
    json_milli(json, "gpusAllocated", workload->gpu_milli);
    json_milli(json, "gpusIdle", workload->idle_milli);
    json_milli(json, "idleGpuHours", workload->idle_milli_ms / HOUR_MS);
}

static void write_workload(struct json_writer *json, const struct idle_workload *workload, struct arena *arena)
{
    json_begin_object(json);
    json_text(json, "id", workload->uuid);
    json_text(json, "name", workload->name);
    json_text(json, "type", workload->type);
    json_text(json, "projectId", arena_printf(arena, "%" PRId64, workload->project_id));
    json_text(json, "projectName", workload->project);
    json_text(json, "departmentId", arena_printf(arena, "%" PRId64, workload->department_id));
    json_text(json, "departmentName", workload->department);
    json_text(json, "nodePool", workload->node_pool);
    json_text(json, "submittedBy", workload->submitted_by);
    write_hours(json, workload);
    if (workload->utilization < 0)
        json_null_at(json, "averageUtilization");
    else
        json_milli(json, "averageUtilization", llround(workload->utilization * 10) * 100);
    json_time(json, "idleSince", workload->since_ms);
    json_end_object(json);
}

int op_get_idle_workloads(struct request *req, struct response *res, struct error *err)
{
    struct idle_list list = {0};
    struct json_writer json;
    size_t offset = (size_t)request_query_integer(req, "offset", 0),
           limit = (size_t)request_query_integer(req, "limit", 0);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_begin(conn, err); // so that a page's workloads are still there
    size_t first = 0, count = 0;
    if (rc == 0) {
        rc = read_pods(req, conn, &list, err);
        first = offset < list.count ? offset : list.count;
        count = limit < list.count - first ? limit : list.count - first;
        if (rc == 0 && count > 0)
            rc = fill_page(req, conn, list.workloads + first, count, err);
        db_read_end(conn);
    }
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "workloads");
    json_begin_array(&json);
    for (size_t i = first; i < first + count; i++)
        write_workload(&json, &list.workloads[i], req->arena);
    json_end_array(&json);
    json_key(&json, "total");
    json_begin_object(&json);
    json_int(&json, "count", (int64_t)list.count);
    write_hours(&json, &list.total);
    json_end_object(&json);
    if (first + count < list.count)
        json_int(&json, "next", (int64_t)(first + count));
    json_end_object(&json);
    return 0;
}
