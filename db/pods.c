#include "db/pods.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"
#include "model/submission.h"
#include "model/workload_type.h"

#include <inttypes.h>
#include <string.h>

static const char SQL_INSERT_POD[] =
    "INSERT INTO pods (uuid, workload_id, name, role, pod_index, attempt, status, k8s_phase_updated_ms, gpu_devices,"
    " gpu_portion_milli, gpu_memory_mib, cpu_milli, memory_bytes, constraints_json, created_ms, revision, generation)"
    " VALUES (:uuid, :workload_id, :name, :role, :pod_index, :attempt, :status, :now_ms, :gpu_devices, "
    ":gpu_portion_milli, :gpu_memory_mib, :cpu_milli, :memory_bytes, :constraints_json, :now_ms, :revision,"
    " (SELECT generation FROM workloads WHERE id = :workload_id))";
static const char SQL_FIND_OWNER[] =
    "SELECT name, type, pods_wanted, completions, succeeded_count FROM workloads WHERE id = ?";
static const char SQL_FIND_SERVING[] = "SELECT serving_json FROM workloads WHERE id = ?";
static const char SQL_FIND_REQUEST[] =
    "SELECT gpu_devices, gpu_portion_milli, gpu_memory_mib, cpu_milli, memory_bytes, constraints_json"
    " FROM pods WHERE workload_id = ? AND role = ? ORDER BY id LIMIT 1";

// The first run that nobody does, has done or, where ?2 is set, is to try again. Before the first that is free another
// one is not, so no others come into question than those after one that there is. status is the latest attempt's.
static const char SQL_NEXT_RUN[] =
    "WITH latest AS (SELECT pod_index, max(attempt) AS attempt, status FROM pods WHERE workload_id = ?1"
    " AND role = 'worker' GROUP BY pod_index)"
    " SELECT c.run, coalesce(l.attempt, -1) + 1 FROM (SELECT 0 AS run UNION SELECT pod_index + 1 FROM latest) c"
    " LEFT JOIN latest l ON l.pod_index = c.run"
    " WHERE l.pod_index IS NULL OR l.status = 'Deleted' OR (l.status = 'Failed' AND NOT ?2) ORDER BY c.run LIMIT 1";

static int insert_pod(struct db_conn *conn, sqlite3_stmt *stmt, const struct pod_owner *owner,
                      const struct pod_request *request, int64_t index, int64_t attempt, int64_t now_ms,
                      struct error *err)
{
    char uuid[UUID_SIZE];
    char name[POD_NAME_SIZE];
    uuid_create(uuid);
    struct pod_facts facts = submission_pod_facts(
        request, pod_name(owner->workload_name, owner->workload_type, request->role, index, attempt, name), index,
        attempt);
    db_set_text(stmt, ":uuid", uuid);
    db_set_int(stmt, ":workload_id", owner->workload_id);
    db_set_text(stmt, ":name", facts.name);
    db_set_text(stmt, ":role", request->role);
    db_set_int(stmt, ":pod_index", facts.pod_index);
    db_set_int(stmt, ":attempt", facts.attempt);
    db_set_text(stmt, ":status", pod_status_text(facts.status));
    db_set_int(stmt, ":now_ms", now_ms);
    db_set_int(stmt, ":gpu_devices", facts.gpu_devices);
    db_set_int(stmt, ":gpu_portion_milli", facts.gpu_portion_milli);
    db_set_int(stmt, ":gpu_memory_mib", facts.gpu_memory_mib);
    db_set_int(stmt, ":cpu_milli", facts.cpu_milli);
    db_set_int(stmt, ":memory_bytes", facts.memory_bytes);
    db_set_text(stmt, ":constraints_json", facts.constraints_json);
    db_set_int(stmt, ":revision", db_revision(conn));
    if (db_run(conn, stmt, err) < 0)
        return -1;
    db_touch(conn, CHANGE_POD, uuid);
    return 0;
}

int db_insert_pods(struct db_conn *conn, const struct pod_owner *owner, const struct pod_request *request,
                   int64_t first_index, int64_t count, int64_t attempt, int64_t now_ms, struct error *err)
{
    for (int64_t i = 0; i < count; i++) {
        sqlite3_stmt *stmt;
        if (db_prepare(conn, SQL_INSERT_POD, &stmt, err) < 0)
            return -1;
        int rc = insert_pod(conn, stmt, owner, request, first_index + i, attempt, now_ms, err);
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
    }
    return 0;
}

struct owner_row {
    struct pod_owner owner;
    int64_t pods_wanted;
    int64_t completions, completions_left;
};

static int find_owner(struct db_conn *conn, int64_t workload_id, struct arena *arena, struct owner_row *out_row,
                      struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_OWNER, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_row = (struct owner_row){
            .owner = {.workload_id = workload_id,
                      .workload_name = db_column_text(stmt, 0, arena),
                      .workload_type = db_column_text(stmt, 1, arena)},
            .pods_wanted = db_column_int(stmt, 2),
            .completions = db_column_int(stmt, 3),
            .completions_left = db_column_int(stmt, 3) - db_column_int(stmt, 4),
        };
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no workload with number %" PRId64, workload_id);
    return rc < 0 ? -1 : 0;
}

// An inference's replicas ask for what its specification says today: 1. 0: it is none; -1: error.
static int find_replica(struct db_conn *conn, int64_t workload_id, struct arena *arena, struct pod_request *out_request,
                        struct error *err)
{
    sqlite3_stmt *stmt;
    struct serving serving;
    if (db_prepare(conn, SQL_FIND_SERVING, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    int rc = db_step(conn, stmt, err);
    bool serves = rc == 1 && serving_parse(db_column_text(stmt, 0, arena), arena, &serving);
    db_release(conn, stmt);
    if (serves)
        *out_request = serving.replica;
    return rc < 0 ? -1 : serves;
}

// 1: found; 0: the workload has no pod of this role; -1: error.
static int find_request(struct db_conn *conn, int64_t workload_id, const char *role, struct arena *arena,
                        struct pod_request *out_request, struct error *err)
{
    sqlite3_stmt *stmt;
    int is_replica =
        strcmp(role, POD_ROLE_TEXT_WORKER) == 0 ? find_replica(conn, workload_id, arena, out_request, err) : 0;
    if (is_replica)
        return is_replica;
    if (db_prepare(conn, SQL_FIND_REQUEST, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_text(stmt, 2, role);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_request = (struct pod_request){
            .role = role,
            .gpu_devices = db_column_int(stmt, 0),
            .gpu_portion_milli = db_column_int(stmt, 1),
            .gpu_memory_mib = db_column_int(stmt, 2),
            .cpu_milli = db_column_int(stmt, 3),
            .memory_bytes = db_column_int(stmt, 4),
            .constraints_json = db_column_text(stmt, 5, arena),
        };
    db_release(conn, stmt);
    return rc;
}

int db_find_next_run(struct db_conn *conn, int64_t workload_id, bool keeps_failed, int64_t *out_index,
                     int64_t *out_attempt, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_NEXT_RUN, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_int(stmt, 2, keeps_failed);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        *out_index = db_column_int(stmt, 0);
        *out_attempt = db_column_int(stmt, 1);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

// What is done is not done again, also where it is not the first.
static int create_runs(struct db_conn *conn, const struct owner_row *row, const struct pod_request *request,
                       int64_t count, int64_t attempt, bool keeps_failed, int64_t now_ms, struct error *err)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t index = row->completions, own_attempt;
        if (db_find_next_run(conn, row->owner.workload_id, keeps_failed, &index, &own_attempt, err) < 0)
            return -1;
        if (index >= row->completions)
            break;
        if (db_insert_pods(conn, &row->owner, request, index, 1, attempt, now_ms, err) < 0)
            return -1;
    }
    return 0;
}

int db_create_pods(struct db_conn *conn, int64_t workload_id, int64_t attempt, bool keeps_failed, int64_t now_ms,
                   struct error *err)
{
    int rc = -1;
    struct arena arena;
    arena_init(&arena);
    struct owner_row row;
    struct pod_request request;
    if (find_owner(conn, workload_id, &arena, &row, err) < 0)
        goto done;
    int64_t worker_count = row.pods_wanted;
    int has_master = find_request(conn, workload_id, POD_ROLE_TEXT_MASTER, &arena, &request, err);
    if (has_master < 0)
        goto done;
    if (has_master) {
        worker_count--;
        if (db_insert_pods(conn, &row.owner, &request, 0, 1, attempt, now_ms, err) < 0)
            goto done;
    }
    if (workload_type_is(row.owner.workload_type, WORKLOAD_TYPE_TRAINING) && worker_count > row.completions_left &&
        row.completions_left > 0)
        worker_count = row.completions_left;
    int has_worker = find_request(conn, workload_id, POD_ROLE_TEXT_WORKER, &arena, &request, err);
    if (has_worker < 0)
        goto done;
    if (has_worker && row.completions > 1)
        rc = create_runs(conn, &row, &request, worker_count, attempt, keeps_failed, now_ms, err);
    else if (has_worker)
        rc = db_insert_pods(conn, &row.owner, &request, 0, worker_count, attempt, now_ms, err);
    else
        rc = 0;
done:
    arena_done(&arena);
    return rc;
}

int db_create_pod(struct db_conn *conn, int64_t workload_id, const char *role, int64_t pod_index, int64_t attempt,
                  int64_t now_ms, struct error *err)
{
    int rc = -1;
    struct arena arena;
    arena_init(&arena);
    struct owner_row row;
    struct pod_request request;
    if (find_owner(conn, workload_id, &arena, &row, err) < 0)
        goto done;
    int found = find_request(conn, workload_id, role, &arena, &request, err);
    if (found == 0)
        error_set(err, ERROR_NOT_FOUND, "workload %s has no %s", row.owner.workload_name, role);
    if (found <= 0)
        goto done;
    rc = db_insert_pods(conn, &row.owner, &request, pod_index, 1, attempt, now_ms, err);
done:
    arena_done(&arena);
    return rc;
}
