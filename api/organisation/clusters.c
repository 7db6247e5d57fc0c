// Clusters: the one that this server runs, and others that were registered and wait to connect.
#include "db/clusters.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <string.h>

enum {
    CLUSTER_NAME_MAX = 255
};

static const struct list_source CLUSTER_LIST = {
    .columns = CLUSTER_COLUMNS,
    .from = "clusters c",
    .id = "c.id",
    .order = "c.id",
};

static void write_status(const struct cluster *cluster, struct json_writer *json)
{
    json_key(json, "status");
    json_begin_object(json);
    json_text(json, "state", cluster->state);
    json_key(json, "conditions");
    json_begin_array(json);
    json_end_array(json);
    json_key(json, "operands");
    json_begin_object(json);
    json_end_object(json);
    json_null_at(json, "platform");
    json_null_at(json, "config");
    json_end_object(json);
}

static void write_cluster(const struct cluster *cluster, const struct request *req, struct json_writer *json)
{
    const char *verbosity = request_query(req, "verbosity");
    // The connected cluster is run by this very process.
    bool is_connected = strcmp(cluster->state, "Connected") == 0;
    json_begin_object(json);
    json_text(json, "uuid", cluster->uuid);
    json_int(json, "tenantId", TENANT_ID);
    json_text(json, "name", cluster->name);
    json_time(json, "createdAt", cluster->created_ms);
    json_null_at(json, "domain");
    json_text(json, "version", cluster->version);
    if (!verbosity || strcmp(verbosity, "metadata") != 0)
        write_status(cluster, json);
    json_time(json, "updatedAt", cluster->updated_ms);
    json_null_at(json, "deletedAt");
    json_time(json, "lastLiveness", is_connected ? req->received_ms : cluster->last_seen_ms);
    json_null_at(json, "deleteRequestedAt");
    json_end_object(json);
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    (void)context;
    struct cluster cluster;
    cluster_from_row(row, req->arena, &cluster);
    write_cluster(&cluster, req, json);
}

static const struct list_form FORM = {.write_row = write_row};

int op_get_clusters(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &CLUSTER_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_CLUSTER, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "c.id", "NULL", "NULL");
    return list_answer(req, res, &query, &FORM, NULL, err);
}

static int answer_cluster(struct request *req, struct response *res, const char *uuid, struct error *err)
{
    struct cluster cluster;
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_cluster(conn, uuid, req->arena, &cluster, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_cluster(&cluster, req, &json);
    return 0;
}

int op_get_cluster_by_uuid(struct request *req, struct response *res, struct error *err)
{
    const char *uuid = request_path(req, "clusterUuid");
    if (access_check_cluster(req, uuid, RESOURCE_TYPE_CLUSTER, ACTION_READ, NULL, err) < 0)
        return -1;
    return answer_cluster(req, res, uuid, err);
}

// There is no agent: each cluster is run by a server beside it. A client that shows the text tells its reader so.
int op_get_cluster_install_info_by_uuid(struct request *req, struct response *res, struct error *err)
{
    const char *uuid = request_path(req, "clusterUuid");
    struct cluster cluster;
    if (access_check_cluster(req, uuid, RESOURCE_TYPE_CLUSTER, ACTION_READ, NULL, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_cluster(conn, uuid, req->arena, &cluster, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    bool is_connected = strcmp(cluster.state, "Connected") == 0;
    return response_json(res, json_pack("{s:s, s:s, s:s, s:s}", "installationStr",
                                        is_connected ? "# nothing to install: this server runs the cluster itself"
                                                     : "prorata serve # on the cluster's own machine",
                                        "repositoryName", "", "chartRepoURL", "", "clientSecret", ""));
}

struct cluster_write {
    const struct request *req;
    struct cluster *cluster;
};

static int create_cluster(struct db_conn *conn, void *context, struct error *err)
{
    const struct cluster_write *write = context;
    return db_create_cluster(conn, write->cluster, write->req->caller->name, write->req->arena, err);
}

static int rename_cluster(struct db_conn *conn, void *context, struct error *err)
{
    const struct cluster_write *write = context;
    const struct request *req = write->req;
    return db_rename_cluster(conn, write->cluster->id, write->cluster->name, req->caller->name, req->received_ms, err);
}

static int delete_cluster(struct db_conn *conn, void *context, struct error *err)
{
    const struct cluster_write *write = context;
    return db_delete_cluster(conn, write->cluster->id, err);
}

static int take_name(const struct request *req, struct cluster *cluster, struct error *err)
{
    cluster->name = json_string_value(json_object_get(req->body, "name"));
    size_t length = strlen(cluster->name);
    if (length >= 1 && length <= CLUSTER_NAME_MAX)
        return 0;
    return error_set(err, ERROR_INVALID, "name: 1 to %d bytes, got %zu", CLUSTER_NAME_MAX, length);
}

int op_create_cluster(struct request *req, struct response *res, struct error *err)
{
    struct cluster cluster = {
        .state = "WaitingToConnect", .created_ms = req->received_ms, .updated_ms = req->received_ms};
    struct cluster_write write = {.req = req, .cluster = &cluster};
    if (access_check_tenant(req, RESOURCE_TYPE_CLUSTER, ACTION_CREATE, err) < 0 || take_name(req, &cluster, err) < 0)
        return -1;
    cluster.version = json_string_value(json_object_get(req->body, "version"));
    if (db_write(req->server->db, create_cluster, &write, err) < 0)
        return -1;
    return answer_cluster(req, res, cluster.uuid, err);
}

// Checks the access and finds the cluster's id.
static int find_cluster(struct request *req, enum access_action action, struct cluster *out_cluster, struct error *err)
{
    struct scope_path path;
    if (access_check_cluster(req, request_path(req, "clusterUuid"), RESOURCE_TYPE_CLUSTER, action, &path, err) < 0)
        return -1;
    *out_cluster = (struct cluster){.id = path.cluster_id};
    return 0;
}

int op_updateCluster(struct request *req, struct response *res, struct error *err)
{
    struct cluster cluster;
    struct cluster_write write = {.req = req, .cluster = &cluster};
    if (find_cluster(req, ACTION_UPDATE, &cluster, err) < 0 || take_name(req, &cluster, err) < 0 ||
        db_write(req->server->db, rename_cluster, &write, err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_delete_cluster(struct request *req, struct response *res, struct error *err)
{
    struct cluster cluster;
    struct cluster_write write = {.req = req, .cluster = &cluster};
    if (find_cluster(req, ACTION_DELETE, &cluster, err) < 0 ||
        db_write(req->server->db, delete_cluster, &write, err) < 0)
        return -1;
    return response_empty(res, 204);
}
