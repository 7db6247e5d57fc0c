// GET /devices: the devices of the nodes with what is measured of them, who holds them, and the processes on them,
// those that nobody submitted among them.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/organisation/nodes.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/samples.h"
#include "reconciler/reconciler.h"

#include <math.h>

static const char SQL_POD[] = "SELECT p.name, w.uuid, w.name, w.cluster_id, w.department_id, w.project_id FROM pods p"
                              " JOIN workloads w ON w.id = p.workload_id WHERE p.uuid = ?";

struct writing {
    struct request *req;
    struct db_conn *conn;
    struct scope_filter readable;
    struct json_writer json;
    struct latest_sample *used; // CPU and memory of each pod, in the order in which they are written
};

// What each pod of the nodes uses; by one statement for all.
static int read_pods_used(struct writing *writing, const struct node_view *views, size_t count, struct error *err)
{
    size_t used = 0, pods = 0;
    for (size_t i = 0; i < count; i++)
        pods += (size_t)views[i].pod_count;
    writing->used = arena_array(writing->req->arena, pods * 2, sizeof(*writing->used));
    for (size_t i = 0; i < count; i++)
        for (int64_t k = 0; k < views[i].pod_count; k++) {
            writing->used[used++] =
                (struct latest_sample){.scope_id = views[i].pods[k].id, .metric = "CPU_USAGE_CORES"};
            writing->used[used++] =
                (struct latest_sample){.scope_id = views[i].pods[k].id, .metric = "CPU_MEMORY_USAGE_BYTES"};
        }
    return db_read_latest(writing->conn, "pod", writing->used, used, writing->req->received_ms, err);
}

static void write_used(struct writing *writing, const char *key)
{
    double value = (writing->used++)->value;
    if (isnan(value))
        json_null_at(&writing->json, key);
    else
        json_number(&writing->json, key, value);
}

static void write_pods(struct writing *writing, const struct node_view *view)
{
    struct json_writer *json = &writing->json;
    json_key(json, "pods");
    json_begin_array(json);
    for (int64_t i = 0; i < view->pod_count; i++) {
        const struct node_pod *pod = &view->pods[i];
        bool is_readable = scope_filter_shows(&writing->readable, &pod->path);
        json_begin_object(json);
        json_text(json, "podName", is_readable ? pod->name : NULL);
        json_key(json, "workload");
        json_begin_object(json);
        node_pod_write_workload(pod, &writing->readable, json);
        json_end_object(json);
        json_bool(json, "releasing", pod->is_releasing);
        json_milli(json, "gpus", pod->gpu_milli);
        json_milli(json, "cpuCores", pod->cpu_milli);
        write_used(writing, "usedCpuCores");
        json_int(json, "cpuMemoryBytes", pod->memory_bytes);
        write_used(writing, "usedCpuMemoryBytes");
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_known(struct json_writer *json, const char *key, int64_t value)
{
    if (value < 0)
        json_null_at(json, key);
    else
        json_int(json, key, value);
}

// Whose it is; of a workload that the caller may not read, nothing but that it was submitted.
static int write_pod(struct writing *writing, const char *pod_uuid, struct error *err)
{
    sqlite3_stmt *stmt;
    struct json_writer *json = &writing->json;
    if (db_prepare(writing->conn, SQL_POD, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, pod_uuid);
    int rc = db_step(writing->conn, stmt, err);
    struct scope_path path = {0};
    if (rc == 1)
        path = (struct scope_path){db_column_int(stmt, 3), db_column_int(stmt, 4), db_column_int(stmt, 5)};
    if (rc == 1 && scope_filter_shows(&writing->readable, &path)) {
        json_text(json, "podName", db_column_text(stmt, 0, writing->req->arena));
        json_text(json, "workloadId", db_column_text(stmt, 1, writing->req->arena));
        json_text(json, "workloadName", db_column_text(stmt, 2, writing->req->arena));
    }
    db_release(writing->conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int write_process(struct writing *writing, const struct reconciler_process *process, struct error *err)
{
    struct json_writer *json = &writing->json;
    json_begin_object(json);
    json_int(json, "pid", process->pid);
    json_text(json, "user", process->user);
    json_text(json, "command", process->command);
    json_int(json, "memoryMib", process->memory_mib);
    json_bool(json, "foreign", !process->pod_uuid[0]);
    int rc = process->pod_uuid[0] ? write_pod(writing, process->pod_uuid, err) : 0;
    json_end_object(json);
    return rc;
}

static int write_reading(struct writing *writing, const struct reconciler_device *device, struct error *err)
{
    struct json_writer *json = &writing->json;
    int rc = 0;
    json_begin_object(json);
    json_text(json, "name", device->name);
    json_bool(json, "healthy", device->is_healthy);
    json_text(json, "reason", device->reason);
    write_known(json, "utilization", device->utilization);
    write_known(json, "memoryMib", device->memory_mib);
    write_known(json, "memoryUsedMib", device->memory_used_mib);
    write_known(json, "temperatureCelsius", device->temperature);
    json_key(json, "processes");
    json_begin_array(json);
    for (size_t i = 0; i < device->process_count && rc == 0; i++)
        rc = write_process(writing, &device->processes[i], err);
    json_end_array(json);
    json_end_object(json);
    return rc;
}

static int write_node(struct writing *writing, const struct node_view *view, struct error *err)
{
    struct reconciler_device *devices;
    struct json_writer *json = &writing->json;
    size_t count =
        reconciler_read_devices(writing->req->server->reconciler, view->node.name, writing->req->arena, &devices);
    int rc = 0;
    json_begin_object(json);
    json_text(json, "id", view->node.uuid);
    json_text(json, "name", view->node.name);
    json_text(json, "gpuType", view->node.gpu_type);
    json_int(json, "gpuMemoryMib", view->node.gpu_memory_mib);
    node_view_write_load(view, json);
    write_pods(writing, view);
    json_key(json, "devices");
    node_view_write_devices(view, &writing->readable, json);
    json_key(json, "readings");
    json_begin_array(json);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = write_reading(writing, &devices[i], err);
    json_end_array(json);
    json_end_object(json);
    return rc;
}

int op_get_devices(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct node_view *views = NULL;
    size_t count = 0;
    struct writing writing = {.req = req};
    if (nodes_init_query(req, &query, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &writing.readable);
    writing.conn = db_acquire(req->server->db);
    int rc = nodes_read(req, writing.conn, &query, &views, &count, err);
    if (rc == 0)
        rc = node_views_read_measured(writing.conn, views, count, req->received_ms, req->arena, err);
    if (rc == 0)
        rc = read_pods_used(&writing, views, count, err);
    json_writer_init(&writing.json, res->body, false);
    json_begin_object(&writing.json);
    json_key(&writing.json, "nodes");
    json_begin_array(&writing.json);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = write_node(&writing, &views[i], err);
    json_end_array(&writing.json);
    json_end_object(&writing.json);
    db_give_back(req->server->db, writing.conn);
    return rc;
}
