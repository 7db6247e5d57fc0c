// Network topologies: list, count, one, create, delete.
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
#include "db/topologies.h"
#include "model/names.h"

#include <stdlib.h>

enum {
    LEVELS_MAX = 16
};

// Off: pods are placed without it in the pools whose nodes lack a label of its levels.
#define PHASE_OFF "Off"
#define PHASE_READY "Ready"

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "t.name", .type = LIST_TEXT},
    {.name = "clusterId", .sql = "c.uuid", .type = LIST_TEXT},
    {.name = "source", .sql = "'user'", .type = LIST_TEXT},
    {.name = "phase",
     .sql = "CASE WHEN EXISTS " TOPOLOGY_OUTSIDE " THEN '" PHASE_OFF "' ELSE '" PHASE_READY "' END",
     .type = LIST_TEXT},
};

static const struct list_source TOPOLOGY_LIST = {
    .columns = TOPOLOGY_COLUMNS,
    .from = TOPOLOGY_FROM,
    .id = "t.id",
    .order = "t.name, t.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static void write_topology(const struct topology *topology, struct arena *arena, struct json_writer *json)
{
    const char *off = names_topology_off_json(arena, topology->name, NULL, topology->outside_json);
    json_begin_object(json);
    json_text(json, "id", topology->uuid);
    json_text(json, "name", topology->name);
    json_text(json, "clusterId", topology->cluster_uuid);
    json_int(json, "tenantId", TENANT_ID);
    json_raw(json, "levels", topology->levels_json);
    json_time(json, "createdAt", topology->created_ms);
    json_text(json, "createdBy", topology->created_by);
    json_text(json, "phase", off ? PHASE_OFF : PHASE_READY);
    json_text(json, "source", "user");
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "message", off ? off : "");
    json_raw(json, "nodesWithoutLabels", topology->outside_json);
    json_end_object(json);
    json_raw(json, "nodePools", topology->node_pools_json);
    json_end_object(json);
}

static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct scope_filter filter;
    if (list_query_init(query, &TOPOLOGY_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_NETWORK_TOPOLOGIES, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "t.cluster_id", "NULL", "NULL");
    return 0;
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    (void)context;
    struct topology topology;
    topology_from_row(row, req->arena, &topology);
    write_topology(&topology, req->arena, json);
}

static const struct list_form FORM = {.key = "networkTopologies", .write_row = write_row};

int op_get_network_topologies(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (init_query(req, &query, err) < 0)
        return -1;
    return list_answer(req, res, &query, &FORM, NULL, err);
}

int op_get_network_topologies_count(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

// The topology of the path, if the caller may do this to it.
static int find_topology(struct request *req, const char *uuid, enum access_action action,
                         struct topology *out_topology, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_topology(conn, uuid, req->arena, out_topology, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct scope_path where = {.cluster_id = out_topology->cluster_id};
    return access_check(req, &where, RESOURCE_TYPE_NETWORK_TOPOLOGIES, action,
                        arena_printf(req->arena, "topology %s", uuid), err);
}

static int answer_topology(struct request *req, struct response *res, const char *uuid, struct error *err)
{
    struct topology topology;
    struct json_writer json;
    if (find_topology(req, uuid, ACTION_READ, &topology, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_topology(&topology, req->arena, &json);
    return 0;
}

int op_get_network_topology_by_id(struct request *req, struct response *res, struct error *err)
{
    return answer_topology(req, res, request_path(req, "networkTopologyId"), err);
}

struct topology_write {
    struct topology *topology;
    struct arena *arena;
};

static int create_topology(struct db_conn *conn, void *context, struct error *err)
{
    const struct topology_write *write = context;
    return db_create_topology(conn, write->topology, write->arena, err);
}

static int take_levels(const struct request *req, struct topology *topology, struct error *err)
{
    const json_t *levels = json_object_get(req->body, "levels");
    if (json_array_size(levels) < 1 || json_array_size(levels) > LEVELS_MAX)
        return error_set(err, ERROR_INVALID, "levels: 1 to %d, got %zu", LEVELS_MAX, json_array_size(levels));
    char *text = json_dumps(levels, JSON_COMPACT);
    topology->levels_json = arena_strdup(req->arena, text);
    free(text);
    return 0;
}

int op_create_network_topology(struct request *req, struct response *res, struct error *err)
{
    struct scope_path cluster;
    struct topology topology = {.name = json_string_value(json_object_get(req->body, "name")),
                                .created_by = req->caller->name,
                                .created_ms = req->received_ms};
    struct topology_write write = {.topology = &topology, .arena = req->arena};
    const char *cluster_uuid = json_string_value(json_object_get(req->body, "clusterId"));
    if (access_check_cluster(req, cluster_uuid, RESOURCE_TYPE_NETWORK_TOPOLOGIES, ACTION_CREATE, &cluster, err) < 0 ||
        take_levels(req, &topology, err) < 0)
        return -1;
    topology.cluster_id = cluster.cluster_id;
    if (db_write(req->server->db, create_topology, &write, err) < 0)
        return -1;
    return answer_topology(req, res, topology.uuid, err);
}

static int delete_topology(struct db_conn *conn, void *context, struct error *err)
{
    const struct topology_write *write = context;
    return db_delete_topology(conn, write->topology->uuid, err);
}

int op_delete_network_topology(struct request *req, struct response *res, struct error *err)
{
    struct topology topology;
    struct topology_write write = {.topology = &topology, .arena = req->arena};
    if (find_topology(req, request_path(req, "networkTopologyId"), ACTION_DELETE, &topology, err) < 0 ||
        db_write(req->server->db, delete_topology, &write, err) < 0)
        return -1;
    return response_empty(res, 204);
}
