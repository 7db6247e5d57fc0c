#include "api/access/authorization.h"

#include "api/http/request.h"
#include "api/identity.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/places.h"
#include "db/db.h"
#include "db/roles.h"
#include "db/scopes.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char SQL_CLUSTER[] = "SELECT min(id) FROM clusters";

static bool grant_allows(const struct grant *grant, enum resource_type type, enum access_action action)
{
    return grant->role->permissions.actions[type] & action;
}

bool access_is_allowed(const struct identity *caller, const struct scope_path *where, enum resource_type type,
                       enum access_action action)
{
    bool is_seen_from_below = action == ACTION_READ && resource_type_is_above(type);
    for (size_t i = 0; i < caller->grants->count; i++) {
        const struct grant *grant = &caller->grants->items[i];
        if (!grant_allows(grant, type, action))
            continue;
        if (scope_path_contains(&grant->path, where) ||
            (is_seen_from_below && scope_path_contains(where, &grant->path)))
            return true;
    }
    return false;
}

bool access_is_held(const struct identity *caller, const struct scope_path *where, enum resource_type type,
                    enum access_action action)
{
    for (size_t i = 0; i < caller->grants->count; i++)
        if (grant_allows(&caller->grants->items[i], type, action) &&
            scope_path_contains(&caller->grants->items[i].path, where))
            return true;
    return false;
}

struct place_claim access_place_claim(const struct identity *caller, int socket)
{
    static const struct scope_path TENANT = {0};
    bool is_administrator = access_is_held(caller, &TENANT, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE);
    return (struct place_claim){.holder = caller->subject_uuid, .is_administrator = is_administrator, .socket = socket};
}

bool access_is_rule_giver(const struct identity *caller, const struct scope_path *where)
{
    for (size_t i = 0; i < caller->grants->count; i++) {
        const struct grant *grant = &caller->grants->items[i];
        if (grant->role->id <= ROLE_PREDEFINED_MAX && grant_allows(grant, RESOURCE_TYPE_ACCESS_RULES, ACTION_CREATE) &&
            scope_path_contains(&grant->path, where))
            return true;
    }
    return false;
}

bool access_is_read_below(const struct identity *caller, const struct scope_path *where, enum resource_type type)
{
    for (size_t i = 0; i < caller->grants->count; i++)
        if (grant_allows(&caller->grants->items[i], type, ACTION_READ) &&
            scope_path_contains(where, &caller->grants->items[i].path))
            return true;
    return false;
}

// Whether the caller may know that there is such a place.
static bool is_visible(const struct identity *caller, const struct scope_path *where)
{
    enum resource_type place = where->project_id      ? RESOURCE_TYPE_PROJECT
                               : where->department_id ? RESOURCE_TYPE_DEPARTMENT
                                                      : RESOURCE_TYPE_CLUSTER;
    return !where->cluster_id || access_is_allowed(caller, where, place, ACTION_READ);
}

int access_check(const struct request *req, const struct scope_path *where, enum resource_type type,
                 enum access_action action, const char *what, struct error *err)
{
    if (access_is_allowed(req->caller, where, type, action))
        return 0;
    if (!is_visible(req->caller, where) && !access_is_allowed(req->caller, where, type, ACTION_READ))
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    return error_set(err, ERROR_FORBIDDEN, "%s: your roles do not allow to %s %s here", what,
                     access_action_text(action), resource_type_text(type));
}

static int check_place(const struct request *req, enum scope_type scope, const char *scope_id, enum resource_type type,
                       enum access_action action, struct scope_path *out_path, struct error *err)
{
    const char *what = arena_printf(req->arena, "%s %s", scope_type_text(scope), scope_id);
    struct db_conn *conn = db_acquire(req->server->db);
    struct scope_path path;
    int rc = db_find_scope(conn, scope, scope_id, req->arena, &path, NULL, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    if (!rc)
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    if (access_check(req, &path, type, action, what, err) < 0)
        return -1;
    if (out_path)
        *out_path = path;
    return 0;
}

int access_check_project(const struct request *req, int64_t project_id, enum resource_type type,
                         enum access_action action, struct scope_path *out_path, struct error *err)
{
    const char *id = arena_printf(req->arena, "%" PRId64, project_id);
    return check_place(req, SCOPE_PROJECT, id, type, action, out_path, err);
}

int access_check_department(const struct request *req, int64_t department_id, enum resource_type type,
                            enum access_action action, struct scope_path *out_path, struct error *err)
{
    const char *id = arena_printf(req->arena, "%" PRId64, department_id);
    return check_place(req, SCOPE_DEPARTMENT, id, type, action, out_path, err);
}

int access_check_cluster(const struct request *req, const char *cluster_uuid, enum resource_type type,
                         enum access_action action, struct scope_path *out_path, struct error *err)
{
    return check_place(req, SCOPE_CLUSTER, cluster_uuid, type, action, out_path, err);
}

int access_check_whole_cluster(const struct request *req, enum resource_type type, enum access_action action,
                               const char *what, struct error *err)
{
    struct scope_path cluster = {0};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_number(conn, SQL_CLUSTER, &cluster.cluster_id, err);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : access_check(req, &cluster, type, action, what, err);
}

int access_check_tenant(const struct request *req, enum resource_type type, enum access_action action,
                        struct error *err)
{
    static const struct scope_path TENANT = {0};
    return access_check(req, &TENANT, type, action, "tenant", err);
}

static void add_id(int64_t *ids, size_t *count, int64_t id)
{
    for (size_t i = 0; i < *count; i++)
        if (ids[i] == id)
            return;
    ids[(*count)++] = id;
}

void access_filter(const struct request *req, enum resource_type type, enum access_action action,
                   struct scope_filter *out_filter)
{
    const struct grants *grants = req->caller->grants;
    bool is_seen_from_below = action == ACTION_READ && resource_type_is_above(type);
    int64_t *clusters = arena_array(req->arena, grants->count + 1, sizeof(*clusters));
    int64_t *departments = arena_array(req->arena, grants->count + 1, sizeof(*departments));
    int64_t *projects = arena_array(req->arena, grants->count + 1, sizeof(*projects));
    *out_filter =
        (struct scope_filter){.cluster_ids = clusters, .department_ids = departments, .project_ids = projects};
    for (size_t i = 0; i < grants->count; i++) {
        const struct grant *grant = &grants->items[i];
        if (!grant_allows(grant, type, action))
            continue;
        if (!grant->path.cluster_id)
            out_filter->is_all = true;
        else if (is_seen_from_below || !grant->path.department_id)
            add_id(clusters, &out_filter->cluster_count, grant->path.cluster_id);
        else if (!grant->path.project_id)
            add_id(departments, &out_filter->department_count, grant->path.department_id);
        else
            add_id(projects, &out_filter->project_count, grant->path.project_id);
    }
}

static void add_places(const struct scope_path *path, struct buffer *list)
{
    const char *comma = list->length ? "," : "";
    if (path->project_id)
        buffer_printf(list, "%s\"p%" PRId64 "\",\"D%" PRId64 "\",\"C%" PRId64 "\"", comma, path->project_id,
                      path->department_id, path->cluster_id);
    else if (path->department_id)
        buffer_printf(list, "%s\"d%" PRId64 "\",\"C%" PRId64 "\"", comma, path->department_id, path->cluster_id);
    else
        buffer_printf(list, "%s\"c%" PRId64 "\"", comma, path->cluster_id);
}

const char *access_held_places(const struct request *req, enum resource_type type)
{
    const struct grants *grants = req->caller->grants;
    struct buffer list;
    bool is_all = false;
    buffer_init(&list, 0);
    for (size_t i = 0; i < grants->count && !is_all; i++) {
        if (!grant_allows(&grants->items[i], type, ACTION_READ))
            continue;
        is_all = !grants->items[i].path.cluster_id;
        add_places(&grants->items[i].path, &list);
    }
    const char *places = is_all ? NULL : arena_printf(req->arena, "[%s]", list.length ? list.data : "");
    buffer_done(&list);
    return places;
}

void access_permissions(const struct identity *caller, struct permission_set *out_set)
{
    *out_set = (struct permission_set){0};
    for (size_t i = 0; i < caller->grants->count; i++)
        permission_set_add(out_set, &caller->grants->items[i].role->permissions);
}

static bool is_open_before_password_change(const char *id)
{
    static const char *const IDS[] = {"change_user_password", "get_session", "delete_session"};
    for (size_t i = 0; i < sizeof(IDS) / sizeof(IDS[0]); i++)
        if (!strcmp(id, IDS[i]))
            return true;
    return false;
}

int authorize(struct request *req, struct error *err)
{
    const struct operation *operation = req->operation;
    if (req->caller->must_change_password && !is_open_before_password_change(operation->id)) {
        error_set(err, ERROR_FORBIDDEN, "the temporary password must be changed first");
        return error_details(err, "POST /api/v1/me/password, or sign in on the web page");
    }
    if (operation->access != OPERATION_ACCESS_PERMISSION)
        return 0;
    enum resource_type type;
    enum access_action action;
    bool is_known = resource_type_parse(operation->resource, &type) && access_action_parse(operation->action, &action);
    assert(is_known && "the document's x-permission");
    struct permission_set held;
    access_permissions(req->caller, &held);
    if (held.actions[type] & action)
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "your roles do not allow to %s %s", operation->action, operation->resource);
}
