#include "api/lists/workload_scope.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "base/error.h"
#include "db/db.h"
#include "db/scopes.h"

enum {
    FEW = 10000 // rows whose ids are sorted for a page
};

static const char SQL_MORE_THAN_FEW[] =
    "SELECT 1 FROM " WORKLOAD_SCOPE_FROM " WHERE sp.id IN (SELECT value FROM json_each(?1)) OR "
    "sp.department_id IN (SELECT value FROM json_each(?2)) LIMIT 1 OFFSET ?3";

// Rows of the whole cluster are most of them, and some belong to no project.
static bool can_narrow(const struct scope_filter *filter, bool has_gone)
{
    return !filter->is_all && !filter->cluster_count && !(has_gone && filter->department_count);
}

void workload_scope_of_sum(const struct request *req, bool has_gone, struct workload_scope *out_scope)
{
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &out_scope->filter);
    out_scope->is_narrow = can_narrow(&out_scope->filter, has_gone);
}

static bool picks_rows(const struct request *req)
{
    const char *search = request_query(req, "search");
    return req->filter_count || (search && *search) || request_query(req, "sortBy");
}

int workload_scope_of_page(const struct request *req, struct db_conn *conn, bool has_gone,
                           struct workload_scope *out_scope, struct error *err)
{
    workload_scope_of_sum(req, has_gone, out_scope);
    if (!out_scope->is_narrow || picks_rows(req))
        return 0;
    const char *lists[3];
    sqlite3_stmt *stmt = NULL;
    scope_filter_lists(&out_scope->filter, req->arena, lists);
    if (db_prepare(conn, SQL_MORE_THAN_FEW, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, lists[2]);
    db_bind_text(stmt, 2, lists[1]);
    db_bind_int(stmt, 3, FEW);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    out_scope->is_narrow = rc == 0;
    return rc < 0 ? -1 : 0;
}

void workload_scope_where(const struct workload_scope *scope, struct list_query *query)
{
    if (scope->is_narrow)
        list_query_where_scope(query, &scope->filter, "NULL", "sp.department_id", "sp.id");
    else
        list_query_where_scope(query, &scope->filter, "w.cluster_id", "w.department_id", "w.project_id");
}
