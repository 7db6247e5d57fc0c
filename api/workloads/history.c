// The history of a workload: its events and its phases in one list, newest first. Both tables are merged by time; at
// the same moment a phase stands above the event that led to it.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/event_json.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/json_writer.h"
#include "db/db.h"

enum {
    COLUMN_IS_PHASE = EVENT_COLUMN_COUNT,
    COLUMN_PHASE,
    COLUMN_PHASE_MESSAGE,
    COLUMN_TIME,
};

#define RECORDS                                                                                         \
    "(SELECT 0 AS is_phase, id, workload_id, time_ms, NULL AS phase, NULL AS phase_message FROM events" \
    " UNION ALL SELECT 1, id, workload_id, time_ms, phase, message FROM phase_history)"

static const struct list_source HISTORY = {
    .columns = EVENT_COLUMNS ", r.is_phase, r.phase, r.phase_message, r.time_ms",
    .from = RECORDS " r LEFT JOIN events e ON e.id = r.id AND NOT r.is_phase JOIN workloads w ON w.id = r.workload_id",
    .id = "r.id",
    .order = "r.time_ms DESC, r.is_phase DESC, r.id DESC",
};

static void write_record(struct json_writer *json, sqlite3_stmt *stmt, const struct request *req,
                         const void *visibility)
{
    bool is_phase = db_column_int(stmt, COLUMN_IS_PHASE);
    json_begin_object(json);
    json_key(json, "meta");
    json_begin_object(json);
    json_time(json, "creationTimestamp", db_column_int(stmt, COLUMN_TIME));
    json_text(json, "type", is_phase ? "PhaseUpdate" : "Event");
    json_end_object(json);
    json_key(json, "spec");
    json_begin_object(json);
    json_key(json, is_phase ? "phaseUpdate" : "event");
    json_begin_object(json);
    if (is_phase) {
        json_text(json, "phase", db_column_text(stmt, COLUMN_PHASE, req->arena));
        json_text(json, "phaseMessage", db_column_text(stmt, COLUMN_PHASE_MESSAGE, req->arena));
    } else {
        event_write_members(json, stmt, false, visibility, req->arena);
    }
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
}

static const struct list_form FORM = {.key = "records", .tells_next = true, .write_row = write_record};

int op_get_workload_history(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct list_query query;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0 ||
        list_query_init(&query, &HISTORY, req, err) < 0)
        return -1;
    list_query_where_int(&query, "r.workload_id = ?", state.id);
    struct visibility visibility;
    visibility_open(&visibility, req);
    int rc = list_answer(req, res, &query, &FORM, &visibility, err);
    visibility_close(&visibility);
    return rc;
}
