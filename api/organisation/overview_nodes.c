// Nodes and devices: counts by node pool, and the brief form that the cluster map draws.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/organisation/nodes.h"
#include "api/organisation/overview.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BROKEN_SHOWN = 8,
    IDLE_MS = 5 * 60 * 1000 // from then on a device that does nothing counts as idle
};

static int read_nodes(struct request *req, struct db_conn *conn, struct node_view **out_views, size_t *out_count,
                      struct error *err)
{
    struct list_query query;
    if (nodes_init_query(req, &query, err) < 0)
        return -1;
    list_query_take_all(&query);
    if (nodes_read(req, conn, &query, out_views, out_count, err) < 0)
        return -1;
    return node_views_read_measured(conn, *out_views, *out_count, req->received_ms, req->arena, err);
}

static const struct list_source POOLS = {
    .columns = "np.id, np.name",
    .from = "node_pools np",
    .where = "np.deleted_ms = 0",
    .id = "np.id",
    .order = "np.id",
};

struct pool {
    int64_t id;
    const char *name;
    const char *gpu_type; // of its first node with GPUs
    int64_t node_count, ready_count, gpu_node_count, ready_gpu_node_count;
    int64_t gpu_count, down_count, free_count, idle_count;
    int64_t held_count, measured_count; // of devices; measured: of those that are held
    int64_t allocated_milli;
    int64_t cpu_milli, cpu_allocated_milli, memory_bytes, memory_allocated_bytes; // of nodes that are ready
    double cpu_used_cores, memory_used_bytes;                                     // NAN: nobody measures any
};

static int read_pools(struct request *req, struct db_conn *conn, struct pool **out_pools, size_t *out_count,
                      struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    struct pool *pools = NULL;
    size_t count = 0, capacity = 0;
    if (list_query_init(&query, &POOLS, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_NODES, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "np.cluster_id", "NULL", "NULL");
    list_query_take_all(&query);
    int rc = list_query_open(&query, conn, err);
    while (rc >= 0 && (rc = list_query_step(&query, err)) == 1) {
        pools = arena_grow(req->arena, pools, &capacity, count + 1, sizeof(*pools));
        pools[count++] = (struct pool){.id = db_column_int(query.stmt, 0),
                                       .name = db_column_text(query.stmt, 1, req->arena),
                                       .gpu_type = "",
                                       .cpu_used_cores = NAN,
                                       .memory_used_bytes = NAN};
    }
    list_query_close(&query);
    *out_pools = pools;
    *out_count = count;
    return rc;
}

static int64_t held_of(const struct device *device)
{
    int64_t held = 0;
    for (size_t i = 0; i < device->holder_count; i++)
        held += device->holders[i].share_milli;
    return held;
}

static void add_used(double *sum, double used)
{
    if (!isnan(used))
        *sum = (isnan(*sum) ? 0 : *sum) + used;
}

static void add_load(struct pool *pool, const struct node_view *view)
{
    pool->cpu_milli += view->node.cpu_milli;
    pool->cpu_allocated_milli += view->cpu_allocated_milli;
    pool->memory_bytes += view->node.memory_bytes;
    pool->memory_allocated_bytes += view->memory_allocated_bytes;
    add_used(&pool->cpu_used_cores, view->cpu_used_cores);
    add_used(&pool->memory_used_bytes, view->memory_used_bytes);
}

// What is not ready counts as down, whoever holds it.
static void add_node(struct pool *pool, const struct node_view *view)
{
    bool is_ready = view->node.status == NODE_STATUS_READY, has_gpus = view->node.gpu_count > 0;
    pool->node_count++;
    pool->ready_count += is_ready;
    pool->gpu_node_count += has_gpus;
    pool->ready_gpu_node_count += is_ready && has_gpus;
    if (is_ready)
        add_load(pool, view);
    if (has_gpus && !pool->gpu_type[0])
        pool->gpu_type = view->node.gpu_type;
    for (int64_t i = 0; i < view->node.gpu_count; i++) {
        const struct device *device = &view->devices[i];
        if (device->state == DEVICE_DOWN) {
            pool->down_count++;
            continue;
        }
        pool->gpu_count++;
        pool->free_count += device->state == DEVICE_FREE;
        pool->held_count += device->holder_count > 0;
        pool->measured_count += device->holder_count > 0 && !isnan(device->utilization);
        pool->idle_count += device->holder_count > 0 && device->utilization == 0;
        pool->allocated_milli += held_of(device);
    }
}

static void write_amounts(struct json_writer *json, const char *key, double total, double allocated, double used)
{
    json_key(json, key);
    json_begin_object(json);
    json_number(json, "total", total);
    json_number(json, "allocated", allocated);
    if (isnan(used))
        json_null_at(json, "used");
    else
        json_number(json, "used", used);
    json_end_object(json);
}

static void write_pool(const struct pool *pool, struct json_writer *json)
{
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, pool->id);
    json_begin_object(json);
    json_text(json, "id", id);
    json_text(json, "name", pool->name);
    json_text(json, "gpuType", pool->gpu_type);
    json_int(json, "nodes", pool->node_count);
    json_int(json, "nodesReady", pool->ready_count);
    json_int(json, "gpuNodes", pool->gpu_node_count);
    json_int(json, "gpuNodesReady", pool->ready_gpu_node_count);
    json_int(json, "gpus", pool->gpu_count);
    json_int(json, "gpusDown", pool->down_count);
    json_milli(json, "gpusAllocated", pool->allocated_milli);
    if (pool->held_count && !pool->measured_count)
        json_null_at(json, "gpusIdle");
    else
        json_int(json, "gpusIdle", pool->idle_count);
    json_int(json, "gpusFree", pool->free_count);
    write_amounts(json, "cpuCores", (double)pool->cpu_milli / 1000, (double)pool->cpu_allocated_milli / 1000,
                  pool->cpu_used_cores);
    write_amounts(json, "cpuMemoryBytes", (double)pool->memory_bytes, (double)pool->memory_allocated_bytes,
                  pool->memory_used_bytes);
    json_end_object(json);
}

static void write_broken(const struct node_view *views, size_t count, struct json_writer *json)
{
    size_t shown = 0;
    json_key(json, "notReady");
    json_begin_array(json);
    for (size_t i = 0; i < count && shown < BROKEN_SHOWN; i++) {
        if (views[i].node.status == NODE_STATUS_READY)
            continue;
        json_begin_object(json);
        json_text(json, "name", views[i].node.name);
        json_text(json, "nodePool", views[i].node.node_pool_name);
        json_text(json, "reason", views[i].node.status_reason);
        json_end_object(json);
        shown++;
    }
    json_end_array(json);
}

int overview_write_pools(struct request *req, struct db_conn *conn, struct json_writer *json, struct error *err)
{
    struct pool *pools;
    struct node_view *views;
    size_t pool_count, count;
    if (read_pools(req, conn, &pools, &pool_count, err) < 0 || read_nodes(req, conn, &views, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < pool_count; p++)
            if (pools[p].id == views[i].node.node_pool_id)
                add_node(&pools[p], &views[i]);
    json_key(json, "nodePools");
    json_begin_array(json);
    for (size_t p = 0; p < pool_count; p++)
        write_pool(&pools[p], json);
    json_end_array(json);
    write_broken(views, count, json);
    return 0;
}

// The cluster map names each workload once: holders point at it by its place in the list.
struct named {
    const char *uuid;
    size_t place;
};

struct names {
    struct arena *arena;
    const struct scope_filter *readable;
    const struct node_pod **pods; // one of each workload, in the order in which they come
    size_t count, capacity;
    struct named *slots; // by the uuid's text; a power of two
    size_t slot_count;
};

static size_t slot_of(const struct names *names, const char *uuid)
{
    size_t hash = 5381;
    for (const char *c = uuid; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    while (names->slots[hash & (names->slot_count - 1)].uuid &&
           strcmp(names->slots[hash & (names->slot_count - 1)].uuid, uuid) != 0)
        hash++;
    return hash & (names->slot_count - 1);
}

static void names_init(struct names *names, const struct node_view *views, size_t count)
{
    size_t pods = 0;
    for (size_t i = 0; i < count; i++)
        pods += (size_t)views[i].pod_count;
    names->slot_count = 16;
    while (names->slot_count < pods * 2)
        names->slot_count *= 2;
    names->slots = arena_array(names->arena, names->slot_count, sizeof(*names->slots));
}

static size_t place_of(struct names *names, const struct node_pod *pod)
{
    struct named *slot = &names->slots[slot_of(names, pod->workload_uuid)];
    if (!slot->uuid) {
        *slot = (struct named){pod->workload_uuid, names->count};
        names->pods = arena_grow(names->arena, names->pods, &names->capacity, names->count + 1, sizeof(*names->pods));
        names->pods[names->count++] = pod;
    }
    return slot->place;
}

static void write_indices(struct json_writer *json, const char *key, const struct node_view *view,
                          bool (*is_meant)(const struct device *device, const void *context), const void *context)
{
    json_key(json, key);
    json_begin_array(json);
    for (int64_t i = 0; i < view->node.gpu_count; i++)
        if (is_meant(&view->devices[i], context))
            json_value_int(json, i);
    json_end_array(json);
}

static bool is_down(const struct device *device, const void *context)
{
    (void)context;
    return device->state == DEVICE_DOWN;
}

static bool is_held_by(const struct device *device, const void *pod)
{
    for (size_t i = 0; i < device->holder_count; i++)
        if (device->holders[i].pod == pod)
            return true;
    return false;
}

static bool is_idle(const struct device *device, const void *now_ms)
{
    return device->idle_since_ms && device->idle_since_ms <= *(const int64_t *)now_ms - IDLE_MS;
}

// Each pod once, at the first of its devices.
static void write_held(const struct node_view *view, struct names *names, struct json_writer *json)
{
    json_key(json, "held");
    json_begin_array(json);
    for (int64_t i = 0; i < view->node.gpu_count; i++)
        for (size_t h = 0; h < view->devices[i].holder_count; h++) {
            const struct device_holder *holder = &view->devices[i].holders[h];
            if (!holder->is_first)
                continue;
            json_begin_object(json);
            json_int(json, "workload", (int64_t)place_of(names, holder->pod));
            write_indices(json, "gpus", view, is_held_by, holder->pod);
            json_milli(json, "share", holder->share_milli);
            if (holder->pod->is_releasing)
                json_bool(json, "releasing", true);
            json_end_object(json);
        }
    json_end_array(json);
}

// Whole percents; what was used a little is not shown as unused.
static void write_utilization(const struct node_view *view, struct json_writer *json)
{
    json_key(json, "utilization");
    json_begin_array(json);
    for (int64_t i = 0; i < view->node.gpu_count; i++)
        json_value_real(json, ceil(view->devices[i].utilization));
    json_end_array(json);
}

static void write_node(const struct node_view *view, int64_t now_ms, struct names *names, struct json_writer *json)
{
    const struct node *node = &view->node;
    json_begin_object(json);
    json_text(json, "id", node->uuid);
    json_text(json, "name", node->name);
    json_text(json, "nodePool", node->node_pool_name);
    json_text(json, "status", node_status_text(node->status));
    if (node->status_reason[0])
        json_text(json, "reason", node->status_reason);
    json_bool(json, "cordoned", node->is_cordoned);
    if (node->cordon.drain != NODE_DRAIN_NONE)
        json_bool(json, "drained", true);
    json_text(json, "gpuType", node->gpu_type);
    json_int(json, "gpuCount", node->gpu_count);
    write_indices(json, "gpusDown", view, is_down, NULL);
    write_indices(json, "gpusIdle", view, is_idle, &now_ms);
    write_utilization(view, json);
    write_held(view, names, json);
    json_end_object(json);
}

static void write_department(const struct node_pod *pod, const struct scope_filter *readable, struct json_writer *json)
{
    bool is_readable = scope_filter_shows(readable, &pod->path);
    char id[24];
    snprintf(id, sizeof(id), "%" PRId64, pod->path.department_id);
    json_text(json, "departmentId", is_readable ? id : NULL);
    json_text(json, "departmentName", is_readable ? pod->department_name : NULL);
}

static void write_workloads(const struct names *names, struct json_writer *json)
{
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = 0; i < names->count; i++) {
        json_begin_object(json);
        node_pod_write_workload(names->pods[i], names->readable, json);
        write_department(names->pods[i], names->readable, json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_map(const struct node_view *views, size_t count, int64_t now_ms, struct names *names,
                      struct json_writer *json)
{
    json_begin_object(json);
    json_key(json, "nodes");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++)
        if (views[i].node.gpu_count > 0)
            write_node(&views[i], now_ms, names, json);
    json_end_array(json);
    write_workloads(names, json);
    json_end_object(json);
}

int op_get_overview_nodes(struct request *req, struct response *res, struct error *err)
{
    struct node_view *views = NULL;
    size_t count = 0;
    struct scope_filter readable;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_begin(conn, err);
    if (rc == 0) {
        rc = read_nodes(req, conn, &views, &count, err);
        db_read_end(conn);
    }
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &readable);
    struct names names = {.arena = req->arena, .readable = &readable};
    struct json_writer json;
    names_init(&names, views, count);
    json_writer_init(&json, res->body, false);
    write_map(views, count, req->received_ms, &names, &json);
    return 0;
}
