#include "api/lists/kind_counts.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/list_query.h"
#include "api/server.h"
#include "base/error.h"
#include "db/db.h"

static const struct {
    const char *name;
    enum resource_type type;
    struct list_source source;
    const char *columns[3];
} KINDS[] = {
    {"workloads",
     RESOURCE_TYPE_WORKLOADS,
     {.from = "projects p JOIN workload_sums s ON s.project_id = p.id",
      .counted = "coalesce(sum(s.workload_count), 0)"},
     {"p.cluster_id", "p.department_id", "p.id"}},
    {"projects", RESOURCE_TYPE_PROJECT, {.from = "projects p"}, {"p.cluster_id", "p.department_id", "p.id"}},
    {"departments", RESOURCE_TYPE_DEPARTMENT, {.from = "departments d"}, {"d.cluster_id", "d.id", "NULL"}},
    {"nodes", RESOURCE_TYPE_NODES, {.from = "nodes n", .where = "n.deleted_ms = 0"}, {"n.cluster_id", "NULL", "NULL"}},
    {"nodePools",
     RESOURCE_TYPE_NODEPOOLS,
     {.from = "node_pools np", .where = "np.deleted_ms = 0"},
     {"np.cluster_id", "NULL", "NULL"}},
};

static int count_kind(struct request *req, struct db_conn *conn, size_t kind, json_t *counts, struct error *err)
{
    const char *const *columns = KINDS[kind].columns;
    struct list_query query;
    struct scope_filter filter;
    int64_t count;
    if (list_query_init(&query, &KINDS[kind].source, req, err) < 0)
        return -1;
    access_filter(req, KINDS[kind].type, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, columns[0], columns[1], columns[2]);
    list_query_take_all(&query);
    if (list_query_count(&query, conn, &count, err) < 0)
        return -1;
    json_object_set_new(counts, KINDS[kind].name, json_integer(count));
    return 0;
}

json_t *kind_counts(struct request *req, struct error *err)
{
    int rc = 0;
    struct permission_set held;
    json_t *counts = json_object();
    struct db_conn *conn = db_acquire(req->server->db);
    access_permissions(req->caller, &held);
    for (size_t i = 0; rc == 0 && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (held.actions[KINDS[i].type] & ACTION_READ)
            rc = count_kind(req, conn, i, counts, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return counts;
    json_decref(counts);
    return NULL;
}
