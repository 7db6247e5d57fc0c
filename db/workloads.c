#include "db/workloads.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events.h"
#include "db/pods.h"
#include "model/submission.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The project's row gives the names, so that a project that goes at the same moment is noticed here.
static const char SQL_INSERT_WORKLOAD[] =
    "INSERT INTO workloads (uuid, name, requested_name, type, category, cluster_id, department_id, project_id,"
    " department_name, project_name, namespace, created_by, machine_user, created_ms, updated_ms, spec_json, "
    "master_spec_json,"
    " framework, priority, priority_class, preemptible, node_pools_json, serving_json, pods_wanted, min_pods, "
    "sub_groups_json, "
    "completions,"
    " backoff_limit, grace_period_ms, auto_delete_ms, time_limit_ms, idle_limit_ms, time_limit_scope,"
    " idle_limit_scope, start_at_ms, terminate_after_preemption, gpu_request_type, gpu_requested_milli, "
    "cpu_requested_milli, "
    "memory_requested_bytes, phase, phase_updated_ms,"
    " k8s_phase_updated_ms, pods_pending, listing_json, pools_json, pool, revision)"
    " SELECT :uuid, :name, :requested_name, :type, :category, p.cluster_id, p.department_id, p.id, d.name, p.name, "
    "p.namespace, :created_by, :machine_user, :now_ms, :now_ms, :spec_json, :master_spec_json,"
    " :framework, :priority, :priority_class, :preemptible, :node_pools_json, :serving_json, :pods_wanted, :min_pods, "
    ":sub_groups_json, "
    ":completions, "
    ":backoff_limit, :grace_period_ms, :auto_delete_ms, :time_limit_ms, :idle_limit_ms, :time_limit_scope, "
    ":idle_limit_scope, :start_at_ms, :terminate_after_preemption, "
    ":gpu_request_type, :gpu_milli, :cpu_milli, :memory_bytes, 'Creating', :now_ms, :now_ms,"
    " :pods_wanted, :listing_json, coalesce(json_extract('{' || :listing_json || '}', '$.requestedNodePools'), '[]'),"
    " coalesce(json_extract('{' || :listing_json || '}', '$.requestedNodePools[0]'), ''), "
    ":revision FROM projects p JOIN departments d ON d.id = p.department_id"
    " WHERE p.id = :project_id AND p.phase <> 'Deleting'";

// Answered from an index alone: in three ranges, the phases beside Completed and Failed.
#define COUNT_UNFINISHED(column, range) \
    "(SELECT count(*) FROM workloads WHERE " column " = ?1 AND deleted_ms = 0 AND " range ")"
#define SELECT_UNFINISHED(column)                                                     \
    "SELECT " COUNT_UNFINISHED(column, "phase < 'Completed'") " + " COUNT_UNFINISHED( \
        column, "phase > 'Completed' AND phase < 'Failed'") " + " COUNT_UNFINISHED(column, "phase > 'Failed'")
static const char SQL_COUNT_OF_PROJECT[] = SELECT_UNFINISHED("project_id");
static const char SQL_COUNT_OF_PERSON[] = SELECT_UNFINISHED("created_by");

static const char SQL_FIND_WORKLOAD[] =
    "SELECT w.id, w.uuid, w.name, w.type, w.cluster_id, w.department_id, w.project_id, c.uuid, w.project_name,"
    " w.department_name, w.namespace, w.created_by, w.desired_phase, w.phase, w.phase_updated_ms, w.created_ms,"
    " w.deleted_ms, w.machine_user FROM workloads w JOIN clusters c ON c.id = w.cluster_id WHERE w.uuid = ?1";

static const char SQL_FIND_PHASE[] = "SELECT phase, phase_updated_ms FROM workloads WHERE id = ?";

// Of one that is not deleted.
#define STATE_OF_END                                                                            \
    "CASE WHEN phase NOT IN ('Completed', 'Failed') THEN 'waits' WHEN ?3 = 'any' OR (?3 = 'ok'" \
    " AND phase = 'Completed') OR (?3 = 'failed' AND phase = 'Failed') THEN 'met' ELSE 'never' END"
static const char SQL_FIND_END[] =
    "SELECT " STATE_OF_END " FROM workloads WHERE project_id = ?1 AND name = ?2 AND deleted_ms = 0";
static const char SQL_ADD_DEPENDENCY[] =
    "INSERT INTO workload_dependencies (workload_id, on_id, on_name, wanted, state) SELECT ?4, id, name, "
    "?3, " STATE_OF_END " FROM workloads WHERE project_id = ?1 AND name = ?2 AND deleted_ms = 0 AND id <> ?4";

static const char SQL_SET_PHASE[] =
    "UPDATE workloads SET phase = ?2, phase_message = ?3, phase_reason = '', phase_updated_ms = ?4, updated_ms = ?4,"
    " pending_total_ms = pending_total_ms + ?5, running_total_ms = running_total_ms + ?6, revision = ?7 WHERE id = ?1";

static const char SQL_SET_WISH[] =
    "UPDATE workloads SET desired_phase = ?2, updated_by = ?3, updated_ms = ?4, revision = ?5 WHERE id = ?1";

static void bind_submission(sqlite3_stmt *stmt, const struct submission *submission, int64_t revision)
{
    const struct workload_spec *spec = submission->spec;
    struct workload_facts facts = submission_facts(submission);
    db_set_text(stmt, ":uuid", facts.uuid);
    db_set_text(stmt, ":name", facts.name);
    db_set_text(stmt, ":requested_name", submission->requested_name);
    db_set_text(stmt, ":type", facts.type);
    db_set_text(stmt, ":category", spec->category);
    db_set_text(stmt, ":created_by", submission->created_by);
    db_set_text(stmt, ":machine_user", submission->machine_user ? submission->machine_user : "");
    db_set_int(stmt, ":now_ms", facts.created_ms);
    db_set_text(stmt, ":spec_json", submission->spec_json);
    db_set_text(stmt, ":master_spec_json", submission->master_spec_json);
    db_set_text(stmt, ":framework", spec->framework);
    db_set_int(stmt, ":priority", facts.priority);
    db_set_text(stmt, ":priority_class", spec->priority_class);
    db_set_int(stmt, ":preemptible", facts.preemptible);
    db_set_text(stmt, ":node_pools_json", facts.node_pools_json);
    db_set_text(stmt, ":serving_json", facts.serving_json);
    db_set_int(stmt, ":pods_wanted", facts.pods_wanted);
    db_set_int(stmt, ":min_pods", facts.min_pods);
    db_set_text(stmt, ":sub_groups_json", facts.sub_groups_json);
    db_set_int(stmt, ":completions", facts.completions);
    db_set_int(stmt, ":backoff_limit", facts.backoff_limit);
    db_set_int(stmt, ":grace_period_ms", facts.grace_period_ms);
    db_set_int(stmt, ":auto_delete_ms", spec->auto_delete_ms);
    db_set_int_or_null(stmt, ":time_limit_ms", facts.time_limit_ms > 0, facts.time_limit_ms);
    db_set_int_or_null(stmt, ":idle_limit_ms", facts.idle_limit_ms > 0, facts.idle_limit_ms);
    db_set_text(stmt, ":time_limit_scope", facts.time_limit_scope);
    db_set_text(stmt, ":idle_limit_scope", facts.idle_limit_scope);
    db_set_int(stmt, ":start_at_ms", facts.start_at_ms);
    db_set_int(stmt, ":terminate_after_preemption", facts.terminate_after_preemption);
    db_set_text(stmt, ":gpu_request_type", spec->gpu_request_type);
    db_set_int(stmt, ":gpu_milli", spec->gpu_milli);
    db_set_int(stmt, ":cpu_milli", spec->cpu_milli);
    db_set_int(stmt, ":memory_bytes", spec->memory_bytes);
    db_set_text(stmt, ":listing_json", submission->listing_json);
    db_set_int(stmt, ":revision", revision);
    db_set_int(stmt, ":project_id", facts.project_id);
}

static int insert_row(struct db_conn *conn, const struct submission *submission, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_INSERT_WORKLOAD, &stmt, err) < 0)
        return -1;
    bind_submission(stmt, submission, db_revision(conn));
    struct error cause = {0};
    int rc = db_run(conn, stmt, &cause);
    int64_t inserted = rc == 0 ? db_changed_rows(conn) : 0;
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "name: the project has a workload %s already", submission->name);
    if (rc < 0) {
        *err = cause;
        return -1;
    }
    if (inserted == 0)
        return error_set(err, ERROR_INVALID, "projectId: no project %" PRId64 " that takes workloads",
                         submission->project_id);
    return 0;
}

static int add_pods(struct db_conn *conn, const struct submission *submission, int64_t workload_id, struct error *err)
{
    const struct workload_spec *spec = submission->spec;
    struct pod_owner owner = {workload_id, submission->name, workload_type_text(spec->type)};
    if (spec->has_master && db_insert_pods(conn, &owner, &spec->master, 0, 1, 0, submission->now_ms, err) < 0)
        return -1;
    return db_insert_pods(conn, &owner, &spec->worker, 0, spec->worker_count, 0, submission->now_ms, err);
}

static int count_unfinished(struct db_conn *conn, const char *sql, const char *person, int64_t project_id,
                            int64_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (person)
        db_bind_text(stmt, 1, person);
    else
        db_bind_int(stmt, 1, project_id);
    int rc = db_step(conn, stmt, err);
    *out_count = rc == 1 ? db_column_int(stmt, 0) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_check_workload_counts(struct db_conn *conn, const struct submission *submission,
                             const struct workload_bounds *bounds, struct error *err)
{
    int64_t count = 0;
    if (bounds->per_project > 0) {
        if (count_unfinished(conn, SQL_COUNT_OF_PROJECT, NULL, submission->project_id, &count, err) < 0)
            return -1;
        if (count >= bounds->per_project)
            return error_set(err, ERROR_INVALID,
                             "projectId: the project has %" PRId64 " unfinished workloads, at most %" PRId64
                             " are allowed (workloads-per-project)",
                             count, bounds->per_project);
    }
    if (bounds->per_person > 0) {
        if (count_unfinished(conn, SQL_COUNT_OF_PERSON, submission->created_by, 0, &count, err) < 0)
            return -1;
        if (count >= bounds->per_person)
            return error_set(err, ERROR_INVALID,
                             "%.200s has %" PRId64 " unfinished workloads, at most %" PRId64
                             " are allowed (workloads-per-person)",
                             submission->created_by, count, bounds->per_person);
    }
    return 0;
}

static int say_unknown_end(size_t i, const char *name, struct error *err)
{
    return error_set(err, ERROR_INVALID, "spec.after[%zu].name: the project has no workload %.60s", i, name);
}

static int prepare_end(struct db_conn *conn, const char *sql, int64_t project_id, const struct workload_after *after,
                       sqlite3_stmt **out_stmt, struct error *err)
{
    if (db_prepare(conn, sql, out_stmt, err) < 0)
        return -1;
    db_bind_int(*out_stmt, 1, project_id);
    db_bind_text(*out_stmt, 2, after->name);
    db_bind_text(*out_stmt, 3, after->wanted);
    return 0;
}

int db_find_waits(struct db_conn *conn, int64_t project_id, const struct workload_spec *spec, struct arena *arena,
                  const char **out_waits_for, struct error *err)
{
    const char *waits = NULL, *never = NULL;
    for (size_t i = 0; i < spec->after_count; i++) {
        const struct workload_after *after = &spec->after[i];
        sqlite3_stmt *stmt;
        if (prepare_end(conn, SQL_FIND_END, project_id, after, &stmt, err) < 0)
            return -1;
        int rc = db_step(conn, stmt, err);
        const char *state = rc == 1 ? db_column_text(stmt, 0, arena) : NULL;
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
        if (!state)
            return say_unknown_end(i, after->name, err);
        const char **which = strcmp(state, "waits") == 0 ? &waits : strcmp(state, "never") == 0 ? &never : NULL;
        if (which && !*which)
            *which = arena_printf(arena, "%s %s %s", state, after->wanted, after->name);
    }
    *out_waits_for = never ? never : waits;
    return 0;
}

static int add_dependencies(struct db_conn *conn, const struct submission *submission, int64_t id, struct error *err)
{
    for (size_t i = 0; i < submission->spec->after_count; i++) {
        const struct workload_after *after = &submission->spec->after[i];
        sqlite3_stmt *stmt;
        if (prepare_end(conn, SQL_ADD_DEPENDENCY, submission->project_id, after, &stmt, err) < 0)
            return -1;
        db_bind_int(stmt, 4, id);
        int rc = db_run(conn, stmt, err);
        int64_t added = rc == 0 ? db_changed_rows(conn) : 0;
        db_release(conn, stmt);
        if (rc < 0)
            return -1;
        if (added == 0)
            return say_unknown_end(i, after->name, err);
    }
    return 0;
}

int db_insert_workload(struct db_conn *conn, const struct submission *submission, struct error *err)
{
    if (insert_row(conn, submission, err) < 0)
        return -1;
    int64_t id = db_last_insert_id(conn);
    if (add_dependencies(conn, submission, id, err) < 0)
        return -1;
    db_touch(conn, CHANGE_WORKLOAD, submission->uuid);
    struct event event = {
        .workload_id = id,
        .workload_uuid = submission->uuid,
        .time_ms = submission->now_ms,
        .type = EVENT_NORMAL,
        .reason = "Submitted",
        .source = "control-plane",
        .object_kind = "Workload",
        .object_name = submission->name,
        .object_uuid = submission->uuid,
    };
    struct arena arena;
    arena_init(&arena);
    event.message = arena_printf(&arena, "%s submitted %s%s%s", submission->created_by, submission->name,
                                 submission->note ? "; " : "", submission->note ? submission->note : "");
    int rc = db_add_event(conn, &event, err);
    arena_done(&arena);
    if (rc < 0)
        return -1;
    if (db_add_phase_record(conn, id, submission->now_ms, phase_text(PHASE_CREATING), "", err) < 0)
        return -1;
    return add_pods(conn, submission, id, err);
}

static void read_state(sqlite3_stmt *stmt, struct arena *arena, struct workload_state *out_state)
{
    *out_state = (struct workload_state){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .name = db_column_text(stmt, 2, arena),
        .type = db_column_text(stmt, 3, arena),
        .scope = {.cluster_id = db_column_int(stmt, 4),
                  .department_id = db_column_int(stmt, 5),
                  .project_id = db_column_int(stmt, 6)},
        .cluster_uuid = db_column_text(stmt, 7, arena),
        .project_name = db_column_text(stmt, 8, arena),
        .department_name = db_column_text(stmt, 9, arena),
        .namespace_name = db_column_text(stmt, 10, arena),
        .created_by = db_column_text(stmt, 11, arena),
        .desired_phase = db_column_text(stmt, 12, arena),
        .phase = phase_parse(db_column_text(stmt, 13, arena)),
        .phase_updated_ms = db_column_int(stmt, 14),
        .created_ms = db_column_int(stmt, 15),
        .deleted_ms = db_column_int(stmt, 16),
        .machine_user = db_column_text(stmt, 17, arena),
    };
}

int db_find_workload(struct db_conn *conn, const char *uuid, const char *type, struct arena *arena,
                     struct workload_state *out_state, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_FIND_WORKLOAD, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    struct workload_state state;
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        read_state(stmt, arena, &state);
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    if (rc == 0 || (type && strcmp(state.type, type) != 0))
        return error_set(err, ERROR_NOT_FOUND, "workload %.40s: not found", uuid);
    *out_state = state;
    return 0;
}

int db_set_phase(struct db_conn *conn, int64_t workload_id, const char *workload_uuid, enum workload_phase phase,
                 const char *message, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt;
    struct arena arena;
    if (db_prepare(conn, SQL_FIND_PHASE, &stmt, err) < 0)
        return -1;
    arena_init(&arena);
    db_bind_int(stmt, 1, workload_id);
    int rc = db_step(conn, stmt, err);
    enum workload_phase before = rc == 1 ? phase_parse(db_column_text(stmt, 0, &arena)) : PHASE_UNKNOWN;
    int64_t since_ms = rc == 1 ? db_column_int(stmt, 1) : 0;
    db_release(conn, stmt);
    arena_done(&arena);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no workload with number %" PRId64, workload_id);
    if (before == phase)
        return 0;
    int64_t spent_ms = now_ms > since_ms ? now_ms - since_ms : 0;
    if (db_prepare(conn, SQL_SET_PHASE, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_text(stmt, 2, phase_text(phase));
    db_bind_text(stmt, 3, message);
    db_bind_int(stmt, 4, now_ms);
    db_bind_int(stmt, 5, phase_is_pending(before) ? spent_ms : 0);
    db_bind_int(stmt, 6, phase_is_running(before) ? spent_ms : 0);
    db_bind_int(stmt, 7, db_revision(conn));
    rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    db_touch(conn, CHANGE_WORKLOAD, workload_uuid);
    return db_add_phase_record(conn, workload_id, now_ms, phase_text(phase), message, err);
}

struct wish_rule {
    const char *desired_phase;
    enum workload_phase phase; // shown at once
    const char *reason;
    const char *verb;
};

static const struct wish_rule WISH_RULES[] = {
    [WISH_RUNNING] = {"Running", PHASE_RESUMING, "Resumed", "resumed"},
    [WISH_STOPPED] = {"Stopped", PHASE_STOPPING, "Suspended", "suspended"},
    [WISH_DELETED] = {"Deleted", PHASE_DELETING, "DeletionRequested", "deleted"},
};

static int set_wish(struct db_conn *conn, const struct workload_state *state, const char *desired_phase,
                    const char *caller_name, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SET_WISH, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, state->id);
    db_bind_text(stmt, 2, desired_phase);
    db_bind_text(stmt, 3, caller_name);
    db_bind_int(stmt, 4, now_ms);
    db_bind_int(stmt, 5, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_WORKLOAD, state->uuid);
    return rc;
}

int db_wish_workload(struct db_conn *conn, const struct workload_state *state, enum workload_wish wish,
                     const char *caller_name, int64_t now_ms, struct error *err)
{
    const struct wish_rule *rule = &WISH_RULES[wish];
    if (wish == WISH_RUNNING && phase_is_final(state->phase))
        return error_set(err, ERROR_INVALID, "workload %s: %s, it can only be deleted", state->name,
                         phase_text(state->phase));
    bool is_too_late =
        wish != WISH_DELETED && (strcmp(state->desired_phase, "Deleted") == 0 || phase_is_final(state->phase));
    if (is_too_late || strcmp(state->desired_phase, rule->desired_phase) == 0)
        return 0;
    char message[512];
    struct event event = {
        .workload_id = state->id,
        .workload_uuid = state->uuid,
        .time_ms = now_ms,
        .type = EVENT_NORMAL,
        .reason = rule->reason,
        .message = message,
        .source = "control-plane",
        .object_kind = "Workload",
        .object_name = state->name,
        .object_uuid = state->uuid,
    };
    snprintf(message, sizeof(message), "%.300s %s %s", caller_name, rule->verb, state->name);
    char phase_message[400];
    snprintf(phase_message, sizeof(phase_message), "%s by %.300s", rule->reason, caller_name);
    if (set_wish(conn, state, rule->desired_phase, caller_name, now_ms, err) < 0)
        return -1;
    if (!phase_is_final(state->phase) && // what is deleted still says how it ended
        db_set_phase(conn, state->id, state->uuid, rule->phase, phase_message, now_ms, err) < 0)
        return -1;
    return db_add_event(conn, &event, err);
}
