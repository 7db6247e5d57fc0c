// GET /nodes/telemetry: what the nodes have, hold and use now.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/telemetry.h"
#include "api/operations.h"
#include "api/organisation/nodes.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/samples.h"

#include <math.h>
#include <string.h>

static double gpu_count_where(const struct node_view *view, bool (*is_wanted)(const struct device *device))
{
    int64_t count = 0;
    for (int64_t i = 0; i < view->node.gpu_count; i++)
        count += is_wanted(&view->devices[i]);
    return (double)count;
}

static bool is_ready(const struct device *device)
{
    return device->state != DEVICE_DOWN;
}

static bool is_free(const struct device *device)
{
    return device->state == DEVICE_FREE;
}

static double ready_gpus(const struct node_view *view)
{
    return gpu_count_where(view, is_ready);
}

static double free_gpus(const struct node_view *view)
{
    return gpu_count_where(view, is_free);
}

static double total_gpus(const struct node_view *view)
{
    return (double)view->node.gpu_count;
}

static double total_gpu_nodes(const struct node_view *view)
{
    return view->node.gpu_count > 0;
}

static double ready_gpu_nodes(const struct node_view *view)
{
    return view->node.gpu_count > 0 && view->node.status == NODE_STATUS_READY;
}

static double fully_free_gpu_nodes(const struct node_view *view)
{
    return view->node.gpu_count > 0 && free_gpus(view) == total_gpus(view);
}

static double allocated_gpus(const struct node_view *view)
{
    return (double)view->gpu_allocated_milli / 1000;
}

static double total_cpu_cores(const struct node_view *view)
{
    return (double)view->node.cpu_milli / 1000;
}

static double allocated_cpu_cores(const struct node_view *view)
{
    return (double)view->cpu_allocated_milli / 1000;
}

static double total_gpu_memory(const struct node_view *view)
{
    return (double)view->node.gpu_memory_mib * 1048576 * (double)view->node.gpu_count;
}

static double total_memory(const struct node_view *view)
{
    return (double)view->node.memory_bytes;
}

static double allocated_memory(const struct node_view *view)
{
    return (double)view->memory_allocated_bytes;
}

// By reckoning, or by the latest sample of the node where it has to be measured.
static const struct {
    const char *type;
    double (*reckon)(const struct node_view *view);
    const char *metric;
} TYPES[] = {
    {"READY_GPU_NODES", ready_gpu_nodes, NULL},
    {"READY_GPUS", ready_gpus, NULL},
    {"TOTAL_GPU_NODES", total_gpu_nodes, NULL},
    {"TOTAL_GPUS", total_gpus, NULL},
    {"IDLE_ALLOCATED_GPUS", NULL, "GPU_UTILIZATION_PER_GPU"},
    {"FREE_GPUS", free_gpus, NULL},
    {"ALLOCATED_GPUS", allocated_gpus, NULL},
    {"TOTAL_CPU_CORES", total_cpu_cores, NULL},
    {"USED_CPU_CORES", NULL, "CPU_USAGE_CORES"},
    {"ALLOCATED_CPU_CORES", allocated_cpu_cores, NULL},
    {"TOTAL_GPU_MEMORY_BYTES", total_gpu_memory, NULL},
    {"USED_GPU_MEMORY_BYTES", NULL, "GPU_MEMORY_USAGE_BYTES"},
    {"TOTAL_CPU_MEMORY_BYTES", total_memory, NULL},
    {"USED_CPU_MEMORY_BYTES", NULL, "CPU_MEMORY_USAGE_BYTES"},
    {"ALLOCATED_CPU_MEMORY_BYTES", allocated_memory, NULL},
    {"FULLY_FREE_GPU_NODES", fully_free_gpu_nodes, NULL},
};

static int read_latest(struct db_conn *conn, int64_t node_id, const char *metric, int64_t now_ms, double *out_value,
                       struct error *err)
{
    struct series series = {.scope = "node", .scope_id = node_id, .metric = metric};
    bool is_found;
    if (db_read_series(conn, &series, &now_ms, 1, out_value, &is_found, err) < 0)
        return -1;
    if (!is_found)
        *out_value = NAN;
    return 0;
}

// Devices that somebody holds and whose measured utilization is zero; NAN where nobody measures any that is held.
static int count_idle(const struct request *req, struct db_conn *conn, struct node_view *view, double *out_count,
                      struct error *err)
{
    if (node_views_read_measured(conn, view, 1, req->received_ms, req->arena, err) < 0)
        return -1;
    int64_t held = 0, measured = 0, idle = 0;
    for (int64_t i = 0; i < view->node.gpu_count; i++) {
        held += view->devices[i].holder_count > 0;
        measured += !isnan(view->devices[i].utilization);
        idle += view->devices[i].utilization == 0;
    }
    *out_count = held && !measured ? NAN : (double)idle;
    return 0;
}

static int reckon(const struct request *req, struct db_conn *conn, size_t type, struct node_view *view,
                  double *out_amount, struct error *err)
{
    if (TYPES[type].reckon) {
        *out_amount = TYPES[type].reckon(view);
        return 0;
    }
    if (strcmp(TYPES[type].type, "IDLE_ALLOCATED_GPUS") == 0)
        return count_idle(req, conn, view, out_amount, err);
    return read_latest(conn, view->node.id, TYPES[type].metric, req->received_ms, out_amount, err);
}

static struct telemetry_group group_of(const struct node_view *view, const char *key)
{
    if (strcmp(key, "ClusterId") == 0)
        return (struct telemetry_group){.value = view->cluster_uuid, .name = view->cluster_name};
    if (strcmp(key, "Nodepool") == 0)
        return (struct telemetry_group){.value = view->node.node_pool_name, .name = view->node.node_pool_name};
    return (struct telemetry_group){.value = view->node.uuid, .name = view->node.name};
}

static int add_up(struct request *req, struct db_conn *conn, struct list_query *query, struct telemetry *telemetry,
                  struct error *err)
{
    struct node_view *views;
    size_t count, type = 0;
    while (strcmp(TYPES[type].type, request_query(req, "telemetryType")) != 0)
        type++;
    if (nodes_read(req, conn, query, &views, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct telemetry_group groups[TELEMETRY_GROUP_MAX] = {{.key = NULL}};
        double amount;
        for (size_t g = 0; g < telemetry->group_count; g++)
            groups[g] = group_of(&views[i], telemetry->group_keys[g]);
        if (reckon(req, conn, type, &views[i], &amount, err) < 0)
            return -1;
        telemetry_add(telemetry, groups, amount);
    }
    return 0;
}

int op_get_node_telemetry(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct telemetry telemetry;
    const char *cluster = request_query(req, "clusterId");
    const char *pool = request_query(req, "nodepoolName");
    if (nodes_init_query(req, &query, err) < 0)
        return -1;
    list_query_take_all(&query);
    if (cluster)
        list_query_where_text(&query, "c.uuid = ?", cluster);
    if (pool)
        list_query_where_text(&query, "np.name = ?", pool);
    telemetry_init(&telemetry, req);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = add_up(req, conn, &query, &telemetry, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : telemetry_answer(&telemetry, req, res);
}
