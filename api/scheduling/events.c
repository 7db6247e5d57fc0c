// Events: of one workload, and of everything that the caller may see.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/event_json.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/json_writer.h"
#include "db/db.h"

#include <string.h>

static const struct list_source NEWEST_FIRST = {
    .columns = EVENT_COLUMNS,
    .from = "events e LEFT JOIN workloads w ON w.id = e.workload_id",
    .id = "e.id",
    .order = "e.time_ms DESC, e.id DESC",
};

static const struct list_source OLDEST_FIRST = {
    .columns = EVENT_COLUMNS,
    .from = "events e LEFT JOIN workloads w ON w.id = e.workload_id",
    .id = "e.id",
    .order = "e.time_ms, e.id",
};

static int write_list(struct list_query *query, struct request *req, struct response *res, bool with_workload,
                      struct error *err)
{
    struct visibility visibility;
    visibility_open(&visibility, req);
    struct db_conn *conn = db_acquire(req->server->db);
    struct json_writer json;
    int rc = list_query_open(query, conn, err);
    if (rc == 0) {
        json_writer_init(&json, res->body, false);
        json_begin_object(&json);
        json_key(&json, "events");
        json_begin_array(&json);
        while ((rc = list_query_step(query, err)) == 1) {
            json_begin_object(&json);
            event_write_members(&json, query->stmt, with_workload, &visibility, req->arena);
            json_end_object(&json);
        }
        json_end_array(&json);
        list_query_write_next(query, &json);
        json_end_object(&json);
        list_query_close(query);
    }
    db_give_back(req->server->db, conn);
    visibility_close(&visibility);
    return rc;
}

static const struct list_source *source_by_order(const struct request *req)
{
    const char *order = request_query(req, "sortOrder");
    return order && strcmp(order, "asc") == 0 ? &OLDEST_FIRST : &NEWEST_FIRST;
}

int op_get_workload_events(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct list_query query;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0 ||
        list_query_init(&query, source_by_order(req), req, err) < 0)
        return -1;
    list_query_where_int(&query, "e.workload_id = ?", state.id);
    return write_list(&query, req, res, false, err);
}

int op_list_events(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, source_by_order(req), req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    // Events of nodes have no workload: they show where the whole cluster does.
    list_query_where_scope(
        &query, &filter, "coalesce(w.cluster_id, iif(e.workload_id IS NULL, (SELECT id FROM clusters LIMIT 1), NULL))",
        "w.department_id", "w.project_id");
    return write_list(&query, req, res, true, err);
}
