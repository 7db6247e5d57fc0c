// The simulated cluster's nodes: add, remove, let fail and recover. For real backends these paths answer 404.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/scheduling/simulation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/node_pools.h"
#include "db/nodes.h"
#include "reconciler/reconciler.h"

#include <stdlib.h>
#include <string.h>

static const char SQL_SIMULATED_CLUSTER[] = "SELECT min(id) FROM clusters";

struct node_change {
    struct request *req;
    const char *name;
    enum node_status status;
    const char *reason;
    struct node node; // of an addition
};

int simulation_check(struct request *req, enum access_action action, struct error *err)
{
    double speed;
    if (reconciler_get_speed(req->server->reconciler, &speed, err) < 0)
        return -1;
    return access_check_whole_cluster(req, RESOURCE_TYPE_NODES, action, "simulation", err);
}

static void write_node(struct json_writer *json, const struct node *node)
{
    json_begin_object(json);
    json_text(json, "name", node->name);
    json_text(json, "nodePool", node->node_pool_name);
    json_int(json, "gpus", node->gpu_count);
    json_text(json, "gpuType", node->gpu_type);
    json_int(json, "gpuMemoryMib", node->gpu_memory_mib);
    json_milli(json, "cpuCores", node->cpu_milli);
    json_int(json, "memoryBytes", node->memory_bytes);
    json_int(json, "maxPods", node->max_pods);
    json_raw(json, "labels", node->labels_json);
    json_raw(json, "taints", node->taints_json);
    json_bool(json, "ready", node->status == NODE_STATUS_READY);
    json_end_object(json);
}

int op_list_simulation_nodes(struct request *req, struct response *res, struct error *err)
{
    struct node *nodes = NULL;
    size_t count = 0;
    int64_t cluster_id;
    if (simulation_check(req, ACTION_READ, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_number(conn, SQL_SIMULATED_CLUSTER, &cluster_id, err);
    if (rc == 0)
        rc = db_list_nodes(conn, cluster_id, req->arena, &nodes, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "nodes");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_node(&json, &nodes[i]);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

static const char *dump(struct arena *arena, const json_t *value, const char *fallback)
{
    if (!value)
        return fallback;
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    const char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

// The labels of the body, with that of the pool it names.
static int join_pool(struct db_conn *conn, struct node_change *change, struct error *err)
{
    const json_t *body = change->req->body;
    const char *pool_name = json_string_value(json_object_get(body, "nodePool"));
    json_t *labels = json_copy(json_object_get(body, "labels"));
    int rc = 0;
    if (!labels)
        labels = json_object();
    if (pool_name) {
        struct node_pool pool;
        rc = db_find_node_pool_by_name(conn, change->node.cluster_id, pool_name, change->req->arena, &pool, err);
        if (rc < 0 && err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "nodePool: no node pool %s", pool_name);
        else if (rc == 0 && pool.label_key)
            json_object_set_new(labels, pool.label_key, json_string(pool.label_value));
    }
    change->node.labels_json = node_labels_json(change->req->arena, labels, change->node.name);
    json_decref(labels);
    return rc;
}

static int add_node(struct db_conn *conn, void *context, struct error *err)
{
    struct node_change *change = context;
    struct node existing;
    if (db_read_number(conn, SQL_SIMULATED_CLUSTER, &change->node.cluster_id, err) < 0)
        return -1;
    if (db_find_node_by_name(conn, change->node.cluster_id, change->node.name, change->req->arena, &existing, err) == 0)
        return error_set(err, ERROR_CONFLICT, "name: there is a node %s already", change->node.name);
    if (err->code != ERROR_NOT_FOUND || join_pool(conn, change, err) < 0 ||
        db_upsert_node(conn, &change->node, err) < 0)
        return -1;
    return db_find_node_by_name(conn, change->node.cluster_id, change->node.name, change->req->arena, &change->node,
                                err);
}

static int64_t integer_or(const json_t *body, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(body, key);
    return json_is_number(value) ? (int64_t)json_number_value(value) : fallback;
}

int op_add_simulation_node(struct request *req, struct response *res, struct error *err)
{
    const json_t *body = req->body, *cores = json_object_get(body, "cpuCores"), *ready = json_object_get(body, "ready");
    const char *type = json_string_value(json_object_get(body, "gpuType"));
    struct node_change change = {.req = req};
    change.node = (struct node){
        .name = json_string_value(json_object_get(body, "name")),
        .status = json_is_false(ready) ? NODE_STATUS_NOT_READY : NODE_STATUS_READY,
        .status_reason = "",
        .taints_json = dump(req->arena, json_object_get(body, "taints"), "[]"),
        .gpu_count = integer_or(body, "gpus", 0),
        .gpu_memory_mib = integer_or(body, "gpuMemoryMib", 81920),
        .cpu_milli = 64000,
        .memory_bytes = integer_or(body, "memoryBytes", 512LL << 30),
        .max_pods = integer_or(body, "maxPods", 110),
        .created_ms = req->received_ms,
        .updated_ms = req->received_ms,
    };
    change.node.gpu_type = type ? type : change.node.gpu_count ? "NVIDIA-H100-80GB" : "";
    if (simulation_check(req, ACTION_CREATE, err) < 0 ||
        (json_is_number(cores) && quantity_cpu_from_cores(json_number_value(cores), &change.node.cpu_milli, err) < 0) ||
        db_write(req->server->db, add_node, &change, err) < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_node(&json, &change.node);
    return 0;
}

static int remove_node(struct db_conn *conn, void *context, struct error *err)
{
    const struct node_change *change = context;
    int64_t cluster_id;
    if (db_read_number(conn, SQL_SIMULATED_CLUSTER, &cluster_id, err) < 0)
        return -1;
    return db_remove_node(conn, cluster_id, change->name, change->req->received_ms, err);
}

int op_remove_simulation_node(struct request *req, struct response *res, struct error *err)
{
    struct node_change change = {.req = req, .name = request_path(req, "nodeName")};
    if (simulation_check(req, ACTION_DELETE, err) < 0 || db_write(req->server->db, remove_node, &change, err) < 0)
        return -1;
    return response_empty(res, 204);
}

static int set_status(struct db_conn *conn, void *context, struct error *err)
{
    const struct node_change *change = context;
    int64_t cluster_id;
    if (db_read_number(conn, SQL_SIMULATED_CLUSTER, &cluster_id, err) < 0)
        return -1;
    return db_set_node_status(conn, cluster_id, change->name, change->status, change->reason, change->req->received_ms,
                              err);
}

static int change_status(struct request *req, struct response *res, enum node_status status, const char *reason,
                         const char *message, struct error *err)
{
    struct node_change change = {.req = req, .name = request_path(req, "nodeName"), .status = status, .reason = reason};
    if (simulation_check(req, ACTION_UPDATE, err) < 0 || db_write(req->server->db, set_status, &change, err) < 0)
        return -1;
    return response_message(res, 202, message);
}

int op_fail_simulation_node(struct request *req, struct response *res, struct error *err)
{
    return change_status(req, res, NODE_STATUS_NOT_READY, "failed by request", "the node fails", err);
}

int op_recover_simulation_node(struct request *req, struct response *res, struct error *err)
{
    return change_status(req, res, NODE_STATUS_READY, "", "the node recovers", err);
}
