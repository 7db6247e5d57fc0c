// GET /scheduler/receipts: what each eviction cost and for whom, of the workloads that the caller may read.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/lists/visibility.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "model/workload_spec.h"

#include <inttypes.h>
#include <string.h>

static const struct list_source RECEIPTS = {
    .columns = "r.id, r.time_ms, r.action, r.rule, w.name, w.uuid, r.pod_name, w.project_name, r.project_id,"
               " w.department_name, r.department_id, r.node_pool_name, r.node_name, r.gpu_milli, r.gpu_indices_json,"
               " r.beneficiary_name, r.beneficiary_uuid, r.beneficiary_project_name, r.beneficiary_project_id,"
               " r.is_moved, r.lost_ms, r.sentence, r.victim_queue_json, r.beneficiary_queue_json",
    .from = "receipts r JOIN workloads w ON w.id = r.workload_id",
    .id = "r.id",
    .order = "r.id DESC",
};

// A side's numbers as they were written down, with the names that may be told.
static void write_side(struct json_writer *json, const char *key, const char *text, const struct visibility *visibility)
{
    json_t *side = NULL;
    if (text)
        (void)json_reader_parse(text, strlen(text), &side, NULL); // our own column
    if (!json_is_object(side)) {
        json_null_at(json, key);
        json_decref(side);
        return;
    }
    const char *project = json_string_value(json_object_get(side, "project"));
    if (project)
        json_object_set_new(side, "project", json_string(visibility_name(visibility, TOLD_PROJECT, project)));
    json_t *department = json_object_get(side, "department");
    const char *name = json_string_value(json_object_get(department, "name"));
    if (name)
        json_object_set_new(department, "name", json_string(visibility_name(visibility, TOLD_DEPARTMENT, name)));
    json_raw(json, key, workload_spec_text(side, visibility->req->arena));
    json_decref(side);
}

// For whom; a stranger's name is told nowhere, the sentence included.
static void write_beneficiary(struct json_writer *json, sqlite3_stmt *stmt, const struct visibility *all,
                              struct arena *arena)
{
    struct visibility visibility = *all;
    const char *name = db_column_text(stmt, 15, arena), *project = db_column_text(stmt, 17, arena);
    bool is_shown = !name || visibility_shows_workloads(all, db_column_int(stmt, 18));
    json_text(json, "beneficiary", is_shown ? name : HIDDEN_WORKLOAD);
    json_text(json, "beneficiaryId", is_shown ? db_column_text(stmt, 16, arena) : NULL);
    json_text(json, "beneficiaryProject", is_shown || !project ? project : visibility_name(all, TOLD_PROJECT, project));
    visibility.hides_workloads = !is_shown;
    const char *sentence = db_column_text(stmt, 21, arena);
    // A row of an older version marks no names: then nothing is said to who may not know them.
    bool is_told = is_shown || told_has_names(sentence);
    json_text(json, "sentence", is_told ? visibility_sentence(&visibility, sentence) : "Yields to " HIDDEN_WORKLOAD);
    write_side(json, "victim", db_column_text(stmt, 22, arena), &visibility);
    write_side(json, "beneficiaryQueue", db_column_text(stmt, 23, arena), &visibility);
}

static void write_receipt(struct json_writer *json, sqlite3_stmt *stmt, const struct visibility *visibility,
                          struct arena *arena)
{
    json_begin_object(json);
    json_text(json, "id", arena_printf(arena, "%" PRId64, db_column_int(stmt, 0)));
    json_time(json, "time", db_column_int(stmt, 1));
    json_text(json, "action", db_column_text(stmt, 2, arena));
    json_text(json, "rule", db_column_text(stmt, 3, arena));
    json_text(json, "workload", db_column_text(stmt, 4, arena));
    json_text(json, "workloadId", db_column_text(stmt, 5, arena));
    json_text(json, "pod", db_column_text(stmt, 6, arena));
    json_text(json, "project", db_column_text(stmt, 7, arena));
    json_text(json, "projectId", arena_printf(arena, "%" PRId64, db_column_int(stmt, 8)));
    json_text(json, "department", db_column_text(stmt, 9, arena));
    json_text(json, "departmentId", arena_printf(arena, "%" PRId64, db_column_int(stmt, 10)));
    json_text(json, "nodePool", db_column_text(stmt, 11, arena));
    json_text(json, "node", db_column_text(stmt, 12, arena));
    json_milli(json, "gpus", db_column_int(stmt, 13));
    json_raw(json, "gpuIndices", db_column_text(stmt, 14, arena));
    json_bool(json, "moved", db_column_int(stmt, 19) != 0);
    json_milli(json, "lostSeconds", db_column_int(stmt, 20));
    write_beneficiary(json, stmt, visibility, arena);
    json_end_object(json);
}

static int add_conditions(struct request *req, struct list_query *query, struct error *err)
{
    const char *workload = request_query(req, "workloadId"), *project = request_query(req, "projectId"),
               *department = request_query(req, "departmentId"), *pool = request_query(req, "nodePool"),
               *since = request_query(req, "since");
    struct scope_filter filter;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "w.cluster_id", "r.department_id", "r.project_id");
    if (workload)
        list_query_where_text(query, "w.uuid = ? COLLATE NOCASE", workload);
    if (project)
        list_query_where_int(query, "r.project_id = ?", id_from_text(project));
    if (department)
        list_query_where_int(query, "r.department_id = ?", id_from_text(department));
    if (pool)
        list_query_where_text(query, "r.node_pool_name = ?", pool);
    int64_t since_ms;
    if (since && timestamp_parse(since, &since_ms, err) < 0)
        return error_prefix(err, "since: ");
    if (since)
        list_query_where_int(query, "r.time_ms >= ?", since_ms);
    return 0;
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    write_receipt(json, row, context, req->arena);
}

static const struct list_form FORM = {.key = "receipts", .tells_next = true, .write_row = write_row};

int op_get_scheduler_receipts(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (list_query_init(&query, &RECEIPTS, req, err) < 0 || add_conditions(req, &query, err) < 0)
        return -1;
    struct visibility visibility;
    visibility_open(&visibility, req);
    int rc = list_answer(req, res, &query, &FORM, &visibility, err);
    visibility_close(&visibility);
    return rc;
}
