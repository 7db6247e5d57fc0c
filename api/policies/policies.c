// The operations of /api/v2/policy: read, set, change in parts and remove the policy of a kind in a scope. One
// implementation for all kinds; the document has checked the types of fields.
#include "api/access/audit.h"
#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/policies/policy_assets.h"
#include "api/policies/policy_place.h"
#include "api/policies/policy_read.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"

#include <stdlib.h>

static json_t *effective_json(enum policy_kind kind, const struct policy_chain *chain, json_t *answer)
{
    struct policy_effective effective;
    policy_effective_make(kind, chain->layers, chain->count, &effective);
    if (effective.updated_ms)
        json_object_set_new(answer, "effectiveUpdatedAt", policy_time_json(effective.updated_ms));
    json_t *json = json_object();
    json_object_set(json, "defaults", effective.defaults);
    json_object_set(json, "rules", effective.rules);
    json_object_set(json, "sourceOfDefaults", effective.sources);
    if (effective.assets)
        json_object_set(json, "imposedAssets", effective.assets);
    policy_effective_done(&effective);
    return json;
}

// The policy that is set in the scope, if any, and what results there.
static int answer_chain(struct response *res, enum policy_kind kind, enum scope_type scope,
                        const struct policy_chain *chain)
{
    size_t own = policy_chain_find(chain, scope);
    json_t *answer = json_object();
    if (own < chain->count)
        json_object_set_new(answer, "meta", policy_meta_json(&chain->rows[own]));
    json_object_set(answer, "policy", own < chain->count ? chain->layers[own].policy : json_null());
    json_object_set_new(answer, "effective", effective_json(kind, chain, answer));
    return response_json(res, answer);
}

static int answer_place(struct request *req, struct response *res, enum policy_kind kind,
                        const struct policy_place *place, struct error *err)
{
    struct policy_chain chain;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = policy_chain_read(conn, kind, &place->path, req->arena, &chain, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    rc = answer_chain(res, kind, place->scope, &chain);
    policy_chain_done(&chain);
    return rc;
}

static int get(struct request *req, struct response *res, enum policy_kind kind, struct error *err)
{
    struct policy_place place;
    if (policy_place_of_query(req, ACTION_READ, &place, err) < 0)
        return -1;
    return answer_place(req, res, kind, &place, err);
}

// A PUT or a PATCH, on its way.
struct change {
    struct request *req;
    enum policy_kind kind;
    struct policy_place place;
    bool is_patch;
    struct policy_chain chain; // what holds there, with the change in it
};

static const char *policy_text(const json_t *policy, struct arena *arena)
{
    char *text = json_dumps(policy, JSON_COMPACT | JSON_REAL_PRECISION(15));
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}

// The policy that comes of the request; the caller's. NULL with err set.
static json_t *changed_policy(const struct change *change, const json_t *present, struct error *err)
{
    const json_t *body = change->req->body, *reset = json_object_get(body, "reset");
    json_t *policy = present && change->is_patch ? json_deep_copy(present) : json_object();
    int rc = 0;
    for (size_t i = 0; rc == 0 && change->is_patch && i < json_array_size(reset); i++)
        rc = policy_reset(change->kind, policy, json_string_value(json_array_get(reset, i)), err);
    if (rc == 0) {
        policy_merge(policy, json_object_get(body, "policy"));
        rc = policy_read(change->kind, policy, change->req->arena, err);
    }
    if (rc == 0)
        return policy;
    json_decref(policy);
    return NULL;
}

// The chain as it stands once the row is written.
static void put_in_chain(struct change *change, const struct policy_row *row, json_t *stolen_policy,
                         json_t *stolen_imposed)
{
    struct policy_chain *chain = &change->chain;
    size_t own = policy_chain_find(chain, row->scope), count = chain->count;
    struct policy_layer layer = {stolen_policy, stolen_imposed, policy_source_json(row->scope, row->scope_id),
                                 row->updated_ms};
    if (own < count) {
        policy_layer_done(&chain->layers[own]);
    } else {
        struct policy_row *rows = arena_array(change->req->arena, count + 1, sizeof(*rows));
        struct policy_layer *layers = arena_array(change->req->arena, count + 1, sizeof(*layers));
        for (own = 0; own < count && chain->rows[own].scope < row->scope; own++)
            ;
        for (size_t i = 0; i < count; i++) {
            rows[i + (i >= own)] = chain->rows[i];
            layers[i + (i >= own)] = chain->layers[i];
        }
        *chain = (struct policy_chain){rows, layers, count + 1};
    }
    chain->rows[own] = *row;
    chain->layers[own] = layer;
}

static void describe_row(const struct change *change, const struct policy_row *present, const char *policy_json,
                         struct policy_row *out)
{
    const struct request *req = change->req;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    *out = (struct policy_row){
        .uuid = present ? present->uuid : arena_strdup(req->arena, uuid),
        .kind = policy_kind_text(change->kind),
        .scope = change->place.scope,
        .path = change->place.path,
        .scope_id = change->place.scope_id,
        .name = json_string_value(json_object_get(json_object_get(req->body, "meta"), "name")),
        .policy_json = policy_json,
        .created_by = present ? present->created_by : req->caller->name,
        .created_ms = present ? present->created_ms : req->received_ms,
        .updated_by = req->caller->name,
        .updated_ms = req->received_ms,
    };
}

// Reads what holds in the place, and puts the change into it; out_row is what is to be written.
static int prepare(struct db_conn *conn, struct change *change, struct policy_row *out_row, struct error *err)
{
    struct arena *arena = change->req->arena;
    if (policy_chain_read(conn, change->kind, &change->place.path, arena, &change->chain, err) < 0)
        return -1;
    size_t own = policy_chain_find(&change->chain, change->place.scope);
    bool is_set = own < change->chain.count;
    json_t *policy = changed_policy(change, is_set ? change->chain.layers[own].policy : NULL, err);
    if (!policy)
        return -1;
    json_t *imposed;
    if (policy_assets_check(conn, change->kind, policy, &change->place.path, arena, err) < 0 ||
        policy_assets_read(conn, change->kind, policy, arena, &imposed, err) < 0) {
        json_decref(policy);
        return -1;
    }
    describe_row(change, is_set ? &change->chain.rows[own] : NULL, policy_text(policy, arena), out_row);
    put_in_chain(change, out_row, policy, imposed);
    return 0;
}

// The place may have gone since the request came: its number must not get a policy.
static int check_place(struct db_conn *conn, struct change *change, struct error *err)
{
    int rc = policy_place_find(conn, &change->place, change->req->arena, err);
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "meta: the %s has gone", scope_type_text(change->place.scope));
    return rc < 0 ? -1 : 0;
}

// A write function: two who change a policy at once do so one after the other.
static int write_change(struct db_conn *conn, void *context, struct error *err)
{
    struct change *change = context;
    struct policy_row row;
    policy_chain_done(&change->chain);
    if (check_place(conn, change, err) < 0 || prepare(conn, change, &row, err) < 0)
        return -1;
    return db_put_policy(conn, &row, err);
}

static int try_change(struct change *change, struct error *err)
{
    struct db *db = change->req->server->db;
    struct policy_row row;
    struct db_conn *conn = db_acquire(db);
    int rc = prepare(conn, change, &row, err);
    db_give_back(db, conn);
    return rc;
}

static int set(struct request *req, struct response *res, enum policy_kind kind, bool is_patch, struct error *err)
{
    const json_t *meta = json_object_get(req->body, "meta");
    struct change change = {.req = req, .kind = kind, .is_patch = is_patch};
    if (!json_is_object(meta))
        return error_set(err, ERROR_INVALID, "meta: required: the policy's name and scope");
    if (!is_patch && !json_is_object(json_object_get(req->body, "policy")))
        return error_set(err, ERROR_INVALID, "policy: required: defaults and rules");
    int rc = policy_place_of_meta(req, meta, ACTION_UPDATE, &change.place, err);
    if (rc == 0 && request_query_boolean(req, "validateOnly"))
        rc = try_change(&change, err);
    else if (rc == 0)
        rc = db_write(req->server->db, write_change, &change, err);
    if (rc == 0)
        answer_chain(res, kind, change.place.scope, &change.chain);
    policy_chain_done(&change.chain);
    return rc;
}

struct removal {
    enum policy_kind kind;
    struct policy_place place;
};

static int remove_policy(struct db_conn *conn, void *context, struct error *err)
{
    const struct removal *removal = context;
    return db_delete_policy(conn, policy_kind_text(removal->kind), removal->place.scope, &removal->place.path, err);
}

static int delete_policy(struct request *req, struct response *res, enum policy_kind kind, struct error *err)
{
    struct removal removal = {.kind = kind};
    if (policy_place_of_query(req, ACTION_DELETE, &removal.place, err) < 0)
        return -1;
    audit_entity(
        req, NULL, NULL,
        arena_printf(req->arena, "%s policy of the %s", policy_kind_text(kind), scope_type_text(removal.place.scope)));
    if (db_write(req->server->db, remove_policy, &removal, err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_get_training_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, POLICY_KIND_TRAINING, err);
}

int op_overwrite_training_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_TRAINING, false, err);
}

int op_update_training_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_TRAINING, true, err);
}

int op_delete_training_policy(struct request *req, struct response *res, struct error *err)
{
    return delete_policy(req, res, POLICY_KIND_TRAINING, err);
}

int op_get_workspace_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, POLICY_KIND_WORKSPACE, err);
}

int op_overwrite_workspace_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_WORKSPACE, false, err);
}

int op_update_workspace_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_WORKSPACE, true, err);
}

int op_delete_workspace_policy(struct request *req, struct response *res, struct error *err)
{
    return delete_policy(req, res, POLICY_KIND_WORKSPACE, err);
}

int op_get_distributed_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, POLICY_KIND_DISTRIBUTED, err);
}

int op_overwrite_distributed_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_DISTRIBUTED, false, err);
}

int op_update_distributed_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_DISTRIBUTED, true, err);
}

int op_delete_distributed_policy(struct request *req, struct response *res, struct error *err)
{
    return delete_policy(req, res, POLICY_KIND_DISTRIBUTED, err);
}

int op_get_inference_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, POLICY_KIND_INFERENCE, err);
}

int op_overwrite_inference_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_INFERENCE, false, err);
}

int op_update_inference_policy_v2(struct request *req, struct response *res, struct error *err)
{
    return set(req, res, POLICY_KIND_INFERENCE, true, err);
}

int op_delete_inference_policy(struct request *req, struct response *res, struct error *err)
{
    return delete_policy(req, res, POLICY_KIND_INFERENCE, err);
}
