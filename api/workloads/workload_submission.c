#include "api/workloads/workload_submission.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "api/workloads/submission_policy.h"
#include "api/workloads/submission_template.h"
#include "api/workloads/submission_topologies.h"
#include "api/workloads/submitted_workload.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_types.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/workloads.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/project_rules.h"
#include "model/workload_listing.h"
#include "model/workload_spec.h"
#include "reconciler/reconciler.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUFFIX_LENGTH = 5,
    NAME_TRIES = 4,
};

static int read_name(const struct fields *top, struct submission_envelope *out)
{
    if (fields_text(top, "name", &out->name) < 0 || fields_bool(top, "useGivenNameAsPrefix", &out->is_prefix) < 0)
        return -1;
    if (!out->name)
        return fields_fail(top, "name", "required");
    size_t maximum = out->is_prefix ? NAME_MAX_LENGTH - SUFFIX_LENGTH - 1 : NAME_MAX_LENGTH;
    if (strlen(out->name) > maximum)
        return fields_fail(top, "name", "at most %zu characters, got %zu", maximum, strlen(out->name));
    if (!name_is_good(out->name))
        return fields_fail(top, "name",
                           "a lower-case letter, then lower-case letters, digits and -, not at the end; got %.80s",
                           out->name);
    return 0;
}

static int read_envelope(const struct fields *top, struct submission_envelope *out)
{
    const char *project = NULL;
    if (read_name(top, out) < 0 || fields_text(top, "projectId", &project) < 0 ||
        fields_text(top, "clusterId", &out->cluster_uuid) < 0 || fields_bool(top, "suspend", &out->is_suspended) < 0)
        return -1;
    if (!project)
        return fields_fail(top, "projectId", "required");
    if (!out->cluster_uuid)
        return fields_fail(top, "clusterId", "required");
    char *end;
    errno = 0;
    out->project_id = strtoll(project, &end, 10);
    if (errno || *end || out->project_id <= 0 || project[0] < '0' || project[0] > '9')
        return fields_fail(top, "projectId", "no project %.40s", project);
    return 0;
}

// The contract of submissions has no 404: an unknown project, or one that the caller cannot see, is a wrong field.
static int check_place(const struct request *req, const struct fields *top, const struct submission_envelope *envelope,
                       const struct workload_place *place, enum workload_type type)
{
    struct error *err = top->err;
    if (access_check(req, &place->scope, WORKLOAD_KINDS[type]->resource, envelope->action,
                     arena_printf(req->arena, "project %" PRId64, envelope->project_id), err) < 0) {
        if (err->code == ERROR_NOT_FOUND)
            return fields_fail(top, "projectId", "no project %" PRId64, envelope->project_id);
        return -1;
    }
    if (place->is_deleting)
        return fields_fail(top, "projectId", "project %s is being deleted", place->project_name);
    if (strcasecmp(place->cluster_uuid, envelope->cluster_uuid) != 0)
        return fields_fail(top, "clusterId", "project %s is in cluster %s, not in %.40s", place->project_name,
                           place->cluster_uuid, envelope->cluster_uuid);
    return 0;
}

static int check_node_pools(struct db_conn *conn, const struct workload_place *place, const struct workload_spec *spec,
                            struct error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < spec->node_pool_count; i++) {
        bool found;
        rc = db_has_node_pool(conn, place->scope.cluster_id, spec->node_pools[i], &found, err);
        if (rc == 0 && !found)
            rc = error_set(err, ERROR_INVALID, "spec.nodePools[%zu]: the cluster has no node pool %.60s", i,
                           spec->node_pools[i]);
    }
    return rc;
}

// Node pools, network topologies, workloads that are to end first: what it names must be there.
static int check_names(struct request *req, const struct workload_place *place, int64_t project_id,
                       const struct workload_spec *spec, const char **out_waits_for, struct error *err)
{
    struct db *db = req->server->db;
    struct db_conn *conn = db_acquire(db);
    int rc = check_node_pools(conn, place, spec, err);
    if (rc == 0)
        rc = submission_topologies_check(conn, place->scope.cluster_id, spec, req->arena, err);
    if (rc == 0)
        rc = db_find_waits(conn, project_id, spec, req->arena, out_waits_for, err);
    db_give_back(db, conn);
    return rc;
}

static int find_place(struct request *req, const struct fields *top, const struct submission_envelope *envelope,
                      enum workload_type type, struct workload_place *out_place)
{
    struct db *db = req->server->db;
    struct db_conn *conn = db_acquire(db);
    int rc = db_find_workload_place(conn, envelope->project_id, req->arena, out_place, top->err);
    if (rc == 0)
        rc = fields_fail(top, "projectId", "no project %" PRId64, envelope->project_id);
    else if (rc == 1)
        rc = check_place(req, top, envelope, out_place, type);
    db_give_back(db, conn);
    return rc;
}

static const char *with_suffix(const char *prefix, struct arena *arena)
{
    static const char LETTERS[] = "bcdfghjklmnpqrstvwxz2456789"; // no vowels: no words
    char suffix[SUFFIX_LENGTH + 1] = "";
    for (int i = 0; i < SUFFIX_LENGTH; i++)
        suffix[i] = LETTERS[randombytes_uniform(sizeof(LETTERS) - 1)];
    return arena_printf(arena, "%s-%s", prefix, suffix);
}

// What the list shows as asked: the workload's own, else the project's, else the pool that every cluster has.
static void list_node_pools(struct workload_listing *listing, const struct workload_place *place, struct arena *arena)
{
    static const char *const DEFAULT_POOLS[] = {"default"};
    listing->node_pools = listing->spec->node_pools;
    listing->node_pool_count = listing->spec->node_pool_count;
    if (listing->node_pool_count > 0)
        return;
    json_t *pools = place->default_node_pools_json ? json_loads(place->default_node_pools_json, 0, NULL) : NULL;
    size_t count = json_array_size(pools);
    const char **names = arena_array(arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(pools, i));
        names[i] = arena_strdup(arena, name ? name : "");
    }
    json_decref(pools);
    listing->node_pools = count ? names : DEFAULT_POOLS;
    listing->node_pool_count = count ? count : 1;
}

static const char *node_pools_text(const struct workload_spec *spec, const json_t *spec_json, struct arena *arena)
{
    return spec->node_pool_count ? workload_spec_text(json_object_get(spec_json, "nodePools"), arena) : NULL;
}

struct insertion {
    const struct submission *submission;
    const struct workload_bounds *bounds;
    bool is_suspended;
    struct arena *arena;
};

static int insert_workload(struct db_conn *conn, void *context, struct error *err)
{
    const struct insertion *insertion = context;
    const struct submission *submission = insertion->submission;
    if (db_check_workload_counts(conn, submission, insertion->bounds, err) < 0 ||
        db_insert_workload(conn, submission, err) < 0)
        return -1;
    if (!insertion->is_suspended)
        return 0;
    struct workload_state state;
    if (db_find_workload(conn, submission->uuid, NULL, insertion->arena, &state, err) < 0)
        return -1;
    return db_wish_workload(conn, &state, WISH_STOPPED, submission->created_by, submission->now_ms, err);
}

// A random suffix may hit a name that is taken: then another is tried.
static int store(struct request *req, const struct submission_envelope *envelope, struct submission *submission,
                 struct workload_listing *listing, struct error *err)
{
    struct insertion insertion = {submission, &req->server->config.workload_bounds, envelope->is_suspended, req->arena};
    for (int i = 0;; i++) {
        struct error cause = {0};
        submission->name = envelope->is_prefix ? with_suffix(envelope->name, req->arena) : envelope->name;
        listing->name = submission->name;
        submission->listing_json = workload_listing_text(listing, req->arena);
        if (db_write(req->server->db, insert_workload, &insertion, &cause) == 0)
            return 0;
        bool is_taken = cause.code == ERROR_CONFLICT;
        if (is_taken && envelope->is_prefix && i + 1 < NAME_TRIES)
            continue;
        *err = cause;
        if (is_taken)
            err->code = ERROR_INVALID; // the contract of submissions has no 409
        return -1;
    }
}

static int check_size(int64_t max_bytes, const struct submission *submission, struct error *err)
{
    size_t bytes = strlen(submission->spec_json);
    bytes += submission->master_spec_json ? strlen(submission->master_spec_json) : 0;
    if (max_bytes == 0 || bytes <= (size_t)max_bytes)
        return 0;
    return error_set(err, ERROR_INVALID, "spec: at most %" PRId64 " bytes (workload-max-bytes), got %zu", max_bytes,
                     bytes);
}

static int check_backend(const struct request *req, const struct submission *submission,
                         const struct workload_place *place, struct error *err)
{
    const struct reconciler *reconciler = req->server->reconciler;
    struct reconciler_spec spec = {.project_name = place->project_name,
                                   .project_number = place->project_number,
                                   .submitted_by = submission->created_by,
                                   .machine_user = submission->machine_user,
                                   .spec_json = submission->spec_json};
    if (reconciler_check_spec(reconciler, &spec, err) < 0)
        return -1;
    spec.spec_json = submission->master_spec_json;
    if (!spec.spec_json || reconciler_check_spec(reconciler, &spec, err) == 0)
        return 0;
    return error_prefix(err, "masterSpec: ");
}

static struct project_rules rules_of(const struct workload_place *place)
{
    return (struct project_rules){.project_name = place->project_name,
                                  .department_name = place->department_name,
                                  .project_rules_json = place->project_rules_json,
                                  .department_rules_json = place->department_rules_json,
                                  .node_types_json = place->node_types_json,
                                  .department_node_types_json = place->department_node_types_json};
}

// Who it is and where it goes.
static int open_submission(struct request *req, json_t *body, enum workload_type type, enum access_action action,
                           struct prepared_submission *out, struct error *err)
{
    struct fields top = {body, "", req->arena, err};
    *out = (struct prepared_submission){.envelope.action = action};
    if (read_envelope(&top, &out->envelope) < 0)
        return -1;
    return find_place(req, &top, &out->envelope, type, &out->place);
}

static bool is_by_cli(const struct request *req)
{
    static const char CLI[] = "prorata/"; // what it calls itself
    const char *agent = request_header(req, "User-Agent");
    return agent && strncmp(agent, CLI, strlen(CLI)) == 0;
}

// Where an address cannot be held while no replica runs, an inference that may have none keeps one, and its
// specification says so. The answer is a sentence why; NULL: it is as it was.
static const char *keep_replica(struct request *req, json_t *spec)
{
    static const char *const COUNTS[] = {"minReplicas", "initialReplicas"};
    json_t *scaling = json_object_get(spec, "autoscaling"), *least = json_object_get(scaling, COUNTS[0]);
    if (!json_is_integer(least) || json_integer_value(least) != 0 || reconciler_may_rest(req->server->reconciler))
        return NULL;
    for (size_t i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++) {
        json_t *count = json_object_get(scaling, COUNTS[i]);
        if (json_is_integer(count) && json_integer_value(count) == 0)
            json_object_set_new(scaling, COUNTS[i], json_integer(1));
    }
    return arena_printf(req->arena,
                        "it keeps 1 replica, not 0: the %s backend cannot hold its address while no replica runs",
                        reconciler_backend_name(req->server->reconciler));
}

// What it asks for, once templates and policies have had their say.
static int complete(struct request *req, json_t *body, enum workload_type type, struct prepared_submission *out,
                    struct error *err)
{
    struct fields top = {body, "", req->arena, err};
    const struct workload_place *place = &out->place;
    const char *waits_for;
    const char *note = type == WORKLOAD_TYPE_INFERENCE ? keep_replica(req, json_object_get(body, "spec")) : NULL;
    if (workload_type_fill(req, workload_type_text(type), json_object_get(body, "spec"), err) < 0 ||
        workload_spec_read(body, type, req->arena, &out->spec, err) < 0 ||
        check_names(req, place, out->envelope.project_id, &out->spec, &waits_for, err) < 0)
        return -1;
    struct project_rules rules = rules_of(place);
    struct workload_limits limits;
    project_rules_limits(&rules, &out->spec, req->arena, &limits);
    out->spec_json = fields_get(&top, "spec");
    out->master_spec_json = type == WORKLOAD_TYPE_DISTRIBUTED ? fields_get(&top, "masterSpec") : NULL;
    out->submission = (struct submission){
        .name = out->envelope.name,
        .requested_name = out->envelope.name,
        .project_id = out->envelope.project_id,
        .created_by = req->caller->name,
        .machine_user = req->caller->machine_user,
        .now_ms = req->received_ms,
        .spec = &out->spec,
        .spec_json = workload_spec_text(out->spec_json, req->arena),
        .master_spec_json = workload_spec_text(out->master_spec_json, req->arena),
        .node_pools_json = node_pools_text(&out->spec, out->spec_json, req->arena),
        .serving_json = type == WORKLOAD_TYPE_INFERENCE ? serving_text(&out->spec.serving, req->arena) : NULL,
        .note = note,
        .waits_for = waits_for,
        .time_limit_ms = limits.time_limit_ms,
        .idle_limit_ms = limits.idle_limit_ms,
        .time_limit_scope = limits.time_limit_scope,
        .idle_limit_scope = limits.idle_limit_scope,
    };
    out->listing = (struct workload_listing){
        .created_by = out->submission.created_by,
        .is_by_cli = is_by_cli(req),
        .created_ms = out->submission.now_ms,
        .cluster_uuid = place->cluster_uuid,
        .project_id = out->submission.project_id,
        .project_name = place->project_name,
        .department_id = place->scope.department_id,
        .department_name = place->department_name,
        .namespace_name = place->namespace_name,
        .has_services = reconciler_has_services(req->server->reconciler),
        .spec = &out->spec,
        .spec_json = out->spec_json,
        .master_spec_json = out->master_spec_json,
    };
    list_node_pools(&out->listing, place, req->arena);
    return 0;
}

int workload_submission_read(struct request *req, json_t *body, enum workload_type type,
                             struct prepared_submission *out, struct error *err)
{
    if (open_submission(req, body, type, ACTION_CREATE, out, err) < 0)
        return -1;
    return complete(req, body, type, out, err);
}

static int prepare(struct request *req, json_t *body, enum workload_type type, enum access_action action,
                   struct prepared_submission *out, struct error *err)
{
    if (open_submission(req, body, type, action, out, err) < 0 ||
        submission_template_apply(req, body, type, &out->place.scope, err) < 0 ||
        submission_policy_apply(req, body, type, &out->place.scope, err) < 0 || complete(req, body, type, out, err) < 0)
        return -1;
    struct project_rules rules = rules_of(&out->place);
    if (project_rules_apply_node_types(&rules, &out->spec, req->arena, err) < 0 ||
        check_size(req->server->config.workload_max_bytes, &out->submission, err) < 0)
        return -1;
    return check_backend(req, &out->submission, &out->place, err);
}

static int check_budget(struct request *req, const struct submission *submission, struct error *err)
{
    const struct workload_spec *spec = submission->spec;
    int64_t until_ms;
    bool refuses;
    if (spec->gpu_milli == 0 && !spec->gpu_request_type)
        return 0;
    const char *clause = reconciler_over_budget(req->server->reconciler, submission->project_id, submission->created_by,
                                                req->arena, &until_ms, &refuses);
    if (!refuses)
        return 0;
    char until[TIMESTAMP_SIZE];
    timestamp_format(until_ms, until);
    return error_set(err, ERROR_INVALID, "projectId: %s; work that asks for GPUs is taken again from %s", clause,
                     until);
}

int workload_submission_prepare(struct request *req, json_t *body, enum workload_type type,
                                struct prepared_submission *out, struct error *err)
{
    if (prepare(req, body, type, ACTION_CREATE, out, err) < 0)
        return -1;
    return check_budget(req, &out->submission, err);
}

int workload_change_prepare(struct request *req, json_t *body, enum workload_type type, struct prepared_submission *out,
                            struct error *err)
{
    return prepare(req, body, type, ACTION_UPDATE, out, err);
}

int workload_submission_take_address(struct request *req, struct prepared_submission *prepared, struct error *err)
{
    struct serving *serving = &prepared->spec.serving;
    if (!prepared->submission.serving_json)
        return 0;
    if (reconciler_choose_address(req->server->reconciler, prepared->submission.uuid, req->arena, &serving->address,
                                  err) < 0)
        return -1;
    prepared->submission.serving_json = serving_text(serving, req->arena);
    return 0;
}

int workload_submit(struct request *req, struct response *res, enum workload_type type, struct error *err)
{
    struct prepared_submission prepared;
    if (workload_submission_prepare(req, req->body, type, &prepared, err) < 0)
        return -1;
    struct submission *submission = &prepared.submission;
    const struct workload_place *place = &prepared.place;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    submission->uuid = prepared.listing.uuid = uuid;
    if (workload_submission_take_address(req, &prepared, err) < 0 ||
        store(req, &prepared.envelope, submission, &prepared.listing, err) < 0)
        return -1;
    struct submitted_workload answer = {
        .name = submission->name,
        .requested_name = submission->requested_name,
        .uuid = uuid,
        .type = workload_type_text(type),
        .project_id = submission->project_id,
        .department_id = place->scope.department_id,
        .cluster_uuid = place->cluster_uuid,
        .created_by = submission->created_by,
        .created_ms = submission->now_ms,
        .desired_phase = "Running",
        .phase = "Creating",
        .spec_json = submission->spec_json,
        .master_spec_json = submission->master_spec_json,
        .is_master_same = prepared.spec.has_master && !submission->master_spec_json,
    };
    submitted_workload_write(&answer, res->body, req->arena);
    return 0;
}
