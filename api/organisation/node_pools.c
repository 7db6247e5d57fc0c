// Node pools: list, count, one, create, change, delete.
#include "db/node_pools.h"
#include "api/access/authenticate.h"
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
#include "model/names.h"

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "np.name", .type = LIST_TEXT},
    {.name = "clusterId", .sql = "c.uuid", .type = LIST_TEXT},
    {.name = "phase", .sql = "np.phase", .type = LIST_TEXT},
    {.name = "createdAt", .sql = "np.created_ms", .type = LIST_TIME},
    {.name = "updatedAt", .sql = "np.updated_ms", .type = LIST_TIME},
    {.name = "networkTopologyName", .sql = "t.name", .type = LIST_TEXT},
    {.name = "gpuNetworkAccelerationDetection",
     .sql = "coalesce(np.settings_json ->> '$.gpuNetworkAccelerationDetection', 'Auto')",
     .type = LIST_TEXT},
    // An expression: a bare number would be taken for a column in ORDER BY.
    {.name = "gpuNetworkAccelerationDetected", .sql = "(0 + 0)", .type = LIST_BOOL},
    {.name = "gpuNetworkAccelerationLabelKey",
     .sql = "coalesce(np.settings_json ->> '$.gpuNetworkAccelerationLabelKey', 'nvidia.com/gpu.clique')",
     .type = LIST_TEXT},
    {.name = "swapEnabled",
     .sql = "coalesce(np.settings_json ->> '$.gpuResourceOptimization.swapEnabled', 0)",
     .type = LIST_BOOL},
    {.name = "nodeLevelSchedulerEnabled",
     .sql = "coalesce(np.settings_json ->> '$.gpuResourceOptimization.nodeLevelSchedulerEnabled', 0)",
     .type = LIST_BOOL},
};

static const struct list_source NODE_POOL_LIST = {
    .columns = NODE_POOL_COLUMNS,
    .from = NODE_POOL_FROM,
    .where = "np.deleted_ms = 0",
    .id = "np.id",
    .order = "np.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, &NODE_POOL_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_NODEPOOLS, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "np.cluster_id", "NULL", "NULL");
    return 0;
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    (void)context;
    struct node_pool pool;
    node_pool_from_row(row, req->arena, &pool);
    node_pool_write_json(&pool, req->arena, json);
}

static const struct list_form FORM = {.key = "nodepools", .write_row = write_row};

int op_get_nodepools(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (init_query(req, &query, err) < 0)
        return -1;
    return list_answer(req, res, &query, &FORM, NULL, err);
}

int op_count_nodepools(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

// The pool of the path, if the caller may do this to it.
static int find_pool(struct request *req, enum access_action action, struct node_pool *out_pool, struct error *err)
{
    const char *id = request_path(req, "nodepoolId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_node_pool(conn, id_from_text(id), req->arena, out_pool, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct scope_path where = {.cluster_id = out_pool->cluster_id};
    return access_check(req, &where, RESOURCE_TYPE_NODEPOOLS, action, arena_printf(req->arena, "node pool %s", id),
                        err);
}

static int answer_pool(struct request *req, struct response *res, int64_t id, struct error *err)
{
    struct node_pool pool;
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_node_pool(conn, id, req->arena, &pool, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    node_pool_write_json(&pool, req->arena, &json);
    return 0;
}

int op_get_nodepool(struct request *req, struct response *res, struct error *err)
{
    struct node_pool pool;
    struct json_writer json;
    if (find_pool(req, ACTION_READ, &pool, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    node_pool_write_json(&pool, req->arena, &json);
    return 0;
}

// What a write function needs; it runs on the writer's thread while the request waits.
struct pool_write {
    const struct request *req;
    struct node_pool *pool;
    bool is_patch;
};

static int create_pool(struct db_conn *conn, void *context, struct error *err)
{
    const struct pool_write *write = context;
    return db_create_node_pool(conn, write->pool, err);
}

int op_create_nodepool(struct request *req, struct response *res, struct error *err)
{
    struct scope_path cluster;
    const char *cluster_uuid = json_string_value(json_object_get(req->body, "clusterId"));
    const char *name = json_string_value(json_object_get(req->body, "name"));
    if (access_check_cluster(req, cluster_uuid, RESOURCE_TYPE_NODEPOOLS, ACTION_CREATE, &cluster, err) < 0) {
        // The operation's contract has no 404: a place that is not there is a wrong field of the body.
        if (err->code == ERROR_NOT_FOUND)
            error_set(err, ERROR_INVALID, "clusterId: no cluster %.60s", cluster_uuid);
        return -1;
    }
    struct node_pool pool = {
        .cluster_id = cluster.cluster_id,
        .name = name,
        .created_by = req->caller->name,
        .updated_by = req->caller->name,
        .created_ms = req->received_ms,
        .updated_ms = req->received_ms,
    };
    struct pool_write write = {.req = req, .pool = &pool};
    node_pool_defaults(&pool);
    if (name_check(name, NAME_MAX_LENGTH, "name", err) < 0 ||
        node_pool_from_json(&pool, req->body, req->arena, err) < 0 ||
        db_write(req->server->db, create_pool, &write, err) < 0)
        return -1;
    return answer_pool(req, res, pool.id, err);
}

// Reads and changes on the writer's thread, so that what was read is not stale. A PUT begins with the defaults, a PATCH
// with what the pool has.
static int change_pool(struct db_conn *conn, void *context, struct error *err)
{
    const struct pool_write *write = context;
    const struct request *req = write->req;
    struct node_pool *pool = write->pool;
    if (db_find_node_pool(conn, pool->id, req->arena, pool, err) < 0)
        return -1;
    if (!write->is_patch)
        node_pool_defaults(pool);
    pool->updated_by = req->caller->name;
    pool->updated_ms = req->received_ms;
    if (node_pool_from_json(pool, req->body, req->arena, err) < 0)
        return -1;
    return db_update_node_pool(conn, pool, err);
}

static int change(struct request *req, struct response *res, bool is_patch, struct error *err)
{
    struct node_pool pool;
    struct pool_write write = {.req = req, .pool = &pool, .is_patch = is_patch};
    if (find_pool(req, ACTION_UPDATE, &pool, err) < 0 || db_write(req->server->db, change_pool, &write, err) < 0)
        return -1;
    return answer_pool(req, res, pool.id, err);
}

int op_update_nodepool(struct request *req, struct response *res, struct error *err)
{
    return change(req, res, false, err);
}

int op_patch_nodepool(struct request *req, struct response *res, struct error *err)
{
    return change(req, res, true, err);
}

static int delete_pool(struct db_conn *conn, void *context, struct error *err)
{
    const struct pool_write *write = context;
    const struct request *req = write->req;
    return db_delete_node_pool(conn, write->pool->id, req->caller->name, req->received_ms, err);
}

int op_delete_nodepool(struct request *req, struct response *res, struct error *err)
{
    struct node_pool pool;
    struct pool_write write = {.req = req, .pool = &pool};
    if (find_pool(req, ACTION_DELETE, &pool, err) < 0 || db_write(req->server->db, delete_pool, &write, err) < 0)
        return -1;
    return response_empty(res, 204);
}
