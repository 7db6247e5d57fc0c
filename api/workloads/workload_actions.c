#include "api/workloads/workload_actions.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/peers.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "api/workloads/submitted_workload.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/places.h"
#include "db/db.h"
#include "db/events.h"
#include "reconciler/reconciler.h"

#include <string.h>

const struct workload_kind KIND_TRAINING = {false, WORKLOAD_TYPE_TRAINING, RESOURCE_TYPE_TRAININGS};
const struct workload_kind KIND_WORKSPACE = {false, WORKLOAD_TYPE_WORKSPACE, RESOURCE_TYPE_WORKSPACES};
const struct workload_kind KIND_DISTRIBUTED = {false, WORKLOAD_TYPE_DISTRIBUTED, RESOURCE_TYPE_TRAININGS};
const struct workload_kind KIND_INFERENCE = {false, WORKLOAD_TYPE_INFERENCE, RESOURCE_TYPE_INFERENCES};
const struct workload_kind KIND_ANY = {.is_any = true, .resource = RESOURCE_TYPE_WORKLOADS};
const struct workload_kind *const WORKLOAD_KINDS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = &KIND_TRAINING,
    [WORKLOAD_TYPE_WORKSPACE] = &KIND_WORKSPACE,
    [WORKLOAD_TYPE_DISTRIBUTED] = &KIND_DISTRIBUTED,
    [WORKLOAD_TYPE_INFERENCE] = &KIND_INFERENCE,
};

static const char SQL_SUBMITTED[] =
    "SELECT requested_name, spec_json, master_spec_json, master_spec_json IS NULL AND EXISTS (SELECT 1 FROM pods"
    " WHERE workload_id = workloads.id AND role = 'master') FROM workloads WHERE id = ?";

static int find_allowed(struct request *req, struct db_conn *conn, const char *uuid, const struct workload_kind *kind,
                        enum access_action action, struct workload_state *out_state, struct error *err)
{
    const char *type = kind->is_any ? NULL : workload_type_text(kind->type);
    if (db_find_workload(conn, uuid, type, req->arena, out_state, err) < 0)
        return -1;
    const char *what = arena_printf(req->arena, "workload %s", out_state->uuid);
    if (access_check(req, &out_state->scope, kind->resource, action, what, err) < 0)
        return -1;
    if (out_state->deleted_ms && action != ACTION_READ)
        return error_set(err, ERROR_NOT_FOUND, "%s: not found, it was deleted", what);
    return 0;
}

int workload_of_path(struct request *req, const struct workload_kind *kind, enum access_action action,
                     struct workload_state *out_state, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = find_allowed(req, conn, request_path(req, "workloadId"), kind, action, out_state, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static int read_submitted(struct db_conn *conn, struct arena *arena, int64_t id, struct submitted_workload *out,
                          struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SUBMITTED, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        out->requested_name = db_column_text(stmt, 0, arena);
        out->spec_json = db_column_text(stmt, 1, arena);
        out->master_spec_json = db_column_text(stmt, 2, arena);
        out->is_master_same = db_column_int(stmt, 3) != 0;
    }
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "workload: not found");
    return rc < 0 ? -1 : 0;
}

int workload_answer(struct request *req, struct response *res, const struct workload_kind *kind, struct error *err)
{
    struct workload_state state;
    struct submitted_workload answer;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = find_allowed(req, conn, request_path(req, "workloadId"), kind, ACTION_READ, &state, err);
    if (rc == 0) {
        answer = (struct submitted_workload){
            .name = state.name,
            .uuid = state.uuid,
            .type = state.type,
            .project_id = state.scope.project_id,
            .department_id = state.scope.department_id,
            .cluster_uuid = state.cluster_uuid,
            .created_by = state.created_by,
            .created_ms = state.created_ms,
            .deleted_ms = state.deleted_ms,
            .desired_phase = state.desired_phase,
            .phase = phase_text(state.phase),
        };
        rc = read_submitted(conn, req->arena, state.id, &answer, err);
    }
    db_give_back(req->server->db, conn);
    if (rc == 0)
        submitted_workload_write(&answer, res->body, req->arena);
    return rc;
}

struct wish_job {
    const struct request *req;
    const struct workload_state *seen;
    enum workload_wish wish;
};

static int write_wish(struct db_conn *conn, void *context, struct error *err)
{
    const struct wish_job *job = context;
    struct workload_state state;
    if (db_find_workload(conn, job->seen->uuid, NULL, job->req->arena, &state, err) < 0)
        return -1;
    if (state.deleted_ms)
        return error_set(err, ERROR_NOT_FOUND, "workload %s: not found, it was deleted", state.uuid);
    return db_wish_workload(conn, &state, job->wish, job->req->caller->name, job->req->received_ms, err);
}

int workload_wish(struct request *req, const char *uuid, const struct workload_kind *kind, enum workload_wish wish,
                  struct error *err)
{
    struct workload_state state;
    struct db_conn *conn = db_acquire(req->server->db);
    enum access_action action = wish == WISH_DELETED ? ACTION_DELETE : ACTION_UPDATE;
    int rc = find_allowed(req, conn, uuid, kind, action, &state, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct wish_job job = {req, &state, wish};
    return db_write(req->server->db, write_wish, &job, err);
}

int workload_act(struct request *req, struct response *res, const struct workload_kind *kind, enum workload_wish wish,
                 struct error *err)
{
    static const char *const MESSAGES[] = {
        [WISH_RUNNING] = "the workload is being resumed",
        [WISH_STOPPED] = "the workload is being stopped",
        [WISH_DELETED] = "the workload is being deleted",
    };
    if (workload_wish(req, request_path(req, "workloadId"), kind, wish, err) < 0)
        return -1;
    return response_message(res, 202, MESSAGES[wish]);
}

struct record_job {
    const struct request *req;
    const struct workload_state *workload;
    const char *reason, *message;
};

static int write_record(struct db_conn *conn, void *context, struct error *err)
{
    const struct record_job *job = context;
    struct event event = {.workload_id = job->workload->id,
                          .workload_uuid = job->workload->uuid,
                          .time_ms = job->req->received_ms,
                          .type = EVENT_NORMAL,
                          .reason = job->reason,
                          .message = job->message,
                          .source = "control-plane",
                          .object_kind = "Workload",
                          .object_name = job->workload->name,
                          .object_uuid = job->workload->uuid};
    db_revision(conn);
    return db_add_event(conn, &event, err);
}

int workload_check_person(const struct request *req, const struct workload_state *workload,
                          struct reconciler_caller *out_caller, struct error *err)
{
    const char *own = req->caller->machine_user, *name = workload->machine_user;
    bool is_root = req->caller->is_peer && req->peer->uid == 0; // he is anybody here without us
    struct place_claim claim = access_place_claim(req->caller, -1);
    *out_caller =
        (struct reconciler_caller){req->caller->name, own, is_root, req->caller->subject_uuid, claim.is_administrator};
    if (is_root || (*name && own && strcmp(own, name) == 0))
        return 0;
    if (!*name)
        return reconciler_check_caller(req->server->reconciler, workload->id, out_caller, err);
    error_set(err, ERROR_FORBIDDEN, "the pods of %s run as %.*s of this machine, who alone may say what runs in them",
              workload->name, (int)strcspn(name, ":"), name);
    return error_details(err, "he does so by the machine's socket, not with a login");
}

int workload_record(struct request *req, const struct workload_state *workload, const char *reason, const char *message,
                    struct error *err)
{
    return db_write(req->server->db, write_record, &(struct record_job){req, workload, reason, message}, err);
}
