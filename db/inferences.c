#include "db/inferences.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events.h"
#include "model/submission.h"

#include <inttypes.h>

static const char SQL_READ[] = "SELECT spec_json, serving_json, requested_name, generation FROM workloads"
                               " WHERE id = ? AND serving_json IS NOT NULL";
static const char SQL_CHANGE[] =
    "UPDATE workloads SET spec_json = :spec_json, serving_json = :serving_json, category = :category,"
    " priority = :priority, priority_class = :priority_class, preemptible = :preemptible,"
    " node_pools_json = :node_pools_json, gpu_request_type = :gpu_request_type, gpu_requested_milli = :gpu_milli,"
    " cpu_requested_milli = :cpu_milli, memory_requested_bytes = :memory_bytes, generation = generation + :is_new,"
    " listing_json = (SELECT substr(j, 2, length(j) - 2) FROM"
    " (SELECT json_set('{' || :listing_json || '}', '$.requestedPods.number', workloads.pods_wanted,"
    " '$.source', ('{' || workloads.listing_json || '}') ->> '$.source') AS j)),"
    " pools_json = iif(current_node_pools_json = '[]',"
    " coalesce(json_extract('{' || :listing_json || '}', '$.requestedNodePools'), '[]'), pools_json),"
    " pool = iif(current_node_pools_json = '[]',"
    " coalesce(json_extract('{' || :listing_json || '}', '$.requestedNodePools[0]'), ''), pool),"
    " updated_by = :caller_name, updated_ms = :now_ms, revision = :revision"
    " WHERE id = :id AND generation = :generation AND spec_json = :old_spec_json AND deleted_ms = 0"
    " AND desired_phase <> 'Deleted'";

int db_read_inference(struct db_conn *conn, int64_t workload_id, struct arena *arena, struct inference_row *out_row,
                      struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_READ, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_row = (struct inference_row){
            .spec_json = db_column_text(stmt, 0, arena),
            .serving_json = db_column_text(stmt, 1, arena),
            .requested_name = db_column_text(stmt, 2, arena),
            .generation = db_column_int(stmt, 3),
        };
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no inference with number %" PRId64, workload_id);
    return rc < 0 ? -1 : 0;
}

static int update_row(struct db_conn *conn, const struct inference_change *change, struct error *err)
{
    const struct submission *submission = change->submission;
    const struct workload_spec *spec = submission->spec;
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_CHANGE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":spec_json", submission->spec_json);
    db_set_text(stmt, ":old_spec_json", change->old_spec_json);
    db_set_text(stmt, ":serving_json", submission->serving_json);
    db_set_text(stmt, ":category", spec->category);
    db_set_int(stmt, ":priority", spec->priority);
    db_set_text(stmt, ":priority_class", spec->priority_class);
    db_set_int(stmt, ":preemptible", spec->is_preemptible);
    db_set_text(stmt, ":node_pools_json", submission->node_pools_json);
    db_set_text(stmt, ":gpu_request_type", spec->gpu_request_type);
    db_set_int(stmt, ":gpu_milli", spec->gpu_milli);
    db_set_int(stmt, ":cpu_milli", spec->cpu_milli);
    db_set_int(stmt, ":memory_bytes", spec->memory_bytes);
    db_set_int(stmt, ":is_new", change->is_new_generation);
    db_set_text(stmt, ":listing_json", submission->listing_json);
    db_set_text(stmt, ":caller_name", change->caller_name);
    db_set_int(stmt, ":now_ms", change->now_ms);
    db_set_int(stmt, ":revision", db_revision(conn));
    db_set_int(stmt, ":id", change->workload->id);
    db_set_int(stmt, ":generation", change->generation);
    int rc = db_run(conn, stmt, err);
    int64_t changed = rc == 0 ? db_changed_rows(conn) : 0;
    db_release(conn, stmt);
    if (rc == 0 && changed == 0)
        return error_set(err, ERROR_CONFLICT, "workload %s: has changed meanwhile; try again", change->workload->uuid);
    return rc;
}

static int add_event(struct db_conn *conn, const struct inference_change *change, struct error *err)
{
    const char *note = change->submission->note;
    struct arena arena;
    arena_init(&arena);
    struct event event = {.workload_id = change->workload->id,
                          .workload_uuid = change->workload->uuid,
                          .time_ms = change->now_ms,
                          .type = EVENT_NORMAL,
                          .reason = "Updated",
                          .message = arena_printf(&arena, "%s changed %s of %s%s%s", change->caller_name, change->what,
                                                  change->workload->name, note ? "; " : "", note ? note : ""),
                          .source = "control-plane",
                          .object_kind = "Workload",
                          .object_name = change->workload->name,
                          .object_uuid = change->workload->uuid};
    int rc = db_add_event(conn, &event, err);
    arena_done(&arena);
    return rc;
}

int db_change_inference(struct db_conn *conn, const struct inference_change *change, struct error *err)
{
    if (update_row(conn, change, err) < 0)
        return -1;
    db_touch(conn, CHANGE_WORKLOAD, change->workload->uuid);
    if (add_event(conn, change, err) < 0)
        return -1;
    return phase_is_running(change->workload->phase)
               ? db_set_phase(conn, change->workload->id, change->workload->uuid, PHASE_UPDATING,
                              "Its specification has changed", change->now_ms, err)
               : 0;
}
