// Where a policy is set, as requests name it; and which policies hold there.
#pragma once
#include "api/access/roles.h"
#include "api/policies/policy_effective.h"
#include "db/policies/policies.h"
#include "model/scope.h"

struct arena;
struct db_conn;
struct error;
struct request;

struct policy_place {
    enum scope_type scope;
    const char *scope_id; // as the API names it; "" for the tenant
    struct scope_path path;
};

// From scope, clusterId, departmentId and projectId of the query, and the right to do this there. What is unknown or
// hidden is a 404.
int policy_place_of_query(struct request *req, enum access_action action, struct policy_place *out, struct error *err);
// From the body's meta. What is unknown or hidden is a wrong field.
int policy_place_of_meta(struct request *req, const json_t *meta, enum access_action action, struct policy_place *out,
                         struct error *err);

// Sets the path. 1: found; 0: there is no such place (any more); -1: error.
int policy_place_find(struct db_conn *conn, struct policy_place *place, struct arena *arena, struct error *err);

// The policies of a kind that hold in a place, with their JSON. Released by policy_chain_done.
struct policy_chain {
    struct policy_row *rows; // the farthest first
    struct policy_layer *layers;
    size_t count;
};

int policy_chain_read(struct db_conn *conn, enum policy_kind kind, const struct scope_path *path, struct arena *arena,
                      struct policy_chain *out, struct error *err);
void policy_layer_done(struct policy_layer *layer);
void policy_chain_done(struct policy_chain *chain);
// The one that is set at the place itself: its index, or count.
size_t policy_chain_find(const struct policy_chain *chain, enum scope_type scope);
// {scope, projectId...}; the caller's.
json_t *policy_source_json(enum scope_type scope, const char *scope_id);
// What the API tells of a policy beside itself; the caller's.
json_t *policy_meta_json(const struct policy_row *row);
json_t *policy_time_json(int64_t time_ms);
