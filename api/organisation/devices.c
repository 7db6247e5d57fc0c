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
#include "reconciler/reconciler.h"

static const char SQL_POD[] = "SELECT p.name, w.uuid, w.name, w.cluster_id, w.department_id, w.project_id FROM pods p"
                              " JOIN workloads w ON w.id = p.workload_id WHERE p.uuid = ?";

struct writing {
    struct request *req;
    struct db_conn *conn;
    struct scope_filter readable;
    struct json_writer json;
};

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
        rc = node_views_read_utilization(writing.conn, views, count, req->received_ms, req->arena, err);
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
