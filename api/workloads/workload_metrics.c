// Time series of a workload and of one of its pods, from what the reconciler sampled.
#include "api/http/request.h"
#include "api/lists/metrics.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "base/error.h"
#include "db/db.h"

static int answer_series(struct request *req, struct response *res, const struct series *series, struct error *err)
{
    struct metrics metrics;
    if (metrics_init(&metrics, req, res, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = 0;
    for (size_t i = 0; i < metrics.type_count && rc == 0; i++)
        rc = metrics_add(&metrics, conn, metrics.types[i], series, NULL, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : metrics_answer(&metrics);
}

static int answer_workload(struct request *req, struct response *res, const struct workload_kind *kind,
                           struct error *err)
{
    struct workload_state state;
    if (workload_of_path(req, kind, ACTION_READ, &state, err) < 0)
        return -1;
    struct series series = {.scope = "workload", .scope_id = state.id};
    return answer_series(req, res, &series, err);
}

int op_get_workload_metrics(struct request *req, struct response *res, struct error *err)
{
    return answer_workload(req, res, &KIND_ANY, err);
}

int op_get_inference_workload_metrics(struct request *req, struct response *res, struct error *err)
{
    return answer_workload(req, res, &KIND_INFERENCE, err);
}

static int find_pod(struct db *db, int64_t workload_id, const char *uuid, int64_t *out_id, struct error *err)
{
    static const char SQL[] = "SELECT id FROM pods WHERE uuid = ? AND workload_id = ?";
    struct db_conn *conn = db_acquire(db);
    sqlite3_stmt *stmt = NULL;
    int rc = db_prepare(conn, SQL, &stmt, err);
    if (rc == 0) {
        db_bind_text(stmt, 1, uuid);
        db_bind_int(stmt, 2, workload_id);
        rc = db_step(conn, stmt, err);
        if (rc == 1)
            *out_id = db_column_int(stmt, 0);
        else if (rc == 0)
            rc = error_set(err, ERROR_NOT_FOUND, "pod %.40s: not found", uuid);
    }
    db_release(conn, stmt);
    db_give_back(db, conn);
    return rc < 0 ? -1 : 0;
}

static int answer_pod(struct request *req, struct response *res, const struct workload_kind *kind, struct error *err)
{
    struct workload_state state;
    struct series series = {.scope = "pod"};
    if (workload_of_path(req, kind, ACTION_READ, &state, err) < 0 ||
        find_pod(req->server->db, state.id, request_path(req, "podId"), &series.scope_id, err) < 0)
        return -1;
    return answer_series(req, res, &series, err);
}

int op_get_workload_pod_metrics(struct request *req, struct response *res, struct error *err)
{
    return answer_pod(req, res, &KIND_ANY, err);
}

int op_get_inference_workload_pod_metrics(struct request *req, struct response *res, struct error *err)
{
    return answer_pod(req, res, &KIND_INFERENCE, err);
}
