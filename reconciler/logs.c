#include "base/error.h"
#include "db/db.h"
#include "model/pod.h"
#include "reconciler/state.h"
#include "reconciler/world/world_json.h"

#include <stdio.h>
#include <string.h>

enum {
    LOG_BYTES_MAXIMUM = 1 << 20
};

static int find_pod(struct db_conn *conn, const struct reconciler_log_request *request, struct arena *arena,
                    struct backend_pod *out_pod, struct error *err)
{
    struct workload_pod_row row;
    struct pod_context context;
    const struct pod_search search = {
        .uuid = request->pod_uuid, .name = request->pod_name, .previous = request->previous};
    int found = db_find_pod_for_logs(conn, request->workload_id, &search, arena, &row, err);
    if (found < 0)
        return -1;
    if (found == 0)
        return error_set(err, ERROR_NOT_FOUND, "pod: the workload has no such pod");
    if (db_read_pod_context(conn, request->workload_id, row.role, arena, &context, err) < 0)
        return -1;
    uint32_t *indices;
    size_t index_count = world_json_numbers(row.gpu_indices_json, arena, &indices);
    *out_pod = (struct backend_pod){
        .uuid = arena_strdup(arena, row.facts.uuid),
        .name = row.facts.name,
        .role = row.role,
        .index = row.facts.pod_index,
        .attempt = row.facts.attempt,
        .workload_uuid = context.workload_uuid,
        .workload_name = context.workload_name,
        .workload_type = context.workload_type,
        .workload_pods = context.pods_wanted,
        .project_name = context.project_name,
        .project_number = context.project_number,
        .namespace = context.namespace,
        .spec_json = context.spec_json,
        .workload_spec_json = context.workload_spec_json,
        .submitted_by = context.submitted_by,
        .machine_user = context.machine_user,
        .node_name = row.node_name,
        .gpu_indices = indices,
        .gpu_index_count = index_count,
        .gpu_milli = row.facts.gpu_allocated_milli,
        .grace_ms = context.grace_period_ms,
        .scheduled_ms = row.facts.scheduled_ms,
        .started_ms = row.facts.started_ms,
        .stopping_ms = row.facts.stopping_ms,
        .completed_ms = row.facts.completed_ms ? row.facts.completed_ms : row.facts.deleted_ms,
    };
    return 0;
}

int reconciler_check_spec(const struct reconciler *reconciler, const struct reconciler_spec *spec, struct error *err)
{
    const struct backend *backend = reconciler->backend;
    struct backend_pod pod = {.project_name = spec->project_name,
                              .project_number = spec->project_number,
                              .submitted_by = spec->submitted_by,
                              .machine_user = spec->machine_user,
                              .spec_json = spec->spec_json};
    return backend->ops->check ? backend->ops->check(backend->self, &pod, err) : 0;
}

int reconciler_find_log_pod(struct reconciler *reconciler, const struct reconciler_log_request *request,
                            const char *uuid_before, struct arena *arena, struct reconciler_log_pod *out_pod,
                            struct error *err)
{
    struct workload_pod_row row;
    const struct pod_search search = {.uuid = uuid_before ? NULL : request->pod_uuid,
                                      .uuid_before = uuid_before,
                                      .name = request->pod_name,
                                      .previous = request->previous};
    struct db_conn *conn = db_acquire(reconciler->db);
    int found = db_find_pod_for_logs(conn, request->workload_id, &search, arena, &row, err);
    db_give_back(reconciler->db, conn);
    if (found <= 0)
        return found;
    *out_pod = (struct reconciler_log_pod){.attempt = row.facts.attempt,
                                           .reason = arena_strdup(arena, row.facts.reason),
                                           .has_started = row.facts.started_ms != 0};
    snprintf(out_pod->name, sizeof(out_pod->name), "%s", row.facts.name);
    memcpy(out_pod->uuid, row.facts.uuid, sizeof(out_pod->uuid));
    return 1;
}

int reconciler_read_logs(struct reconciler *reconciler, const struct reconciler_log_request *request,
                         struct buffer *out, int64_t *out_position, bool *out_ended, struct error *err)
{
    struct arena arena;
    struct backend_log_request asked = {
        .position = request->position,
        .since_ms = request->since_ms,
        .tail = request->tail,
        .now_ms = reconciler_now(reconciler),
        .timestamps = request->timestamps,
        .max_bytes = request->max_bytes ? request->max_bytes : LOG_BYTES_MAXIMUM,
    };
    arena_init(&arena);
    struct db_conn *conn = db_acquire(reconciler->db);
    int rc = find_pod(conn, request, &arena, &asked.pod, err);
    db_give_back(reconciler->db, conn);
    if (rc == 0)
        rc = reconciler->backend->ops->logs(reconciler->backend->self, &asked, out, out_position, out_ended, err);
    arena_done(&arena);
    return rc;
}

static struct backend_caller caller_of(const struct reconciler_caller *caller)
{
    return (struct backend_caller){caller->name, caller->machine_user, caller->is_root, caller->uuid,
                                   caller->is_administrator};
}

int reconciler_check_caller(struct reconciler *reconciler, int64_t workload_id, const struct reconciler_caller *caller,
                            struct error *err)
{
    const struct backend *backend = reconciler->backend;
    struct arena arena;
    struct pod_context context;
    if (!backend->ops->check_caller)
        return 0;
    arena_init(&arena);
    struct db_conn *conn = db_acquire(reconciler->db);
    int rc = db_read_pod_context(conn, workload_id, POD_ROLE_TEXT_WORKER, &arena, &context, err);
    db_give_back(reconciler->db, conn);
    if (rc == 0) {
        struct backend_pod pod = {.project_name = context.project_name,
                                  .project_number = context.project_number,
                                  .submitted_by = context.submitted_by,
                                  .machine_user = context.machine_user};
        struct backend_caller asks = caller_of(caller);
        rc = backend->ops->check_caller(backend->self, &pod, &asks, err);
    }
    arena_done(&arena);
    return rc < 0 ? -1 : 0;
}

int reconciler_open_session(struct reconciler *reconciler, const struct reconciler_session_request *request,
                            struct arena *arena, struct reconciler_session *out, struct error *err)
{
    const struct backend *backend = reconciler->backend;
    struct reconciler_log_request wanted = {.workload_id = request->workload_id, .pod_name = request->pod_name};
    struct backend_session_request asked = {.words = request->words,
                                            .has_terminal = request->has_terminal,
                                            .rows = request->rows,
                                            .columns = request->columns,
                                            .caller = caller_of(&request->caller)};
    struct backend_session session;
    struct db_conn *conn = db_acquire(reconciler->db);
    int rc = find_pod(conn, &wanted, arena, &asked.pod, err);
    db_give_back(reconciler->db, conn);
    if (rc < 0)
        return -1;
    if (!backend->ops->open_session)
        return error_set(err, ERROR_CONFLICT, "pods of the %s backend have nothing to run a shell in",
                         backend->ops->name);
    if (backend->ops->open_session(backend->self, &asked, &session, err) < 0)
        return error_prefix(err, "%s: ", asked.pod.name);
    *out = (struct reconciler_session){session.input_fd, session.output_fd, session.error_fd, session.control_fd,
                                       asked.pod.name};
    return 0;
}

int reconciler_open_port(struct reconciler *reconciler, const struct reconciler_port_request *request,
                         struct arena *arena, struct reconciler_port *out, struct error *err)
{
    const struct backend *backend = reconciler->backend;
    struct reconciler_log_request wanted = {
        .workload_id = request->workload_id, .pod_name = request->pod_name, .pod_uuid = request->pod_uuid};
    struct backend_port_request asked = {.port = request->port, .caller = caller_of(&request->caller)};
    struct db_conn *conn = db_acquire(reconciler->db);
    int rc = find_pod(conn, &wanted, arena, &asked.pod, err);
    db_give_back(reconciler->db, conn);
    if (rc < 0)
        return -1;
    if (!backend->ops->open_port)
        return error_set(err, ERROR_CONFLICT, "pods of the %s backend have no ports", backend->ops->name);
    if (backend->ops->open_port(backend->self, &asked, &out->fd, err) < 0)
        return error_prefix(err, "%s: ", asked.pod.name);
    out->pod_name = asked.pod.name;
    return 0;
}
