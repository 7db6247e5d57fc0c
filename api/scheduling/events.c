// Events: of one workload, and of everything that the caller may see.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/event_json.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/lists/workload_scope.h"
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

// Of a caller who sees little, and no events of nodes.
#define SCOPED_EVENTS WORKLOAD_SCOPE_FROM " CROSS JOIN events e ON e.workload_id = w.id"
static const struct list_source SCOPED_NEWEST_FIRST = {
    .columns = EVENT_COLUMNS, .from = SCOPED_EVENTS, .id = "e.id", .order = "e.time_ms DESC, e.id DESC"};
static const struct list_source SCOPED_OLDEST_FIRST = {
    .columns = EVENT_COLUMNS, .from = SCOPED_EVENTS, .id = "e.id", .order = "e.time_ms, e.id"};

struct row_context {
    struct visibility visibility;
    bool has_workload; // each row says of which it is
};

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    const struct row_context *rows = context;
    json_begin_object(json);
    event_write_members(json, row, rows->has_workload, &rows->visibility, req->arena);
    json_end_object(json);
}

static const struct list_form FORM = {.key = "events", .tells_next = true, .write_row = write_row};

static int answer(struct list_query *query, struct request *req, struct response *res, bool has_workload,
                  struct error *err)
{
    struct row_context rows = {.has_workload = has_workload};
    visibility_open(&rows.visibility, req);
    int rc = list_answer(req, res, query, &FORM, &rows, err);
    visibility_close(&rows.visibility);
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
    return answer(&query, req, res, false, err);
}

static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    struct workload_scope scope;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = workload_scope_of_page(req, conn, true, &scope, err);
    db_give_back(req->server->db, conn);
    const struct list_source *source = source_by_order(req);
    if (scope.is_narrow)
        source = source == &OLDEST_FIRST ? &SCOPED_OLDEST_FIRST : &SCOPED_NEWEST_FIRST;
    if (rc < 0 || list_query_init(query, source, req, err) < 0)
        return -1;
    if (scope.is_narrow)
        workload_scope_where(&scope, query);
    else // Events of nodes have no workload: they show where the whole cluster does.
        list_query_where_scope(
            query, &scope.filter,
            "coalesce(w.cluster_id, iif(e.workload_id IS NULL, (SELECT id FROM clusters LIMIT 1), NULL))",
            "w.department_id", "w.project_id");
    return 0;
}

int op_list_events(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : answer(&query, req, res, true, err);
}
