// POST /admin/pods/{podId}/adopt: rows for what runs without one, made of what was noted when it was started.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "api/workloads/workload_submission.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/adoption.h"
#include "db/db.h"
#include "reconciler/outcome/pod_record.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICES_MAX = 64,
    GRACE_MS = 30 * 1000 // as of a workload that says nothing of it
};

// What is to be adopted: all pods of one workload that run without a row.
struct adopting {
    struct reconciler_stray *strays;
    struct pod_record *records;
    size_t count;
    json_t *body; // of the submission; NULL until it is read
};

static void done_adopting(struct adopting *adopting)
{
    for (size_t i = 0; i < adopting->count; i++)
        pod_record_done(&adopting->records[i]);
    json_decref(adopting->body);
}

// A pod of a release that noted little: what it holds and whose it is. It never starts again and gives way to nobody,
// for its command is not known.
static int guess_record(const struct reconciler_stray *stray, struct request *req, struct pod_record *out,
                        struct error *err)
{
    char uuid[UUID_SIZE];
    json_t *json = json_object(), *spec = json_object();
    if (stray->gpus == UINT64_MAX || !*stray->workload_name) {
        json_decref(json);
        json_decref(spec);
        return error_set(err, ERROR_CONFLICT, "pod %s: its folder is lost, so nobody knows what it is: end it",
                         stray->uuid);
    }
    uuid_create(uuid);
    json_object_set_new(json, "spec", spec);
    *out = (struct pod_record){.role = POD_ROLE_TEXT_WORKER,
                               .gpu_indices = arena_array(req->arena, DEVICES_MAX, sizeof(*out->gpu_indices)),
                               .gpu_indices_json = "",
                               .gpu_groups_json = "[]",
                               .scheduled_ms = stray->since_ms,
                               .workload_uuid = arena_strdup(req->arena, uuid),
                               .workload_name = stray->workload_name,
                               .requested_name = stray->workload_name,
                               .workload_type = workload_type_text(WORKLOAD_TYPE_TRAINING),
                               .created_by = req->caller->name,
                               .created_ms = stray->since_ms,
                               .grace_ms = GRACE_MS,
                               .project_name = stray->project_name,
                               .spec = spec,
                               .json = json};
    for (uint32_t i = 0; i < DEVICES_MAX; i++)
        if (stray->gpus >> i & 1) {
            out->gpu_indices_json =
                arena_printf(req->arena, "%s%s%u", out->gpu_indices_json, out->gpu_index_count ? "," : "", i);
            out->gpu_indices[out->gpu_index_count++] = i;
        }
    out->gpu_indices_json = arena_printf(req->arena, "[%s]", out->gpu_indices_json);
    out->gpu_milli = (int64_t)out->gpu_index_count * 1000;
    json_object_set_new(spec, "image", json_string("unknown"));
    json_object_set_new(spec, "backoffLimit", json_integer(0));
    json_object_set_new(spec, "preemptibility", json_string("non-preemptible"));
    if (out->gpu_index_count)
        json_object_set_new(spec, "compute", json_pack("{s:I}", "gpuDevicesRequest", (json_int_t)out->gpu_index_count));
    return 0;
}

static const struct reconciler_stray *find_stray(const struct reconciler_stray *strays, size_t count, const char *uuid)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(strays[i].uuid, uuid) == 0)
            return &strays[i];
    return NULL;
}

static void add(struct adopting *adopting, const struct reconciler_stray *stray, const struct pod_record *record)
{
    adopting->strays[adopting->count] = *stray;
    adopting->records[adopting->count++] = *record;
}

static int gather(struct request *req, struct adopting *out, struct error *err)
{
    struct reconciler_stray *strays;
    struct pod_record record;
    const char *uuid = request_path(req, "podId");
    size_t count = reconciler_list_strays(req->server->reconciler, req->arena, &strays);
    const struct reconciler_stray *first = find_stray(strays, count, uuid);
    *out = (struct adopting){.strays = arena_array(req->arena, count, sizeof(*out->strays)),
                             .records = arena_array(req->arena, count, sizeof(*out->records))};
    if (!first)
        return error_set(err, ERROR_NOT_FOUND, "pod %s: not among those that run without a row", uuid);
    if (first->is_ending)
        return error_set(err, ERROR_CONFLICT, "pod %s was told to stop", uuid);
    int rc = first->record ? pod_record_read(first->record, req->arena, &record, err)
                           : guess_record(first, req, &record, err);
    if (rc < 0)
        return -1;
    add(out, first, &record);
    for (size_t i = 0; i < count && first->record; i++) {
        struct error ignored = {0};
        if (&strays[i] == first || !strays[i].record || strays[i].is_ending ||
            pod_record_read(strays[i].record, req->arena, &record, &ignored) < 0)
            continue;
        if (strcmp(record.workload_uuid, out->records[0].workload_uuid) == 0)
            add(out, &strays[i], &record);
        else
            pod_record_done(&record);
    }
    return 0;
}

static int find_project(struct request *req, const struct pod_record *record, int64_t *out_id, struct error *err)
{
    const char *wanted = json_string_value(json_object_get(req->body, "projectId"));
    struct workload_place place;
    char *end = NULL;
    int rc;
    struct db_conn *conn = db_acquire(req->server->db);
    if (wanted) {
        *out_id = strtoll(wanted, &end, 10);
        rc = *end ? 0 : db_find_workload_place(conn, *out_id, req->arena, &place, err);
    } else {
        rc = db_find_project_for_adoption(conn, record->project_name, record->project_number, out_id, err);
    }
    db_give_back(req->server->db, conn);
    if (rc == 0 && wanted)
        error_set(err, ERROR_INVALID, "projectId: no project %.40s", wanted);
    else if (rc == 0)
        error_set(err, ERROR_CONFLICT, "project %s, to which it was submitted, is no more: name another (projectId)",
                  record->project_name);
    return rc == 1 ? 0 : -1;
}

static const char *cluster_of(struct request *req, int64_t project_id, struct error *err)
{
    struct workload_place place = {.cluster_uuid = NULL};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_workload_place(conn, project_id, req->arena, &place, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        error_set(err, ERROR_CONFLICT, "the project is no more");
    return rc == 1 ? place.cluster_uuid : NULL;
}

// The submission as it was.
static int read_submission(struct request *req, struct adopting *adopting, int64_t project_id,
                           struct prepared_submission *out, struct error *err)
{
    const struct pod_record *record = &adopting->records[0];
    enum workload_type type;
    const char *cluster = cluster_of(req, project_id, err);
    if (!cluster)
        return -1;
    if (!workload_type_parse(record->workload_type, &type))
        return error_set(err, ERROR_CONFLICT, "workload %s is of a kind that this release does not know",
                         record->workload_name);
    json_t *body = adopting->body = json_pack("{s:s, s:o, s:s, s:o}", "name", record->workload_name, "projectId",
                                              json_string(arena_printf(req->arena, "%" PRId64, project_id)),
                                              "clusterId", cluster, "spec", json_deep_copy(record->spec));
    if (type == WORKLOAD_TYPE_DISTRIBUTED && record->master_spec)
        json_object_set_new(body, "masterSpec", json_deep_copy(record->master_spec));
    else if (type == WORKLOAD_TYPE_DISTRIBUTED)
        json_object_set_new(body, "masterSpecSameAsWorker", json_boolean(record->has_master));
    if (workload_submission_read(req, body, type, out, err) < 0)
        return -1;
    struct submission *submission = &out->submission;
    submission->uuid = out->listing.uuid = record->workload_uuid;
    submission->name = out->listing.name = record->workload_name;
    submission->requested_name = record->requested_name;
    submission->created_by = out->listing.created_by = record->created_by;
    submission->machine_user = record->machine_user;
    submission->now_ms = out->listing.created_ms = record->created_ms ? record->created_ms : req->received_ms;
    out->listing.is_by_cli = false; // who adopts it says nothing of how it came
    if (workload_submission_take_address(req, out, err) < 0)
        return -1;
    submission->listing_json = workload_listing_text(&out->listing, req->arena);
    out->envelope.name = record->workload_name;
    return 0;
}

static int write_adoption(struct db_conn *conn, void *context, struct error *err)
{
    return db_adopt(conn, context, err);
}

static int store(struct request *req, const struct adopting *adopting, const struct submission *submission,
                 struct error *err)
{
    struct adopted_pod *pods = arena_array(req->arena, adopting->count, sizeof(*pods));
    for (size_t i = 0; i < adopting->count; i++) {
        const struct pod_record *record = &adopting->records[i];
        const struct reconciler_stray *stray = &adopting->strays[i];
        pods[i] = (struct adopted_pod){.uuid = stray->uuid,
                                       .role = record->role,
                                       .index = record->index,
                                       .attempt = record->attempt,
                                       .gpu_indices_json = record->gpu_indices_json,
                                       .gpu_groups_json = record->gpu_groups_json,
                                       .gpu_milli = record->gpu_milli,
                                       .scheduled_ms = record->scheduled_ms,
                                       .started_ms = stray->since_ms ? stray->since_ms : record->scheduled_ms};
    }
    struct adoption adoption = {.workload_uuid = submission->uuid,
                                .submission = submission,
                                .pods = pods,
                                .pod_count = adopting->count,
                                .node_name = adopting->strays[0].node_name,
                                .caller_name = req->caller->name,
                                .now_ms = req->received_ms};
    return db_write(req->server->db, write_adoption, &adoption, err);
}

static void tell_backend(struct request *req, const struct adopting *adopting, const char *project_name)
{
    struct reconciler_adopted *pods = arena_array(req->arena, adopting->count, sizeof(*pods));
    for (size_t i = 0; i < adopting->count; i++)
        pods[i] = (struct reconciler_adopted){.uuid = adopting->strays[i].uuid,
                                              .workload_uuid = adopting->records[i].workload_uuid,
                                              .project_name = project_name,
                                              .gpu_indices = adopting->records[i].gpu_indices,
                                              .gpu_index_count = adopting->records[i].gpu_index_count,
                                              .gpu_milli = adopting->records[i].gpu_milli,
                                              .grace_ms = adopting->records[i].grace_ms};
    reconciler_adopt_strays(req->server->reconciler, pods, adopting->count);
}

static void write_answer(const struct request *req, struct response *res, const struct adopting *adopting,
                         int64_t project_id)
{
    struct json_writer json;
    const struct pod_record *record = &adopting->records[0];
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "workloadId", record->workload_uuid);
    json_text(&json, "name", record->workload_name);
    json_text(&json, "projectId", arena_printf(req->arena, "%" PRId64, project_id));
    json_text(&json, "type", record->workload_type);
    json_key(&json, "pods");
    json_begin_array(&json);
    for (size_t i = 0; i < adopting->count; i++)
        json_value_text(&json, adopting->strays[i].uuid);
    json_end_array(&json);
    json_end_object(&json);
}

int op_adopt_stray_pod(struct request *req, struct response *res, struct error *err)
{
    struct adopting adopting = {0};
    struct prepared_submission prepared;
    int64_t project_id = 0;
    if (access_check_tenant(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, err) < 0)
        return -1;
    int rc = gather(req, &adopting, err);
    if (rc == 0)
        rc = find_project(req, &adopting.records[0], &project_id, err);
    if (rc == 0)
        rc = read_submission(req, &adopting, project_id, &prepared, err);
    if (rc == 0)
        rc = store(req, &adopting, &prepared.submission, err);
    if (rc == 0) {
        tell_backend(req, &adopting, prepared.place.project_name);
        write_answer(req, res, &adopting, project_id);
    }
    done_adopting(&adopting);
    return rc;
}
