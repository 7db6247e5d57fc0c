// What the caller may do, and where. Rights are the union of the caller's access rules: a role in a scope, good for
// everything below that scope. The server checks that the operation's permission is held somewhere (authorize); a
// handler checks it where the thing is, by one call, before it reads or changes anything:
//
//     struct scope_path where = {.cluster_id = w->cluster_id, .department_id = w->department_id, .project_id =
//     w->project_id}; if (access_check(req, &where, RESOURCE_TYPE_TRAININGS, ACTION_DELETE, "workload", err) < 0)
//         return -1;
//
// and a list asks for what may be seen and gives it to its query (db/scopes.h):
//
//     struct scope_filter filter;
//     access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
#pragma once
#include "api/access/roles.h"
#include "model/scope.h"

struct error;
struct identity;
struct place_claim; // base/places.h
struct request;

// One access rule, resolved.
struct grant {
    const struct role *role;
    enum scope_type scope;
    struct scope_path path;
    int64_t expires_ms; // 0: never
};

struct grants {
    const struct grant *items;
    size_t count;
};

bool access_is_allowed(const struct identity *caller, const struct scope_path *where, enum resource_type type,
                       enum access_action action);

// The same, and only by rules of a scope that contains the place: none that looks up from below.
bool access_is_held(const struct identity *caller, const struct scope_path *where, enum resource_type type,
                    enum access_action action);

// Whether a predefined role makes the caller the one who gives rules there: a department's or a project's
// administrator, or the system's. A role that administrators made does not.
bool access_is_rule_giver(const struct identity *caller, const struct scope_path *where);

// Whether the caller may read such things somewhere inside the place: what holds for everything below it, as an asset
// of a department does, is read by those below.
bool access_is_read_below(const struct identity *caller, const struct scope_path *where, enum resource_type type);

// 404 `WHAT: not found` where the caller may not even read there, 403 where the action is not the caller's. what names
// the thing as the client does, e.g. "workload 7ff1..."; static or the arena's.
int access_check(const struct request *req, const struct scope_path *where, enum resource_type type,
                 enum access_action action, const char *what, struct error *err);
// The same for a project, department or cluster known by its id; an unknown id is 404 too. The path found is given back
// for further use where out_path is not NULL.
int access_check_project(const struct request *req, int64_t project_id, enum resource_type type,
                         enum access_action action, struct scope_path *out_path, struct error *err);
int access_check_department(const struct request *req, int64_t department_id, enum resource_type type,
                            enum access_action action, struct scope_path *out_path, struct error *err);
int access_check_cluster(const struct request *req, const char *cluster_uuid, enum resource_type type,
                         enum access_action action, struct scope_path *out_path, struct error *err);
// For what shows or moves everything in the cluster at once, of which there is one: rules below it are not enough.
int access_check_whole_cluster(const struct request *req, enum resource_type type, enum access_action action,
                               const char *what, struct error *err);
// For what belongs to the whole tenant: settings, users, roles.
int access_check_tenant(const struct request *req, enum resource_type type, enum access_action action,
                        struct error *err);

// Where the caller may do this; lives in the request's arena.
void access_filter(const struct request *req, enum resource_type type, enum access_action action,
                   struct scope_filter *out_filter);
// The places whose own assets the caller reads, for a list: a JSON list of the texts c1, d2, p3 (everything from the
// cluster, department or project down) and C1, D2 (what belongs to the cluster or department itself); NULL: everything.
// Lives in the request's arena.
const char *access_held_places(const struct request *req, enum resource_type type);
// The caller as one who takes a bounded place. socket: of the connection; -1: it does not matter.
struct place_claim access_place_claim(const struct identity *caller, int socket);
// What the caller may do anywhere: for GET /session and the pages.
void access_permissions(const struct identity *caller, struct permission_set *out_set);

// 403 unless the password that was given to the caller has been changed, and the caller holds the operation's
// permission in at least one scope. What an operation touches is checked by its handler, which knows the scope.
int authorize(struct request *req, struct error *err);
