// GET /api/v2/policy: the policies that are set, by scope.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/policies/policy_place.h"
#include "api/server.h"
#include "base/arena.h"
#include "db/clusters.h"
#include "db/db.h"

#include <string.h>

#define SYSTEM_ID "00000000-0000-4000-8000-000000000000"

static const char SQL_CLUSTERS[] = "SELECT " CLUSTER_COLUMNS " FROM clusters c ORDER BY c.id";

// What the query asks for; NULL: any.
struct wanted {
    const char *kind, *scope, *cluster, *department, *project;
};

static bool is_at(const char *id, enum scope_type scope, const struct policy_row *row)
{
    return !id || (row->scope == scope && strcmp(row->scope_id, id) == 0);
}

static bool is_wanted(const struct wanted *wanted, const struct policy_row *row)
{
    return (!wanted->kind || strcasecmp(wanted->kind, row->kind) == 0) &&
           (!wanted->scope || strcmp(wanted->scope, scope_type_text(row->scope)) == 0) &&
           is_at(wanted->cluster, SCOPE_CLUSTER, row) && is_at(wanted->department, SCOPE_DEPARTMENT, row) &&
           is_at(wanted->project, SCOPE_PROJECT, row);
}

// A policy holds with the answer that set it, in every cluster that its scope reaches.
static json_t *status_json(const struct policy_row *row, const struct cluster *clusters, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (!row->path.cluster_id || row->path.cluster_id == clusters[i].id)
            json_array_append_new(list, json_pack("{s:s, s:s}", "clusterId", clusters[i].uuid, "status", "Ready"));
    return json_pack("{s:o}", "clusters", list);
}

static void append_row(json_t *list, const char *type, const struct policy_row *row, const struct cluster *clusters,
                       size_t count)
{
    json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "type", type, "meta", policy_meta_json(row), "status",
                                          status_json(row, clusters, count)));
}

static void append_system(json_t *list, const struct cluster *clusters, size_t count)
{
    const struct policy_row system = {
        .uuid = SYSTEM_ID,
        .scope = SCOPE_SYSTEM,
        .scope_id = "",
        .name = "System policy",
        .created_by = "system",
        .updated_by = "system",
        .created_ms = count ? clusters[0].created_ms : 0,
        .updated_ms = count ? clusters[0].created_ms : 0,
    };
    append_row(list, "fallback", &system, clusters, count);
}

static int list_clusters(struct db_conn *conn, struct arena *arena, struct cluster **out_clusters, size_t *out_count,
                         struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct cluster *clusters = NULL;
    size_t count = 0, capacity = 0;
    if (db_prepare(conn, SQL_CLUSTERS, &stmt, err) < 0)
        return -1;
    int rc;
    while ((rc = db_step(conn, stmt, err)) > 0) {
        clusters = arena_grow(arena, clusters, &capacity, count + 1, sizeof(*clusters));
        cluster_from_row(stmt, arena, &clusters[count++]);
    }
    db_release(conn, stmt);
    *out_clusters = clusters;
    *out_count = count;
    return rc;
}

int op_list_policies(struct request *req, struct response *res, struct error *err)
{
    struct wanted wanted = {request_query(req, "workloadType"), request_query(req, "scope"),
                            request_query(req, "clusterId"), request_query(req, "departmentId"),
                            request_query(req, "projectId")};
    struct scope_filter shown;
    struct policy_row *rows;
    struct cluster *clusters = NULL;
    size_t count, cluster_count = 0;
    access_filter(req, RESOURCE_TYPE_POLICIES, ACTION_READ, &shown);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_policies(conn, &shown, req->arena, &rows, &count, err);
    if (rc == 0)
        rc = list_clusters(conn, req->arena, &clusters, &cluster_count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (is_wanted(&wanted, &rows[i]))
            append_row(list, rows[i].kind, &rows[i], clusters, cluster_count);
    if (request_query_boolean(req, "includeFallbackPolicies"))
        append_system(list, clusters, cluster_count);
    return response_json(res, json_pack("{s:o}", "policies", list));
}
