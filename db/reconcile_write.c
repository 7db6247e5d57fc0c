#include "db/reconcile_write.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <math.h>
#include <string.h>

static const char SQL_UPDATE_POD[] =
    "UPDATE pods SET status = :status, k8s_phase_updated_ms = iif(k8s_phase = :k8s_phase, k8s_phase_updated_ms, "
    ":now_ms), k8s_phase = :k8s_phase,"
    " reason = :reason, message = coalesce(:message, message), exit_code = coalesce(:exit_code, exit_code), node_id = "
    ":node_id,"
    " node_name = iif(:node_id IS NULL, NULL, coalesce(:node_name, node_name)),"
    " node_pool_id = iif(:node_id IS NULL, NULL, coalesce(:node_pool_id, node_pool_id)), gpu_indices_json = "
    ":gpu_indices_json, gpu_groups_json = "
    ":gpu_groups_json, gpu_allocated_milli = :gpu_allocated_milli, decision_id = :decision_id,"
    " start_decision = coalesce(:start_decision, start_decision), promise_node = :promise_node, scheduled_ms = "
    ":scheduled_ms, started_ms = :started_ms,"
    " stopping_ms = :stopping_ms, completed_ms = :completed_ms, deleted_ms = :deleted_ms, idle_since_ms = "
    ":idle_since_ms, revision = "
    ":revision WHERE "
    "id = :id";
#define ASKED_POOLS(which, none) \
    "coalesce(json_extract('{' || listing_json || '}', '$.requestedNodePools" which "'), " none ")"
static const char SQL_UPDATE_WORKLOAD[] =
    "UPDATE workloads SET k8s_phase_updated_ms = iif(k8s_phase = :k8s_phase, k8s_phase_updated_ms, :now_ms), k8s_phase "
    "= :k8s_phase,"
    " phase_reason = :phase_reason, started_ms = :started_ms, completed_ms = :completed_ms, deleted_ms = :deleted_ms, "
    "gpu_allocated_milli = :gpu_allocated_milli,"
    " cpu_allocated_milli = :cpu_allocated_milli, memory_allocated_bytes = :memory_allocated_bytes, pods_running = "
    ":pods_running, pods_pending = :pods_pending,"
    " succeeded_count = :succeeded_count, failed_count = :failed_count, current_node_pools_json = "
    ":current_node_pools_json, pools_json = CASE WHEN :current_node_pools_json <> '[]' THEN :current_node_pools_json"
    " WHEN current_node_pools_json = '[]' THEN pools_json ELSE " ASKED_POOLS(
        "",
        "'[]'") " END,"
                " pool = CASE WHEN :current_node_pools_json <> '[]' THEN json_extract(:current_node_pools_json, '$[0]')"
                " WHEN current_node_pools_json = '[]' THEN pool ELSE " ASKED_POOLS(
                    "[0]", "''") " END, promise = :promise, last_eviction_ms = :last_eviction_ms,"
                                 " phase_updated_ms = min(phase_updated_ms, :now_ms), stale_since_ms = "
                                 ":stale_since_ms, displaced_count = "
                                 ":displaced_count, displaced_ms = :displaced_ms, time_warned_ms = :time_warned_ms, "
                                 "idle_warned_ms = "
                                 ":idle_warned_ms, "
                                 "messages_json = iif(:explains, :messages_json, messages_json),"
                                 " explanation_json = iif(:explains, :explanation_json, explanation_json), updated_ms "
                                 "= :now_ms, revision = "
                                 ":revision WHERE id = :id";
// The listing is an object without its braces.
static const char SQL_SCALE[] =
    "UPDATE workloads SET pods_wanted = ?2, revision = ?3, listing_json = (SELECT substr(j, 2, length(j) - 2) FROM"
    " (SELECT json_set('{' || listing_json || '}', '$.requestedPods.number', ?2) AS j)) WHERE id = ?1";
static const char SQL_UPDATE_PHASE[] =
    "UPDATE workloads SET phase = ?3, phase_message = coalesce(?4, phase_message), phase_updated_ms = ?5,"
    " pending_total_ms = pending_total_ms + ?6, running_total_ms = running_total_ms + ?7"
    " WHERE id = ?1 AND desired_phase = ?2";
static const char SQL_ADD_PHASE[] = "INSERT INTO phase_history (workload_id, time_ms, phase, message) SELECT id, ?5, "
                                    "?3, coalesce(?4, phase_message) FROM workloads"
                                    " WHERE id = ?1 AND desired_phase = ?2";
static const char SQL_STOP_BY_RULE[] =
    "UPDATE workloads SET desired_phase = 'Stopped', updated_ms = ?2, revision = ?3 WHERE id = ?1"
    " AND desired_phase = 'Running'";
static const char SQL_UPDATE_QUEUE[] =
    "UPDATE queues SET gpu_fair_share_milli = ?2, gpu_allocated_milli = ?3, gpu_allocated_non_preemptible_milli = ?4,"
    " gpu_requested_milli = ?5, cpu_fair_share_milli = ?6, cpu_allocated_milli = ?7,"
    " cpu_allocated_non_preemptible_milli = ?8, cpu_requested_milli = ?9, memory_fair_share_bytes = ?10,"
    " memory_allocated_bytes = ?11, memory_allocated_non_preemptible_bytes = ?12, memory_requested_bytes = ?13"
    " WHERE id = ?1";
static const char SQL_BEGIN_ALLOCATION[] =
    "INSERT INTO allocations (pod_id, workload_id, workload_name, project_id, project_name, department_id, person,"
    " node_name, node_pool_id, gpu_indices_json, gpu_milli, cpu_milli, memory_bytes, started_ms)"
    " SELECT p.id, w.id, w.name, w.project_id, w.project_name, coalesce(j.department_id, 0), w.created_by, ?2, ?3, ?4,"
    " ?5, p.cpu_milli, p.memory_bytes, ?6 FROM pods p JOIN workloads w ON w.id = p.workload_id"
    " LEFT JOIN projects j ON j.id = w.project_id WHERE p.id = ?1";
static const char SQL_END_ALLOCATION[] =
    "UPDATE allocations SET ended_ms = ?2, end_reason = ?3 WHERE pod_id = ?1 AND ended_ms = 0";
static const char SQL_PUT_SAMPLE[] =
    "INSERT INTO samples (scope, scope_id, node_pool_id, metric, time_ms, value) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET value = excluded.value";
static const char SQL_PUT_SPARSE_SAMPLE[] =
    "INSERT INTO samples (scope, scope_id, node_pool_id, metric, time_ms, value) SELECT ?1, ?2, ?3, ?4, ?5, ?6"
    " WHERE ?6 <> (SELECT value FROM samples WHERE scope = ?1 AND scope_id = ?2 AND node_pool_id = ?3 AND metric = ?4"
    " ORDER BY time_ms DESC LIMIT 1) ON CONFLICT DO UPDATE SET value = excluded.value";
static const char SQL_LAST_ATTEMPT[] = "SELECT coalesce(max(attempt), -1) FROM pods WHERE workload_id = ?1";
static const char SQL_NEXT_INDEX[] =
    "SELECT coalesce(max(pod_index), -1) + 1 FROM pods WHERE workload_id = ?1 AND role = ?2";
// The expression is the index's, which is named: else SQLite goes through all that have completed, each second.
#define BY_EXPIRY "workloads INDEXED BY workloads_by_expiry"
#define EXPIRED \
    " WHERE deleted_ms = 0 AND completed_ms > 0 AND completed_ms + coalesce(auto_delete_ms, 2592000000) <= ?1"
static const char SQL_EXPIRE[] =
    "UPDATE " BY_EXPIRY " SET desired_phase = 'Deleted', updated_ms = ?1, revision = ?2" EXPIRED
    " AND desired_phase <> 'Deleted'";
static const char SQL_HAS_EXPIRED[] = "SELECT 1 FROM " BY_EXPIRY EXPIRED " AND desired_phase <> 'Deleted' LIMIT 1";
static int run_and_release(struct db_conn *conn, sqlite3_stmt *stmt, struct error *err)
{
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_update_pod(struct db_conn *conn, const struct pod_update *update, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_UPDATE_POD, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", update->id);
    db_set_text(stmt, ":status", pod_status_text(update->status));
    db_set_text(stmt, ":k8s_phase", update->k8s_phase);
    db_set_int(stmt, ":now_ms", update->now_ms);
    db_set_text(stmt, ":reason", update->reason);
    db_set_text(stmt, ":message", update->message);
    db_set_int_or_null(stmt, ":exit_code", update->has_exit_code, update->exit_code);
    db_set_int_or_null(stmt, ":node_id", update->node_id > 0, update->node_id);
    db_set_text(stmt, ":node_name", update->node_name);
    db_set_int_or_null(stmt, ":node_pool_id", update->node_pool_id > 0, update->node_pool_id);
    db_set_text(stmt, ":gpu_indices_json", update->gpu_indices_json);
    db_set_text(stmt, ":gpu_groups_json", update->gpu_groups_json);
    db_set_int(stmt, ":gpu_allocated_milli", update->gpu_allocated_milli);
    db_set_int(stmt, ":decision_id", update->decision_id);
    db_set_int_or_null(stmt, ":start_decision", update->start_decision > 0, update->start_decision);
    db_set_text(stmt, ":promise_node", update->promise_node);
    db_set_int(stmt, ":scheduled_ms", update->scheduled_ms);
    db_set_int(stmt, ":started_ms", update->started_ms);
    db_set_int(stmt, ":stopping_ms", update->stopping_ms);
    db_set_int(stmt, ":completed_ms", update->completed_ms);
    db_set_int(stmt, ":deleted_ms", update->deleted_ms);
    db_set_int(stmt, ":idle_since_ms", update->idle_since_ms);
    db_set_int(stmt, ":revision", db_revision(conn));
    if (run_and_release(conn, stmt, err) < 0)
        return -1;
    db_touch(conn, CHANGE_POD, update->uuid);
    return 0;
}

int db_scale_workload(struct db_conn *conn, int64_t workload_id, int64_t replicas, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SCALE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_int(stmt, 2, replicas);
    db_bind_int(stmt, 3, db_revision(conn));
    return run_and_release(conn, stmt, err);
}

int db_stop_workload_by_rule(struct db_conn *conn, int64_t workload_id, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_STOP_BY_RULE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_int(stmt, 2, now_ms);
    db_bind_int(stmt, 3, db_revision(conn));
    return run_and_release(conn, stmt, err);
}

static int prepare_phase(struct db_conn *conn, const char *sql, int64_t workload_id, enum desired_phase desired,
                         enum workload_phase phase, const char *message, int64_t now_ms, sqlite3_stmt **out_stmt,
                         struct error *err)
{
    if (db_prepare(conn, sql, out_stmt, err) < 0)
        return -1;
    db_bind_int(*out_stmt, 1, workload_id);
    db_bind_text(*out_stmt, 2, desired_phase_text(desired));
    db_bind_text(*out_stmt, 3, phase_text(phase));
    db_bind_text(*out_stmt, 4, message);
    db_bind_int(*out_stmt, 5, now_ms);
    return 0;
}

int db_add_phase_if_wished(struct db_conn *conn, int64_t workload_id, enum desired_phase desired,
                           enum workload_phase phase, const char *message, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt;
    if (prepare_phase(conn, SQL_ADD_PHASE, workload_id, desired, phase, message, now_ms, &stmt, err) < 0)
        return -1;
    return run_and_release(conn, stmt, err);
}

static int update_phase(struct db_conn *conn, const struct workload_update *update, struct error *err)
{
    sqlite3_stmt *stmt;
    if (prepare_phase(conn, SQL_UPDATE_PHASE, update->facts.id, update->facts.desired, update->facts.phase,
                      update->phase_message, update->now_ms, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 6, update->pending_spent_ms);
    db_bind_int(stmt, 7, update->running_spent_ms);
    return run_and_release(conn, stmt, err);
}

int db_update_workload(struct db_conn *conn, const struct workload_update *update, struct error *err)
{
    sqlite3_stmt *stmt;
    if (update->changes_phase && update_phase(conn, update, err) < 0)
        return -1;
    if (db_prepare(conn, SQL_UPDATE_WORKLOAD, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", update->facts.id);
    db_set_text(stmt, ":k8s_phase", update->k8s_phase);
    db_set_text(stmt, ":phase_reason", update->phase_reason);
    db_set_int(stmt, ":started_ms", update->facts.started_ms);
    db_set_int(stmt, ":completed_ms", update->facts.completed_ms);
    db_set_int(stmt, ":deleted_ms", update->facts.deleted_ms);
    db_set_int(stmt, ":gpu_allocated_milli", update->gpu_allocated_milli);
    db_set_int(stmt, ":cpu_allocated_milli", update->cpu_allocated_milli);
    db_set_int(stmt, ":memory_allocated_bytes", update->memory_allocated_bytes);
    db_set_int(stmt, ":pods_running", update->pods_running);
    db_set_int(stmt, ":pods_pending", update->pods_pending);
    db_set_int(stmt, ":succeeded_count", update->facts.succeeded_count);
    db_set_int(stmt, ":failed_count", update->facts.failed_count);
    db_set_text(stmt, ":current_node_pools_json", update->current_node_pools_json);
    db_set_int_or_null(stmt, ":promise", update->facts.promise >= 0, update->facts.promise);
    db_set_int(stmt, ":last_eviction_ms", update->facts.last_eviction_ms);
    db_set_int(stmt, ":stale_since_ms", update->facts.stale_since_ms);
    db_set_text(stmt, ":messages_json", update->messages_json);
    db_set_text(stmt, ":explanation_json", update->explanation_json);
    db_set_int(stmt, ":now_ms", update->now_ms);
    db_set_int(stmt, ":revision", db_revision(conn));
    db_set_int(stmt, ":explains", update->explains);
    db_set_int(stmt, ":displaced_count", update->facts.displaced_count);
    db_set_int(stmt, ":displaced_ms", update->facts.displaced_ms);
    db_set_int(stmt, ":time_warned_ms", update->facts.time_warned_ms);
    db_set_int(stmt, ":idle_warned_ms", update->facts.idle_warned_ms);
    if (run_and_release(conn, stmt, err) < 0)
        return -1;
    db_touch(conn, CHANGE_WORKLOAD, update->facts.uuid);
    return 0;
}

int db_update_queue_figures(struct db_conn *conn, const struct queue_figures *figures, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_UPDATE_QUEUE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, figures->queue_id);
    for (int i = 0; i < 4; i++) {
        db_bind_int(stmt, 2 + i, figures->gpu_milli[i]);
        db_bind_int(stmt, 6 + i, figures->cpu_milli[i]);
        db_bind_int(stmt, 10 + i, figures->memory_bytes[i]);
    }
    if (run_and_release(conn, stmt, err) < 0)
        return -1;
    db_revision(conn);
    db_touch_number(conn, CHANGE_QUEUE_FIGURES, figures->owner_id);
    return 0;
}

int db_begin_allocation(struct db_conn *conn, const struct allocation_row *row, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_BEGIN_ALLOCATION, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, row->pod_id);
    db_bind_text(stmt, 2, row->node_name);
    db_bind_int(stmt, 3, row->node_pool_id);
    db_bind_text(stmt, 4, row->gpu_indices_json);
    db_bind_int(stmt, 5, row->gpu_milli);
    db_bind_int(stmt, 6, row->started_ms);
    return run_and_release(conn, stmt, err);
}

int db_end_allocation(struct db_conn *conn, int64_t pod_id, int64_t ended_ms, const char *reason, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_END_ALLOCATION, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, pod_id);
    db_bind_int(stmt, 2, ended_ms);
    db_bind_text(stmt, 3, reason);
    return run_and_release(conn, stmt, err);
}

static int put_sample(struct db_conn *conn, const char *sql, const struct sample_row *row, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, row->scope);
    db_bind_int(stmt, 2, row->scope_id);
    db_bind_int(stmt, 3, row->node_pool_id);
    db_bind_text(stmt, 4, row->metric);
    db_bind_int(stmt, 5, row->time_ms);
    db_bind_real(stmt, 6, isnan(row->value) ? -1 : row->value);
    return run_and_release(conn, stmt, err);
}

int db_put_sample(struct db_conn *conn, const struct sample_row *row, struct error *err)
{
    return put_sample(conn, SQL_PUT_SAMPLE, row, err);
}

int db_put_sparse_sample(struct db_conn *conn, const struct sample_row *row, struct error *err)
{
    return put_sample(conn, SQL_PUT_SPARSE_SAMPLE, row, err);
}

// One number by a statement with a number and, where text is not NULL, a text.
static int read_number(struct db_conn *conn, const char *sql, int64_t parameter, const char *text, int64_t *out_value,
                       struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, parameter);
    if (text)
        db_bind_text(stmt, 2, text);
    int rc = db_step(conn, stmt, err);
    *out_value = rc == 1 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_read_last_attempt(struct db_conn *conn, int64_t workload_id, int64_t *out_attempt, struct error *err)
{
    return read_number(conn, SQL_LAST_ATTEMPT, workload_id, NULL, out_attempt, err);
}

int db_read_next_pod_index(struct db_conn *conn, int64_t workload_id, const char *role, int64_t *out_index,
                           struct error *err)
{
    return read_number(conn, SQL_NEXT_INDEX, workload_id, role, out_index, err);
}

int db_expire_workloads(struct db_conn *conn, int64_t now_ms, int64_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_EXPIRE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, now_ms);
    db_bind_int(stmt, 2, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    *out_count = rc == 0 ? db_changed_rows(conn) : 0;
    db_release(conn, stmt);
    return rc;
}

int db_has_expired_workloads(struct db_conn *conn, int64_t now_ms, bool *out_has, struct error *err)
{
    int64_t found;
    if (read_number(conn, SQL_HAS_EXPIRED, now_ms, NULL, &found, err) < 0)
        return -1;
    *out_has = found != 0;
    return 0;
}
