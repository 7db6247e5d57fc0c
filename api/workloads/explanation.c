// GET /workloads/{id}/explanation: why a workload is where it is. The reconciler wrote down what the scheduler said;
// here the numbers of its project and department in that node pool are put beside it, and the latest events.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/event_json.h"
#include "api/lists/findings.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "model/workload_spec.h"
#include "reconciler/reconciler.h"

#include <string.h>

enum {
    EVIDENCE_COUNT = 10
};

struct explanation {
    json_t *stored; // {"sentence","why","code","pool","nodePools":[{"nodePool","code","message",...}]}; NULL: none
    const char *messages_json;
    const char *phase_message;
    const char *phase_reason; // "": none
    const char *node_pool;    // that the numbers are about
    int64_t requested_milli;
    int64_t updated_ms;
    const char *status;                   // of a moment that has passed; NULL: the phase is of now
    const struct reconciler_cycle *cycle; // that moment's; NULL: it is about now
};

static const char SQL_FIND[] =
    "SELECT explanation_json, messages_json, phase_message, gpu_requested_milli, updated_ms,"
    " coalesce(json_extract(current_node_pools_json, '$[0]'),"
    " json_extract('{' || listing_json || '}', '$.requestedNodePools[0]')), phase_reason FROM workloads WHERE id = ?";
static const char SQL_QUEUE[] =
    "SELECT gpu_deserved_milli, gpu_limit_milli, gpu_fair_share_milli, gpu_allocated_milli,"
    " gpu_allocated_non_preemptible_milli, gpu_requested_milli FROM queues WHERE owner_kind = ? AND owner_id = ?"
    " AND node_pool_id = (SELECT id FROM node_pools WHERE cluster_id = ? AND name = ? AND deleted_ms = 0)";
static const struct list_source EVIDENCE = {
    .columns = EVENT_COLUMNS,
    .from = "events e LEFT JOIN workloads w ON w.id = e.workload_id",
    .id = "e.id",
    .order = "e.time_ms DESC, e.id DESC",
};

static const char *stored_text(const struct explanation *explanation, const char *key)
{
    return json_string_value(json_object_get(explanation->stored, key));
}

static int read_explanation(struct db_conn *conn, int64_t id, struct arena *arena, struct explanation *out,
                            struct error *err)
{
    sqlite3_stmt *stmt;
    *out = (struct explanation){0};
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        const char *stored = db_column_text(stmt, 0, arena);
        if (stored)
            (void)json_reader_parse(stored, strlen(stored), &out->stored, NULL); // our own column
        out->messages_json = db_column_text(stmt, 1, arena);
        out->phase_message = db_column_text(stmt, 2, arena);
        out->requested_milli = db_column_int(stmt, 3);
        out->updated_ms = db_column_int(stmt, 4);
        out->phase_reason = db_column_text(stmt, 6, arena);
        out->node_pool = stored_text(out, "pool");
        if (!out->node_pool)
            out->node_pool = db_column_text(stmt, 5, arena);
    }
    db_release(conn, stmt);
    return rc == 1 ? 0 : rc < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "workload: not found");
}

static int read_asked(struct db_conn *conn, int64_t id, struct explanation *out, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, "SELECT gpu_requested_milli FROM workloads WHERE id = ?", &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        out->requested_milli = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static void write_amount(struct json_writer *json, const char *key, int64_t milli)
{
    if (milli == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else
        json_milli(json, key, milli);
}

static int write_queue(struct json_writer *json, struct db_conn *conn, const struct workload_state *state,
                       const char *kind, const char *node_pool, struct error *err)
{
    bool is_project = strcmp(kind, "project") == 0;
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_QUEUE, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, kind);
    db_bind_int(stmt, 2, is_project ? state->scope.project_id : state->scope.department_id);
    db_bind_int(stmt, 3, state->scope.cluster_id);
    db_bind_text(stmt, 4, node_pool);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        json_key(json, kind);
        json_begin_object(json);
        json_text(json, "name", is_project ? state->project_name : state->department_name);
        write_amount(json, "quota", db_column_quantity(stmt, 0));
        write_amount(json, "limit", db_column_quantity(stmt, 1));
        write_amount(json, "fairShare", db_column_int(stmt, 2));
        json_milli(json, "allocated", db_column_int(stmt, 3));
        json_milli(json, "allocatedNonPreemptible", db_column_int(stmt, 4));
        json_milli(json, "requested", db_column_int(stmt, 5));
        json_end_object(json);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int write_evidence(struct json_writer *json, struct request *req, struct db_conn *conn, int64_t id,
                          int64_t until_ms, struct error *err)
{
    struct list_query query;
    struct list_request latest = {.limit = EVIDENCE_COUNT};
    if (list_query_build(&query, &EVIDENCE, &latest, req->arena, err) < 0)
        return -1;
    list_query_where_int(&query, "e.workload_id = ?", id);
    list_query_where_int(&query, "e.time_ms <= ?", until_ms);
    if (list_query_open(&query, conn, err) < 0)
        return -1;
    struct visibility visibility;
    visibility_open(&visibility, req);
    json_key(json, "evidence");
    json_begin_array(json);
    int rc;
    while ((rc = list_query_step(&query, err)) == 1) {
        json_begin_object(json);
        event_write_members(json, query.stmt, false, &visibility, req->arena);
        json_end_object(json);
    }
    json_end_array(json);
    list_query_close(&query);
    visibility_close(&visibility);
    return rc;
}

static void show_stored(struct request *req, json_t *stored)
{
    struct visibility visibility;
    visibility_open(&visibility, req);
    findings_show_sentence(&visibility, stored, "sentence");
    findings_show_sentence(&visibility, stored, "why");
    findings_show(&visibility, json_object_get(stored, "nodePools"));
    visibility_close(&visibility);
}

// What can be said where the scheduler said nothing.
static const char *plain_sentence(const struct workload_state *state, const struct explanation *explanation,
                                  struct arena *arena)
{
    const char *name = state->name, *pool = explanation->node_pool;
    if (state->deleted_ms)
        return arena_printf(arena, "%s was deleted.", name);
    switch (state->phase) {
    case PHASE_PENDING:
        if (explanation->phase_message[0]) // that it starts again after a failure, say
            return arena_printf(arena, "%s.", explanation->phase_message);
        return arena_printf(arena, "%s waits for the scheduler to look at it.", name);
    case PHASE_CREATING:
    case PHASE_RESUMING:
        return arena_printf(arena, "%s waits for the scheduler to look at it.", name);
    case PHASE_INITIALIZING:
        return arena_printf(arena, "%s has its place in %s and is starting.", name, pool);
    case PHASE_RUNNING:
    case PHASE_UPDATING:
        return arena_printf(arena, "%s runs in %s.", name, pool);
    case PHASE_DEGRADED:
        return arena_printf(arena, "%s runs in %s with fewer pods than it asked for.", name, pool);
    case PHASE_STOPPING:
    case PHASE_STOPPED:
        return explanation->phase_message[0]
                   ? arena_printf(arena, "%s does not run: %s.", name, explanation->phase_message)
                   : arena_printf(arena, "%s was stopped. It can be resumed.", name);
    case PHASE_TERMINATING:
        return arena_printf(arena, "%s gave way: its pods are going, then it waits again.", name);
    case PHASE_DELETING:
        return arena_printf(arena, "%s is being deleted.", name);
    case PHASE_COMPLETED:
        return arena_printf(arena, "%s has completed.", name);
    case PHASE_FAILED:
        return explanation->phase_message[0] ? arena_printf(arena, "%s failed: %s.", name, explanation->phase_message)
                                             : arena_printf(arena, "%s failed.", name);
    default:
        return arena_printf(arena, "Nothing is known of %s at present.", name);
    }
}

static int write_explanation(struct request *req, struct response *res, struct db_conn *conn,
                             const struct workload_state *state, const struct explanation *explanation,
                             struct error *err)
{
    struct json_writer json;
    const char *sentence = stored_text(explanation, "sentence");
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "workloadId", state->uuid);
    json_text(&json, "workloadName", state->name);
    json_text(&json, "phase", explanation->status ? explanation->status : phase_text(state->phase));
    json_text(&json, "sentence", sentence ? sentence : plain_sentence(state, explanation, req->arena));
    json_text(&json, "why", stored_text(explanation, "why"));
    json_text(&json, "code", stored_text(explanation, "code"));
    json_text(&json, "phaseReason", explanation->phase_reason[0] ? explanation->phase_reason : NULL);
    json_text(&json, "pool", explanation->node_pool);
    json_key(&json, "numbers");
    json_begin_object(&json);
    json_milli(&json, "requestedGpus", explanation->requested_milli);
    if (explanation->node_pool && !explanation->cycle &&
        (write_queue(&json, conn, state, "project", explanation->node_pool, err) < 0 ||
         write_queue(&json, conn, state, "department", explanation->node_pool, err) < 0))
        return -1;
    json_end_object(&json);
    int64_t until_ms = explanation->cycle ? explanation->cycle->time_ms : INT64_MAX;
    if (write_evidence(&json, req, conn, state->id, until_ms, err) < 0)
        return -1;
    json_raw(&json, "messages", explanation->messages_json ? explanation->messages_json : "[]");
    const json_t *findings = json_object_get(explanation->stored, "nodePools");
    const json_t *forecast = json_object_get(explanation->stored, "forecast");
    const char *findings_text = findings ? workload_spec_text(findings, req->arena) : "[]";
    json_raw(&json, "forecast", forecast ? workload_spec_text(forecast, req->arena) : "null");
    json_raw(&json, "findings", findings_text);
    json_raw(&json, "nodePools", findings_text);
    json_time(&json, "updatedAt", explanation->updated_ms);
    if (explanation->cycle) {
        json_key(&json, "cycle");
        json_begin_object(&json);
        json_int(&json, "cycle", explanation->cycle->cycle);
        json_time(&json, "time", explanation->cycle->time_ms);
        json_end_object(&json);
    }
    json_end_object(&json);
    return 0;
}

// What a cycle of the past would have said of it, in the place of what is said now.
static int look_back(struct request *req, const struct workload_state *state, int64_t at_ms,
                     struct reconciler_moment *moment, struct explanation *explanation, struct error *err)
{
    const struct reconciler_asked asked = {state->id, state->name, state->project_name};
    if (reconciler_explain_moment(req->server->reconciler, at_ms, &asked, req->arena, moment, err) < 0)
        return -1;
    json_decref(explanation->stored);
    explanation->stored = NULL;
    const char *text = moment->explanation_json;
    if (!text)
        explanation->stored =
            json_pack("{s:s}", "sentence", arena_printf(req->arena, "%s neither ran nor waited then.", state->name));
    else if (json_reader_parse(text, strlen(text), &explanation->stored, err) < 0)
        return -1;
    explanation->node_pool = stored_text(explanation, "pool");
    explanation->messages_json = NULL;
    explanation->phase_reason = "";
    explanation->status = moment->status ? moment->status : "Unknown";
    explanation->cycle = &moment->cycle;
    explanation->updated_ms = moment->cycle.time_ms;
    return 0;
}

int op_get_workload_explanation(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct explanation explanation = {0};
    struct reconciler_moment moment;
    const char *at = request_query(req, "at");
    int64_t at_ms = 0;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0)
        return -1;
    if (at && timestamp_parse(at, &at_ms, err) < 0)
        return error_prefix(err, "at: ");
    if (at && look_back(req, &state, at_ms, &moment, &explanation, err) < 0) {
        json_decref(explanation.stored);
        return -1;
    }
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = at ? read_asked(conn, state.id, &explanation, err)
                : read_explanation(conn, state.id, req->arena, &explanation, err);
    if (rc == 0)
        show_stored(req, explanation.stored);
    if (rc == 0)
        rc = write_explanation(req, res, conn, &state, &explanation, err);
    json_decref(explanation.stored);
    db_give_back(req->server->db, conn);
    return rc;
}
