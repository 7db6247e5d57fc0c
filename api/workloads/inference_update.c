#include "api/workloads/inference_update.h"

#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "api/server.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "db/db.h"
#include "db/inferences.h"
#include "model/workload_spec.h"
#include "reconciler/reconciler.h"

#include <inttypes.h>
#include <string.h>

enum {
    TRIES = 32 // while others change it, too
};

// What of a specification is fixed at the submission.
static const char *const FIXED[] = {"servingPort", "annotations", "labels",   "ports",  "exposedUrls",
                                    "relatedUrls", "tolerations", "security", "storage"};
// What replicas do not notice: the rest asks for new ones.
static const char *const UNNOTICED[] = {"autoscaling", "servingConfiguration", "priorityClass", "preemptibility",
                                        "category"};

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

// Of an object: member by member.
static void merge_members(json_t *spec, const char *key, const json_t *changes)
{
    const char *name;
    json_t *value, *old = json_object_get(spec, key);
    if (!json_is_object(old)) {
        old = json_object();
        json_object_set_new(spec, key, old);
    }
    // The number at the start followed from the bounds: new bounds, a new number.
    if (strcmp(key, "autoscaling") == 0 &&
        (json_object_get(changes, "minReplicas") || json_object_get(changes, "maxReplicas")))
        json_object_del(old, "initialReplicas");
    json_object_foreach((json_t *)changes, name, value) {
        if (json_is_null(value))
            json_object_del(old, name);
        else
            json_object_set(old, name, value);
    }
}

static int merge(json_t *spec, const json_t *changes, struct arena *arena, const char **out_what, struct error *err)
{
    const char *key, *what = "";
    json_t *value;
    json_object_foreach((json_t *)changes, key, value) {
        if (is_among(key, FIXED, sizeof(FIXED) / sizeof(FIXED[0])))
            return error_set(err, ERROR_INVALID, "spec.%s: is fixed at the submission; submit another inference", key);
        if (json_is_null(value))
            json_object_del(spec, key);
        else if (json_is_object(value) && is_among(key, UNNOTICED, sizeof(UNNOTICED) / sizeof(UNNOTICED[0])))
            merge_members(spec, key, value);
        else
            json_object_set(spec, key, value);
        if (strlen(what) < 200)
            what = arena_printf(arena, "%s%s%.40s", what, *what ? ", " : "", key);
    }
    *out_what = *what ? what : "nothing";
    return 0;
}

static bool needs_new_replicas(const json_t *before, const json_t *after)
{
    json_t *a = json_copy((json_t *)before), *b = json_copy((json_t *)after);
    for (size_t i = 0; i < sizeof(UNNOTICED) / sizeof(UNNOTICED[0]); i++) {
        json_object_del(a, UNNOTICED[i]);
        json_object_del(b, UNNOTICED[i]);
    }
    bool needs = !json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return needs;
}

struct update_job {
    struct request *req;
    const struct inference_change *change;
};

static int write_update(struct db_conn *conn, void *context, struct error *err)
{
    const struct update_job *job = context;
    struct inference_change change = *job->change;
    struct workload_state state;
    if (db_find_workload(conn, change.workload->uuid, NULL, job->req->arena, &state, err) < 0)
        return -1;
    change.workload = &state;
    return db_change_inference(conn, &change, err);
}

// The specification as it would be: checked, and written where nobody was faster.
static int change(struct request *req, const struct workload_state *state, const struct inference_row *row,
                  const json_t *before, json_t *body, const char *what, struct error *err)
{
    struct prepared_submission prepared;
    struct serving old = {0};
    if (workload_change_prepare(req, body, WORKLOAD_TYPE_INFERENCE, &prepared, err) < 0)
        return -1;
    if (serving_parse(row->serving_json, req->arena, &old))
        prepared.spec.serving.address = old.address;
    struct submission *submission = &prepared.submission;
    submission->serving_json = serving_text(&prepared.spec.serving, req->arena);
    prepared.listing.uuid = state->uuid;
    prepared.listing.name = state->name;
    prepared.listing.created_by = state->created_by;
    prepared.listing.created_ms = state->created_ms;
    submission->listing_json = workload_listing_text(&prepared.listing, req->arena);
    struct inference_change written = {
        .workload = state,
        .submission = submission,
        .generation = row->generation,
        .old_spec_json = row->spec_json,
        .is_new_generation = needs_new_replicas(before, json_object_get(body, "spec")),
        .what = what,
        .caller_name = req->caller->name,
        .now_ms = req->received_ms,
    };
    return db_write(req->server->db, write_update, &(struct update_job){req, &written}, err);
}

static int try_update(struct request *req, const struct workload_state *state, struct error *err)
{
    struct inference_row row;
    json_t *before = NULL;
    const char *what = "";
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_inference(conn, state->id, req->arena, &row, err);
    db_give_back(req->server->db, conn);
    if (rc < 0 || json_reader_parse(row.spec_json, strlen(row.spec_json), &before, err) < 0)
        return -1;
    json_t *body = json_pack("{s:s, s:o, s:s, s:o}", "name", state->name, "projectId",
                             json_string(arena_printf(req->arena, "%" PRId64, state->scope.project_id)), "clusterId",
                             state->cluster_uuid, "spec", json_deep_copy(before));
    rc = merge(json_object_get(body, "spec"), json_object_get(req->body, "spec"), req->arena, &what, err);
    if (rc == 0)
        rc = change(req, state, &row, before, body, what, err);
    json_decref(body);
    json_decref(before);
    return rc;
}

int inference_update(struct request *req, struct error *err)
{
    struct workload_state state;
    if (workload_of_path(req, &KIND_INFERENCE, ACTION_UPDATE, &state, err) < 0)
        return -1;
    struct reconciler_caller caller;
    if (workload_check_person(req, &state, &caller, err) < 0)
        return -1;
    for (int i = 0; i < TRIES; i++) {
        *err = (struct error){0};
        if (try_update(req, &state, err) == 0)
            return 0;
        if (err->code != ERROR_CONFLICT)
            return -1;
    }
    err->code = ERROR_UNAVAILABLE; // the contract of changes has no 409
    return -1;
}
