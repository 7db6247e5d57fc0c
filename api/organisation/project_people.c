// Who of a project has what: running, waiting, and GPU hours of the last days.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/json_writer.h"
#include "db/db.h"

// What has ended is read by its end, so the cost is that of the period: 0.4 s where all projects had 500,000
// allocations.
// ?1: the project; ?2: the first moment of the first day; ?3: now; ?4: how many.
static const char SQL_PEOPLE[] =
    "WITH parts(person, milli_ms, held_milli, running, waiting, asked_milli) AS ("
    "SELECT person, gpu_milli * (min(ended_ms, ?3) - max(started_ms, ?2)), 0, 0, 0, 0 FROM allocations"
    " WHERE project_id = ?1 AND started_ms < ?3 AND ended_ms > 0 AND ended_ms > ?2"
    // What still holds, or is on its way out, is found by its pods: no index has it.
    " UNION ALL SELECT a.person, a.gpu_milli * (?3 - max(a.started_ms, ?2)), 0, 0, 0, 0"
    " FROM pods p INDEXED BY pods_placed CROSS JOIN workloads w ON w.id = p.workload_id AND w.project_id = ?1"
    " CROSS JOIN allocations a ON a.pod_id = p.id AND a.ended_ms = 0 AND a.started_ms < ?3"
    " WHERE p.deleted_ms = 0 AND p.status IN ('Binding', 'Bound', 'Running', 'Releasing') AND p.node_id IS NOT NULL"
    " UNION ALL SELECT person, gpu_milli_ms, 0, 0, 0, 0 FROM usage_days"
    " WHERE project_id = ?1 AND day_ms >= ?2 AND day_ms < ?3"
    " UNION ALL SELECT created_by, 0, gpu_allocated_milli, holds, waits, waits * gpu_requested_milli FROM (SELECT *,"
    " NOT holds AND phase IN ('Creating', 'Pending') AS waits FROM (SELECT created_by, gpu_allocated_milli,"
    " gpu_requested_milli, phase, gpu_allocated_milli > 0 OR pods_running > 0 AS holds FROM workloads"
    " WHERE project_id = ?1 AND deleted_ms = 0 AND phase NOT IN ('Completed', 'Failed'))))"
    " SELECT person, sum(held_milli), sum(running), sum(asked_milli), sum(waiting),"
    " CAST(total(milli_ms) / 3600000 AS INTEGER) FROM parts"
    " WHERE person <> '' GROUP BY person HAVING sum(held_milli) + sum(running) + sum(waiting) + total(milli_ms) > 0"
    " ORDER BY 2 DESC, 6 DESC, 1 LIMIT ?4";

enum {
    PEOPLE_MAX = 500
};
static const int64_t DAY_MS = INT64_C(24) * 3600 * 1000;

static void write_person(struct json_writer *json, sqlite3_stmt *row)
{
    size_t length;
    json_begin_object(json);
    json_text(json, "name", db_column_view(row, 0, &length));
    json_milli(json, "allocatedGpus", db_column_int(row, 1));
    json_int(json, "runningWorkloads", db_column_int(row, 2));
    json_milli(json, "pendingGpus", db_column_int(row, 3));
    json_int(json, "pendingWorkloads", db_column_int(row, 4));
    json_milli(json, "gpuHours", db_column_int(row, 5));
    json_end_object(json);
}

static int write_people(struct request *req, struct json_writer *json, int64_t project_id, int64_t since_ms,
                        struct error *err)
{
    sqlite3_stmt *stmt;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_prepare(conn, SQL_PEOPLE, &stmt, err);
    if (rc == 0) {
        db_bind_int(stmt, 1, project_id);
        db_bind_int(stmt, 2, since_ms);
        db_bind_int(stmt, 3, req->received_ms);
        db_bind_int(stmt, 4, PEOPLE_MAX);
        while ((rc = db_step(conn, stmt, err)) == 1)
            write_person(json, stmt);
        db_release(conn, stmt);
    }
    db_give_back(req->server->db, conn);
    return rc;
}

int op_get_project_people(struct request *req, struct response *res, struct error *err)
{
    struct json_writer json;
    int64_t id = id_from_text(request_path(req, "projectId"));
    if (access_check_project(req, id, RESOURCE_TYPE_WORKLOADS, ACTION_READ, NULL, err) < 0)
        return -1;
    int64_t days = request_query_integer(req, "days", 0), today = req->received_ms / DAY_MS;
    int64_t since_ms = (today - days + 1) * DAY_MS;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_time(&json, "since", since_ms);
    json_key(&json, "people");
    json_begin_array(&json);
    if (write_people(req, &json, id, since_ms, err) < 0)
        return -1;
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}
