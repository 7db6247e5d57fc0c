// Workloads of every kind: the list, the count, one in full.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/lists/visibility.h"
#include "api/lists/workload_scope.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_fields.h"
#include "api/workloads/workload_list.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"

static int init_query(struct request *req, struct list_query *query, bool is_deleted,
                      const struct workload_scope *scope, struct error *err)
{
    static const struct list_source *const SOURCES[2][2] = {{&WORKLOAD_LIST, &DELETED_WORKLOAD_LIST},
                                                            {&SCOPED_WORKLOAD_LIST, &SCOPED_DELETED_WORKLOAD_LIST}};
    if (list_query_init(query, SOURCES[scope->is_narrow][is_deleted], req, err) < 0)
        return -1;
    workload_scope_where(scope, query);
    return 0;
}

static int write_list(struct request *req, struct response *res, struct db_conn *conn,
                      const struct visibility *visibility, struct error *err)
{
    struct list_query query;
    struct runtime_pools pools;
    struct json_writer json;
    struct workload_scope scope;
    struct workload_fields fields;
    bool is_deleted = request_query_boolean(req, "deleted");
    if (workload_scope_of_page(req, conn, is_deleted, &scope, err) < 0 ||
        init_query(req, &query, is_deleted, &scope, err) < 0 || runtime_pools_read(conn, req->arena, &pools, err) < 0 ||
        list_query_open(&query, conn, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "workloads");
    json_begin_array(&json);
    int rc;
    workload_fields_init(&fields, req);
    while ((rc = list_query_step(&query, err)) == 1)
        workload_fields_write_row(&fields, &json, query.stmt, &pools, req->received_ms, visibility);
    workload_fields_done(&fields);
    json_end_array(&json);
    list_query_write_next(&query, &json);
    json_end_object(&json);
    list_query_close(&query);
    return rc;
}

int op_get_workloads(struct request *req, struct response *res, struct error *err)
{
    struct visibility visibility;
    struct db_conn *conn = db_acquire(req->server->db);
    visibility_open(&visibility, req);
    int rc = write_list(req, res, conn, &visibility, err);
    visibility_close(&visibility);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_count_workloads(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    struct workload_scope scope;
    bool is_deleted = request_query_boolean(req, "deleted");
    workload_scope_of_sum(req, is_deleted, &scope);
    return init_query(req, &query, is_deleted, &scope, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

// And what the backend said of its pod, of several the latest.
static int read_messages(struct db_conn *conn, int64_t id, struct arena *arena, const char **out_json,
                         const char **out_pod, struct error *err)
{
    static const char SQL[] =
        "SELECT messages_json, (SELECT p.message FROM pods p WHERE p.workload_id = w.id AND " POD_MESSAGE " != '' "
        "ORDER BY p.id DESC LIMIT 1) FROM workloads w WHERE id = ?";
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    *out_json = rc == 1 ? db_column_text(stmt, 0, arena) : NULL;
    *out_pod = rc == 1 ? db_column_text(stmt, 1, arena) : NULL;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int write_one(struct request *req, struct response *res, struct db_conn *conn,
                     const struct workload_state *state, const struct visibility *visibility, struct error *err)
{
    struct list_query query;
    struct runtime_pools pools;
    const char *messages, *pod_message;
    struct list_request one = {.limit = 1};
    if (list_query_build(&query, state->deleted_ms ? &DELETED_WORKLOAD_LIST : &WORKLOAD_LIST, &one, req->arena, err) <
            0 ||
        runtime_pools_read(conn, req->arena, &pools, err) < 0 ||
        read_messages(conn, state->id, req->arena, &messages, &pod_message, err) < 0)
        return -1;
    list_query_where_int(&query, "w.id = ?", state->id);
    if (list_query_open(&query, conn, err) < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    int rc = list_query_step(&query, err);
    if (rc == 1) {
        json_begin_object(&json);
        workload_write_whole(&json, query.stmt, &pools, req->received_ms, visibility);
        json_raw(&json, "pendingSchedulingMessages", messages ? messages : "null");
        json_text(&json, "podMessage", pod_message);
        json_end_object(&json);
    }
    list_query_close(&query);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "workload %s: not found", state->uuid);
    return rc < 0 ? -1 : 0;
}

int op_get_workload(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0)
        return -1;
    struct visibility visibility;
    struct db_conn *conn = db_acquire(req->server->db);
    visibility_open(&visibility, req);
    int rc = write_one(req, res, conn, &state, &visibility, err);
    visibility_close(&visibility);
    db_give_back(req->server->db, conn);
    return rc;
}
