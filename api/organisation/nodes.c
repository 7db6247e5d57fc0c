// Nodes: list and count, of the tenant and of one cluster. They come from the backend; their labels can be changed.
#include "api/organisation/nodes.h"

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
#include "db/nodes.h"
#include "model/names.h"

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "n.name COLLATE by_number", .type = LIST_TEXT, .is_searched = true},
    {.name = "status", .sql = "n.status", .type = LIST_TEXT, .is_searched = true},
    {.name = "nodePool", .sql = "np.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "gpuType", .sql = "n.gpu_type", .type = LIST_TEXT, .is_searched = true},
    {.name = "nvLinkDomainUid", .sql = "NULL", .type = LIST_TEXT},
    {.name = "nvLinkCliqueId", .sql = "NULL", .type = LIST_TEXT},
    {.name = "clusterUuid", .sql = "c.uuid", .type = LIST_TEXT},
};

const struct list_source NODE_LIST = {
    .columns = NODE_COLUMNS ", c.uuid, c.name",
    .from = "nodes n JOIN node_pools np ON np.id = n.node_pool_id JOIN clusters c ON c.id = n.cluster_id",
    .where = "n.deleted_ms = 0",
    .id = "n.id",
    .order = "n.name COLLATE by_number, n.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

int nodes_init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, &NODE_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_NODES, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "n.cluster_id", "NULL", "NULL");
    return 0;
}

int nodes_read(struct request *req, struct db_conn *conn, struct list_query *query, struct node_view **out_views,
               size_t *out_count, struct error *err)
{
    struct node_view *views = NULL;
    size_t count = 0, capacity = 0;
    int rc = list_query_open(query, conn, err);
    while (rc >= 0 && (rc = list_query_step(query, err)) == 1) {
        views = arena_grow(req->arena, views, &capacity, count + 1, sizeof(*views));
        struct node_view *view = &views[count++];
        node_from_row(query->stmt, req->arena, &view->node);
        view->cluster_uuid = db_column_text(query->stmt, NODE_COLUMN_COUNT, req->arena);
        view->cluster_name = db_column_text(query->stmt, NODE_COLUMN_COUNT + 1, req->arena);
    }
    list_query_close(query);
    if (rc < 0 || node_views_read_devices(conn, views, count, req->arena, err) < 0)
        return -1;
    *out_views = views;
    *out_count = count;
    return 0;
}

static void write_conditions(const struct node *node, struct json_writer *json)
{
    json_key(json, "conditions");
    json_begin_array(json);
    json_begin_object(json);
    json_text(json, "type", "Ready");
    json_text(json, "reason", node_status_text(node->status));
    json_text(json, "message", node->status_reason);
    json_end_object(json);
    json_end_array(json);
}

void node_write_cordon(const struct node *node, struct json_writer *json)
{
    json_key(json, "cordon");
    if (!node->cordon.ms) {
        json_value_null(json);
        return;
    }
    json_begin_object(json);
    json_text(json, "reason", node->cordon.reason);
    json_text(json, "by", node->cordon.by);
    json_time(json, "at", node->cordon.ms);
    json_bool(json, "draining", node->cordon.drain != NODE_DRAIN_NONE);
    json_bool(json, "force", node->cordon.drain == NODE_DRAIN_ALL);
    json_end_object(json);
}

static void write_own_fields(const struct node_view *view, const struct scope_filter *readable,
                             struct json_writer *json)
{
    const struct node *node = &view->node;
    json_key(json, "prorata");
    json_begin_object(json);
    json_bool(json, "cordoned", node->is_cordoned);
    node_write_cordon(node, json);
    json_raw(json, "labels", node->labels_json);
    json_int(json, "gpuMemoryMib", node->gpu_memory_mib);
    json_milli(json, "allocatedGpus", view->gpu_allocated_milli);
    node_view_write_load(view, json);
    json_int(json, "podCount", view->pod_count);
    json_key(json, "devices");
    node_view_write_devices(view, readable, json);
    json_end_object(json);
}

static void write_node(const struct node_view *view, const struct scope_filter *readable, struct json_writer *json)
{
    const struct node *node = &view->node;
    json_begin_object(json);
    json_text(json, "id", node->uuid);
    json_text(json, "name", node->name);
    json_text(json, "clusterUuid", view->cluster_uuid);
    json_text(json, "status", node_status_text(node->status));
    write_conditions(node, json);
    json_raw(json, "taints", node->taints_json);
    json_text(json, "nodePool", node->node_pool_name);
    json_key(json, "gpuInfo");
    if (node->gpu_count == 0) {
        json_value_null(json);
    } else {
        json_begin_object(json);
        json_text(json, "gpuType", node->gpu_type);
        json_int(json, "gpuCount", node->gpu_count);
        json_end_object(json);
    }
    json_null_at(json, "nvLinkDomainUid");
    json_null_at(json, "nvLinkCliqueId");
    json_time(json, "createdAt", node->created_ms);
    json_time(json, "updatedAt", node->updated_ms);
    write_own_fields(view, readable, json);
    json_end_object(json);
}

static int read_whole(struct request *req, struct list_query *query, struct node_view **out_views, size_t *out_count,
                      struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = nodes_read(req, conn, query, out_views, out_count, err);
    if (rc == 0)
        rc = node_views_read_measured(conn, *out_views, *out_count, req->received_ms, req->arena, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : 0;
}

static int answer_nodes(struct request *req, struct response *res, struct list_query *query, struct error *err)
{
    struct node_view *views = NULL;
    size_t count = 0;
    struct scope_filter readable;
    if (read_whole(req, query, &views, &count, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &readable);
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "nodes");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_node(&views[i], &readable, &json);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

int op_get_tenant_nodes(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return nodes_init_query(req, &query, err) < 0 ? -1 : answer_nodes(req, res, &query, err);
}

int op_count_tenant_nodes(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return nodes_init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

static int init_cluster_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_path cluster;
    const char *uuid = request_path(req, "clusterUuid");
    if (access_check_cluster(req, uuid, RESOURCE_TYPE_NODES, ACTION_READ, &cluster, err) < 0 ||
        nodes_init_query(req, query, err) < 0)
        return -1;
    list_query_where_int(query, "n.cluster_id = ?", cluster.cluster_id);
    return 0;
}

int op_get_nodes(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (init_cluster_query(req, &query, err) < 0)
        return -1;
    const char *name = request_query(req, "nodeName");
    if (name)
        list_query_where_text(&query, "n.name = ?", name);
    return answer_nodes(req, res, &query, err);
}

int op_count_nodes(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_cluster_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

struct label_change {
    struct request *req;
    const char *name;
    const json_t *labels;
};

static int check_labels(const json_t *labels, struct arena *arena, struct error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)labels, key, value) {
        if (node_label_key_check(key, "labels", err) < 0)
            return -1;
        if (json_is_string(value) &&
            label_value_check(json_string_value(value), arena_printf(arena, "labels.%s", key), err) < 0)
            return -1;
    }
    return 0;
}

static int change_labels(struct db_conn *conn, void *context, struct error *err)
{
    const struct label_change *change = context;
    int64_t cluster_id;
    if (db_read_number(conn, "SELECT min(id) FROM clusters", &cluster_id, err) < 0)
        return -1;
    return db_patch_node_labels(conn, cluster_id, change->name, change->labels, change->req->received_ms, err);
}

int op_update_node_labels(struct request *req, struct response *res, struct error *err)
{
    struct label_change change = {req, request_path(req, "nodeName"), json_object_get(req->body, "labels")};
    if (access_check_whole_cluster(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, "nodes", err) < 0 ||
        check_labels(change.labels, req->arena, err) < 0 || db_write(req->server->db, change_labels, &change, err) < 0)
        return -1;
    return nodes_answer_one(req, res, "n.name = ?", change.name, err);
}

int nodes_answer_one(struct request *req, struct response *res, const char *condition, const char *value,
                     struct error *err)
{
    struct list_query query;
    struct node_view *views = NULL;
    size_t count = 0;
    struct scope_filter readable;
    if (nodes_init_query(req, &query, err) < 0)
        return -1;
    list_query_where_text(&query, condition, value);
    if (read_whole(req, &query, &views, &count, err) < 0)
        return -1;
    if (count == 0)
        return error_set(err, ERROR_NOT_FOUND, "node %.80s: not found", value); // removed since
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &readable);
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_node(&views[0], &readable, &json);
    return 0;
}
