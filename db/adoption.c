#include "db/adoption.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events.h"
#include "db/reconcile_write.h"
#include "db/workloads.h"
#include "model/phase.h"
#include "model/pod.h"
#include "model/pod_status.h"
#include "model/submission.h"

#include <inttypes.h>
#include <stdio.h>

static const char SQL_DESCRIBE[] =
    "SELECT json_object('id', uuid, 'name', name, 'requestedName', requested_name, 'type', type,"
    " 'createdBy', created_by, 'machineUser', machine_user, 'createdMilliseconds', created_ms, 'projectName', "
    "project_name, 'projectNumber',"
    " (SELECT number FROM project_numbers n WHERE n.project_id = w.project_id), 'graceMilliseconds', grace_period_ms,"
    " 'hasMaster', json(CASE WHEN EXISTS (SELECT 1 FROM pods p WHERE p.workload_id = w.id AND p.role = 'master')"
    " THEN 'true' ELSE 'false' END), 'spec', json(spec_json), 'masterSpec', json(master_spec_json))"
    " FROM workloads w WHERE id = ?1";
static const char SQL_FIND_PROJECT[] = "SELECT p.id FROM projects p JOIN project_numbers n ON n.project_id = p.id"
                                       " WHERE p.name = ?1 AND (?2 = 0 OR n.number = ?2) AND p.phase <> 'Deleting'";
static const char SQL_FIND_WORKLOAD[] =
    "SELECT id, name, type, desired_phase, phase, deleted_ms FROM workloads WHERE uuid = ?1";
static const char SQL_FIND_POD[] = "SELECT id, workload_id, status FROM pods WHERE uuid = ?1";
// Whose place it takes: the pod of its own number, else one that waits.
static const char SQL_FIND_SEAT[] =
    "SELECT id, uuid, pod_index, status FROM pods WHERE workload_id = ?1 AND role = ?2 AND deleted_ms = 0"
    " AND status NOT IN ('Succeeded', 'Failed', 'Deleted')"
    " ORDER BY pod_index = ?3 DESC, status IN ('Pending', 'Pipelined') DESC, pod_index DESC LIMIT 1";
static const char SQL_INSERT_POD[] =
    "INSERT INTO pods (uuid, workload_id, name, role, pod_index, attempt, status, k8s_phase_updated_ms, gpu_devices,"
    " gpu_portion_milli, gpu_memory_mib, cpu_milli, memory_bytes, constraints_json, created_ms, revision)"
    " SELECT ?1, workload_id, ?2, role, ?3, ?4, 'Pending', ?5, gpu_devices, gpu_portion_milli, gpu_memory_mib,"
    " cpu_milli, memory_bytes, constraints_json, ?5, ?6 FROM pods WHERE workload_id = ?7 AND role = ?8"
    " ORDER BY id LIMIT 1";
static const char SQL_REMOVE_POD[] = "DELETE FROM pods WHERE id = ?1"; // made a moment ago
static const char SQL_RETIRE_POD[] = "UPDATE pods SET status = 'Deleted', k8s_phase = 'Terminating', completed_ms = ?2,"
                                     " deleted_ms = ?2, revision = ?3 WHERE id = ?1";
// A device is one pod's whole, or of those that share it.
static const char SQL_FIND_OTHER[] =
    "SELECT o.uuid, a.value FROM pods o, json_each(o.gpu_indices_json) a, json_each(?1) b WHERE a.value = b.value"
    " AND o.node_id = ?2 AND o.id <> ?3 AND o.deleted_ms = 0 AND (?4 = '[]' OR o.gpu_groups_json = '[]')"
    " AND o.status IN ('Binding', 'Bound', 'Running', 'Releasing') LIMIT 1";
static const char SQL_FIND_NODE[] = "SELECT id, node_pool_id FROM nodes WHERE name = ?1 AND deleted_ms = 0";
static const char SQL_START[] = "UPDATE workloads SET desired_phase = 'Running', completed_ms = 0,"
                                " started_ms = CASE WHEN started_ms BETWEEN 1 AND ?2 THEN started_ms ELSE ?2 END,"
                                " updated_ms = ?3, revision = ?4 WHERE id = ?1";
static const char SQL_FIND_WAITING[] =
    "SELECT p.id, p.workload_id FROM pods p JOIN workloads w ON w.id = p.workload_id"
    " WHERE p.uuid = ?1 AND p.deleted_ms = 0 AND p.status IN ('Pending', 'Pipelined')"
    " AND w.desired_phase = 'Running' AND w.deleted_ms = 0 AND w.phase NOT IN ('Completed', 'Failed')";
static const char SQL_WORKLOAD_OF[] = "SELECT uuid, name FROM workloads WHERE id = ?1";

struct owner {
    int64_t id;
    const char *uuid, *name, *type;
    bool is_new;
};

struct seat {
    int64_t id, index;
    const char *uuid;
    enum pod_status status;
};

static int step_once(struct db_conn *conn, const char *sql, const char *text, int64_t number, sqlite3_stmt **out_stmt,
                     struct error *err)
{
    if (db_prepare(conn, sql, out_stmt, err) < 0)
        return -1;
    if (text)
        db_bind_text(*out_stmt, 1, text);
    else
        db_bind_int(*out_stmt, 1, number);
    int rc = db_step(conn, *out_stmt, err);
    if (rc == 1)
        return 1;
    db_release(conn, *out_stmt);
    return rc;
}

int db_describe_for_adoption(struct db_conn *conn, int64_t workload_id, struct arena *arena, const char **out_text,
                             struct error *err)
{
    sqlite3_stmt *stmt;
    int rc = step_once(conn, SQL_DESCRIBE, NULL, workload_id, &stmt, err);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no workload with number %" PRId64, workload_id);
    if (rc < 0)
        return -1;
    *out_text = db_column_text(stmt, 0, arena);
    db_release(conn, stmt);
    return 0;
}

int db_find_project_for_adoption(struct db_conn *conn, const char *name, int64_t number, int64_t *out_id,
                                 struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_PROJECT, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, name);
    db_bind_int(stmt, 2, number);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_id = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return rc;
}

static int refuse_workload(const char *name, const char *why, struct error *err)
{
    return error_set(err, ERROR_CONFLICT, "workload %s %s: end the pod, or submit it again", name, why);
}

// 1: found; 0: not; -1: error, also where nothing can run in it any more.
static int find_owner(struct db_conn *conn, const char *uuid, struct arena *arena, struct owner *out, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc = step_once(conn, SQL_FIND_WORKLOAD, uuid, 0, &stmt, err);
    if (rc <= 0)
        return rc;
    *out = (struct owner){.id = db_column_int(stmt, 0),
                          .uuid = uuid,
                          .name = db_column_text(stmt, 1, arena),
                          .type = db_column_text(stmt, 2, arena)};
    bool is_going = desired_phase_parse(db_column_text(stmt, 3, arena)) == DESIRED_DELETED || db_column_int(stmt, 5);
    bool is_over = phase_is_final(phase_parse(db_column_text(stmt, 4, arena)));
    db_release(conn, stmt);
    if (is_going || is_over)
        return refuse_workload(out->name, is_going ? "was deleted" : "is over", err);
    return 1;
}

static int make_owner(struct db_conn *conn, const struct adoption *adoption, struct arena *arena, struct owner *out,
                      struct error *err)
{
    int rc = find_owner(conn, adoption->workload_uuid, arena, out, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (!adoption->submission)
        return error_set(err, ERROR_NOT_FOUND, "workload %s: not found", adoption->workload_uuid);
    if (db_insert_workload(conn, adoption->submission, err) < 0)
        return -1;
    rc = find_owner(conn, adoption->workload_uuid, arena, out, err);
    out->is_new = true;
    return rc == 1 ? 0 : -1;
}

// 1: found; 0: not; -1: error. *out_seat is only touched where one is found.
static int read_seat(struct db_conn *conn, sqlite3_stmt *stmt, struct arena *arena, struct seat *out_seat,
                     struct error *err)
{
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_seat = (struct seat){.id = db_column_int(stmt, 0),
                                  .uuid = db_column_text(stmt, 1, arena),
                                  .index = db_column_int(stmt, 2),
                                  .status = pod_status_parse(db_column_text(stmt, 3, arena))};
    db_release(conn, stmt);
    return rc;
}

static bool waits(enum pod_status status)
{
    return status == POD_STATUS_PENDING || status == POD_STATUS_PIPELINED;
}

static int run(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err)
{
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int give_up_seat(struct db_conn *conn, const struct owner *owner, const struct seat *seat, int64_t now_ms,
                        struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, owner->is_new ? SQL_REMOVE_POD : SQL_RETIRE_POD, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, seat->id);
    if (!owner->is_new) {
        db_bind_int(stmt, 2, now_ms);
        db_bind_int(stmt, 3, db_revision(conn));
        db_touch(conn, CHANGE_POD, seat->uuid);
    }
    return run(conn, stmt, err);
}

static int insert_pod(struct db_conn *conn, const struct owner *owner, const struct adopted_pod *pod, int64_t *out_id,
                      struct error *err)
{
    sqlite3_stmt *stmt;
    char name[POD_NAME_SIZE];
    if (db_prepare(conn, SQL_INSERT_POD, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, pod->uuid);
    db_bind_text(stmt, 2, pod_name(owner->name, owner->type, pod->role, pod->index, pod->attempt, name));
    db_bind_int(stmt, 3, pod->index);
    db_bind_int(stmt, 4, pod->attempt);
    db_bind_int(stmt, 5, pod->scheduled_ms);
    db_bind_int(stmt, 6, db_revision(conn));
    db_bind_int(stmt, 7, owner->id);
    db_bind_text(stmt, 8, pod->role);
    if (run(conn, stmt, err) < 0)
        return -1;
    *out_id = db_last_insert_id(conn);
    return db_changed_rows(conn) == 1 ? 0
                                      : error_set(err, ERROR_CONFLICT, "workload %s has no %s", owner->name, pod->role);
}

static int check_devices(struct db_conn *conn, const struct pod_update *update, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_OTHER, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, update->gpu_indices_json);
    db_bind_int(stmt, 2, update->node_id);
    db_bind_int(stmt, 3, update->id);
    db_bind_text(stmt, 4, update->gpu_groups_json);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        error_set(err, ERROR_CONFLICT, "pod %s: its GPU %" PRId64 " is held by pod %s too: end one of them",
                  update->uuid, (int64_t)db_column_int(stmt, 1), db_column_text(stmt, 0, arena));
    db_release(conn, stmt);
    return rc == 0 ? 0 : -1;
}

// A row that says what the pod does.
static int set_running(struct db_conn *conn, int64_t pod_id, const struct adopted_pod *pod, const char *node_name,
                       int64_t now_ms, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc = step_once(conn, SQL_FIND_NODE, node_name, 0, &stmt, err);
    if (rc == 0)
        return error_set(err, ERROR_CONFLICT, "node %s: not found", node_name);
    if (rc < 0)
        return -1;
    struct pod_update update = {.id = pod_id,
                                .uuid = pod->uuid,
                                .status = POD_STATUS_RUNNING,
                                .k8s_phase = "Running",
                                .reason = "",
                                .node_id = db_column_int(stmt, 0),
                                .node_name = node_name,
                                .node_pool_id = db_column_int(stmt, 1),
                                .gpu_indices_json = pod->gpu_indices_json,
                                .gpu_groups_json = pod->gpu_groups_json,
                                .gpu_allocated_milli = pod->gpu_milli,
                                .scheduled_ms = pod->scheduled_ms,
                                .started_ms = pod->started_ms,
                                .now_ms = now_ms};
    db_release(conn, stmt);
    struct allocation_row allocation = {.pod_id = pod_id,
                                        .node_name = node_name,
                                        .node_pool_id = update.node_pool_id,
                                        .gpu_indices_json = pod->gpu_indices_json,
                                        .gpu_milli = pod->gpu_milli,
                                        .started_ms = pod->scheduled_ms};
    if (check_devices(conn, &update, arena, err) < 0 || db_update_pod(conn, &update, err) < 0)
        return -1;
    return db_begin_allocation(conn, &allocation, err);
}

static int find_row_of(struct db_conn *conn, const struct owner *owner, const struct adopted_pod *pod,
                       struct arena *arena, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc = step_once(conn, SQL_FIND_POD, pod->uuid, 0, &stmt, err);
    if (rc <= 0)
        return rc;
    *out_id = db_column_int(stmt, 0);
    bool is_free = db_column_int(stmt, 1) == owner->id && waits(pod_status_parse(db_column_text(stmt, 2, arena)));
    db_release(conn, stmt);
    return is_free ? 1 : error_set(err, ERROR_CONFLICT, "pod %s: its row says that it is over", pod->uuid);
}

static int adopt_pod(struct db_conn *conn, const struct adoption *adoption, const struct owner *owner,
                     const struct adopted_pod *pod, struct arena *arena, struct error *err)
{
    sqlite3_stmt *stmt;
    struct seat seat = {0};
    int64_t id;
    int rc = find_row_of(conn, owner, pod, arena, &id, err);
    if (rc < 0)
        return -1;
    if (rc == 1)
        return set_running(conn, id, pod, adoption->node_name, adoption->now_ms, arena, err);
    if (db_prepare(conn, SQL_FIND_SEAT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, owner->id);
    db_bind_text(stmt, 2, pod->role);
    db_bind_int(stmt, 3, pod->index);
    int found = read_seat(conn, stmt, arena, &seat, err);
    if (found < 0)
        return -1;
    if (found && !waits(seat.status) && seat.index == pod->index)
        return error_set(err, ERROR_CONFLICT, "workload %s runs pod %s in its place: end one of them", owner->name,
                         seat.uuid);
    if (insert_pod(conn, owner, pod, &id, err) < 0 ||
        (found && waits(seat.status) && give_up_seat(conn, owner, &seat, adoption->now_ms, err) < 0))
        return -1;
    return set_running(conn, id, pod, adoption->node_name, adoption->now_ms, arena, err);
}

static int start_workload(struct db_conn *conn, const struct owner *owner, int64_t started_ms, int64_t now_ms,
                          struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_set_phase(conn, owner->id, owner->uuid, PHASE_RUNNING, "Running", started_ms, err) < 0 ||
        db_prepare(conn, SQL_START, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, owner->id);
    db_bind_int(stmt, 2, started_ms);
    db_bind_int(stmt, 3, now_ms);
    db_bind_int(stmt, 4, db_revision(conn));
    db_touch(conn, CHANGE_WORKLOAD, owner->uuid);
    return run(conn, stmt, err);
}

static int tell(struct db_conn *conn, const struct owner *owner, const char *caller_name, size_t pod_count,
                int64_t now_ms, struct error *err)
{
    char message[512];
    snprintf(message, sizeof(message), "%s adopted by %.300s: %zu %s of it ran without a row", owner->name, caller_name,
             pod_count, pod_count == 1 ? "pod" : "pods");
    struct event event = {.workload_id = owner->id,
                          .workload_uuid = owner->uuid,
                          .time_ms = now_ms,
                          .type = EVENT_NORMAL,
                          .reason = "Adopted",
                          .message = message,
                          .source = "control-plane",
                          .object_kind = "Workload",
                          .object_name = owner->name,
                          .object_uuid = owner->uuid};
    return db_add_event(conn, &event, err);
}

int db_adopt(struct db_conn *conn, const struct adoption *adoption, struct error *err)
{
    struct arena arena;
    struct owner owner = {0};
    int64_t started_ms = adoption->pods[0].started_ms;
    arena_init(&arena);
    int rc = make_owner(conn, adoption, &arena, &owner, err);
    for (size_t i = 0; i < adoption->pod_count && rc == 0; i++) {
        rc = adopt_pod(conn, adoption, &owner, &adoption->pods[i], &arena, err);
        if (adoption->pods[i].started_ms < started_ms)
            started_ms = adoption->pods[i].started_ms;
    }
    if (rc == 0)
        rc = start_workload(conn, &owner, started_ms, adoption->now_ms, err);
    if (rc == 0)
        rc = tell(conn, &owner, adoption->caller_name, adoption->pod_count, adoption->now_ms, err);
    arena_done(&arena);
    return rc;
}

int db_adopt_waiting(struct db_conn *conn, const struct adopted_pod *pod, const char *node_name, int64_t now_ms,
                     struct error *err)
{
    struct arena arena;
    struct owner owner = {0};
    sqlite3_stmt *stmt;
    arena_init(&arena);
    int rc = step_once(conn, SQL_FIND_WAITING, pod->uuid, 0, &stmt, err);
    if (rc != 1)
        goto done;
    int64_t pod_id = db_column_int(stmt, 0);
    owner.id = db_column_int(stmt, 1);
    db_release(conn, stmt);
    rc = step_once(conn, SQL_WORKLOAD_OF, NULL, owner.id, &stmt, err);
    if (rc != 1)
        goto done;
    owner.uuid = db_column_text(stmt, 0, &arena);
    owner.name = db_column_text(stmt, 1, &arena);
    db_release(conn, stmt);
    bool is_done = set_running(conn, pod_id, pod, node_name, now_ms, &arena, err) == 0 &&
                   start_workload(conn, &owner, pod->started_ms, now_ms, err) == 0 &&
                   tell(conn, &owner, "the start", 1, now_ms, err) == 0;
    rc = is_done ? 1 : -1;
done:
    arena_done(&arena);
    return rc;
}
