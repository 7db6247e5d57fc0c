// What would happen if a workload were submitted now: POST /scheduler/what-if for one that is not there yet,
// GET /workloads/{id}/what-if for one that waits. Planned on this thread over the latest cycle; nothing is written.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/http/validate.h"
#include "api/operations.h"
#include "api/scheduling/present_answer.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "reconciler/questions.h"

#include <string.h>

static const char SQL_NAME_IS_TAKEN[] = "SELECT 1 FROM workloads WHERE project_id = ? AND name = ? AND deleted_ms = 0";

static const char *const CREATE_OPERATIONS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = "create_training1",
    [WORKLOAD_TYPE_WORKSPACE] = "create_workspace1",
    [WORKLOAD_TYPE_DISTRIBUTED] = "create_distributed",
    [WORKLOAD_TYPE_INFERENCE] = "create_inference1",
};

static const struct schema *schema_of(enum workload_type type)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        if (strcmp(OPERATIONS[i].id, CREATE_OPERATIONS[type]) == 0)
            return OPERATIONS[i].body_schema;
    return NULL;
}

static void expect_displaced(struct visibility *visibility, const struct what_if_displaced *displaced, size_t count)
{
    for (size_t i = 0; i < count; i++)
        visibility_expect(visibility, displaced[i].workload);
}

static void write_answer(struct request *req, struct response *res, struct present *present,
                         const struct snapshot_workload *workload, const struct what_if_answer *found,
                         bool wanted_fixes)
{
    struct present_answer answer;
    present_answer_open(&answer, req, res, present);
    expect_displaced(&answer.visibility, found->displaced, found->displaced_count);
    for (size_t i = 0; i < found->fix_count; i++)
        expect_displaced(&answer.visibility, found->fixes[i].displaced, found->fixes[i].displaced_count);
    json_begin_object(&answer.json);
    why_write_what_if(&answer.json, &answer.names, found, workload);
    if (wanted_fixes && present->is_slow)
        json_bool(&answer.json, "fixesLeftOut", true);
    present_answer_stamp(&answer);
    json_end_object(&answer.json);
    present_answer_close(&answer);
}

static int check_name(struct db_conn *conn, const struct prepared_submission *prepared, struct error *err)
{
    sqlite3_stmt *stmt;
    if (prepared->envelope.is_prefix)
        return 0;
    int rc = db_prepare(conn, SQL_NAME_IS_TAKEN, &stmt, err);
    if (rc == 0) {
        db_bind_int(stmt, 1, prepared->submission.project_id);
        db_bind_text(stmt, 2, prepared->submission.name);
        rc = db_step(conn, stmt, err);
        db_release(conn, stmt);
    }
    if (rc == 1)
        return error_set(err, ERROR_INVALID, "name: the project has a workload %s already", prepared->submission.name);
    return rc;
}

// As the creation would refuse it.
static int check_rows(struct request *req, const struct prepared_submission *prepared, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_check_workload_counts(conn, &prepared->submission, &req->server->config.workload_bounds, err);
    if (rc == 0)
        rc = check_name(conn, prepared, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static int prepare(struct request *req, json_t *body, enum workload_type type, struct prepared_submission *out,
                   struct error *err)
{
    if (validate_body(schema_of(type), body, err) < 0 || workload_submission_prepare(req, body, type, out, err) < 0 ||
        check_rows(req, out, err) < 0)
        return err->code == ERROR_INVALID ? error_prefix(err, "workload.") : -1;
    return 0;
}

int op_ask_what_if(struct request *req, struct response *res, struct error *err)
{
    enum workload_type type = WORKLOAD_TYPE_TRAINING;
    struct prepared_submission prepared;
    struct present present;
    const json_t *fixes = json_object_get(req->body, "fixes");
    bool wants_fixes = !json_is_false(fixes);
    (void)workload_type_parse(json_string_value(json_object_get(req->body, "type")), &type); // the document's enum
    if (prepare(req, json_object_get(req->body, "workload"), type, &prepared, err) < 0 ||
        present_ask(req, &present, err) < 0)
        return -1;
    const struct snapshot_workload *workload;
    struct what_if_answer *answer;
    int rc = present_what_if(&present, &prepared.submission, wants_fixes, &workload, &answer, err);
    if (rc == 0)
        write_answer(req, res, &present, workload, answer, wants_fixes);
    present_close(&present);
    return rc;
}

int op_get_workload_what_if(struct request *req, struct response *res, struct error *err)
{
    struct workload_state state;
    struct present present;
    if (workload_of_path(req, &KIND_ANY, ACTION_READ, &state, err) < 0 || present_ask(req, &present, err) < 0)
        return -1;
    const struct snapshot_workload *workload;
    struct what_if_answer *answer;
    int rc = present_what_if_again(&present, state.id, true, &workload, &answer, err);
    if (rc == 0)
        write_answer(req, res, &present, workload, answer, true);
    present_close(&present);
    return rc;
}
