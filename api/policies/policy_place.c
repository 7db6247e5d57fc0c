#include "api/policies/policy_place.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/policies/policy_assets.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/scopes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static const char *const ID_NAMES[SCOPE_TYPE_COUNT] = {
    [SCOPE_CLUSTER] = "clusterId",
    [SCOPE_DEPARTMENT] = "departmentId",
    [SCOPE_PROJECT] = "projectId",
};

int policy_place_find(struct db_conn *conn, struct policy_place *place, struct arena *arena, struct error *err)
{
    const char *id = place->scope == SCOPE_TENANT ? arena_printf(arena, "%d", TENANT_ID) : place->scope_id;
    return db_find_scope(conn, place->scope, id, arena, &place->path, NULL, err);
}

static int find_place(struct request *req, enum access_action action, struct policy_place *place, struct error *err)
{
    const char *type = scope_type_text(place->scope);
    const char *what = *place->scope_id ? arena_printf(req->arena, "%s %.60s", type, place->scope_id) : type;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = policy_place_find(conn, place, req->arena, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    return access_check(req, &place->path, RESOURCE_TYPE_POLICIES, action, what, err);
}

int policy_place_of_query(struct request *req, enum access_action action, struct policy_place *out, struct error *err)
{
    *out = (struct policy_place){.scope = SCOPE_TENANT, .scope_id = ""};
    scope_type_parse(request_query(req, "scope"), &out->scope); // the document's enum
    const char *name = ID_NAMES[out->scope];
    if (name && !(out->scope_id = request_query(req, name)))
        return error_set(err, ERROR_INVALID, "%s: required with the scope %s", name, scope_type_text(out->scope));
    return find_place(req, action, out, err);
}

static const char *id_text(const json_t *value, struct arena *arena)
{
    if (json_is_integer(value))
        return arena_printf(arena, "%" PRId64, (int64_t)json_integer_value(value));
    return json_string_value(value);
}

int policy_place_of_meta(struct request *req, const json_t *meta, enum access_action action, struct policy_place *out,
                         struct error *err)
{
    *out = (struct policy_place){.scope = SCOPE_TENANT, .scope_id = ""};
    scope_type_parse(json_string_value(json_object_get(meta, "scope")), &out->scope);
    if (out->scope == SCOPE_SYSTEM)
        return error_set(err, ERROR_INVALID, "meta.scope: the system's policy stays as it is");
    const char *name = ID_NAMES[out->scope];
    if (name && !(out->scope_id = id_text(json_object_get(meta, name), req->arena)))
        return error_set(err, ERROR_INVALID, "meta.%s: required with the scope %s", name, scope_type_text(out->scope));
    if (find_place(req, action, out, err) == 0)
        return 0;
    if (err->code != ERROR_NOT_FOUND)
        return -1;
    return error_set(err, ERROR_INVALID, "meta.%s: there is no %s %.60s", name, scope_type_text(out->scope),
                     out->scope_id);
}

json_t *policy_source_json(enum scope_type scope, const char *scope_id)
{
    json_t *source = json_object();
    json_object_set_new(source, "scope", json_string(scope_type_text(scope)));
    if (scope == SCOPE_PROJECT)
        json_object_set_new(source, "projectId", json_integer(atoll(scope_id)));
    else if (ID_NAMES[scope])
        json_object_set_new(source, ID_NAMES[scope], json_string(scope_id));
    return source;
}

json_t *policy_time_json(int64_t time_ms)
{
    char text[TIMESTAMP_SIZE];
    timestamp_format(time_ms, text);
    return json_string(text);
}

json_t *policy_meta_json(const struct policy_row *row)
{
    json_t *meta = policy_source_json(row->scope, row->scope_id);
    json_object_set_new(meta, "id", json_string(row->uuid));
    json_object_set_new(meta, "name", json_string(row->name));
    json_object_set_new(meta, "tenantId", json_integer(TENANT_ID));
    json_object_set_new(meta, "createdBy", json_string(row->created_by));
    json_object_set_new(meta, "createdAt", policy_time_json(row->created_ms));
    json_object_set_new(meta, "updatedBy", json_string(row->updated_by));
    json_object_set_new(meta, "updatedAt", policy_time_json(row->updated_ms));
    return meta;
}

int policy_chain_read(struct db_conn *conn, enum policy_kind kind, const struct scope_path *path, struct arena *arena,
                      struct policy_chain *out, struct error *err)
{
    *out = (struct policy_chain){0};
    if (db_list_policies_at(conn, policy_kind_text(kind), path, arena, &out->rows, &out->count, err) < 0)
        return -1;
    out->layers = arena_array(arena, out->count, sizeof(*out->layers));
    for (size_t i = 0; i < out->count; i++) {
        const struct policy_row *row = &out->rows[i];
        struct policy_layer *layer = &out->layers[i];
        *layer = (struct policy_layer){.policy = json_loads(row->policy_json, 0, NULL),
                                       .source = policy_source_json(row->scope, row->scope_id),
                                       .updated_ms = row->updated_ms};
        assert(layer->policy); // written by us
        if (policy_assets_read(conn, kind, layer->policy, arena, &layer->imposed, err) < 0) {
            policy_chain_done(out);
            return -1;
        }
    }
    return 0;
}

void policy_layer_done(struct policy_layer *layer)
{
    json_decref(layer->policy);
    json_decref(layer->imposed);
    json_decref(layer->source);
    *layer = (struct policy_layer){0};
}

void policy_chain_done(struct policy_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        policy_layer_done(&chain->layers[i]);
    chain->count = 0;
}

size_t policy_chain_find(const struct policy_chain *chain, enum scope_type scope)
{
    size_t i = 0;
    while (i < chain->count && chain->rows[i].scope != scope)
        i++;
    return i;
}
