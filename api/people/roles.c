// Roles: the predefined ones, and those that administrators make from permission sets.
#include "db/roles.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/access/permission_sets.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/db.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define ROLES_SINCE "2026-01-01T00:00:00.000Z"

static json_t *predefined_to_json(const struct role *role)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:n, s:s, s:s, s:b, s:b, s:b, s:[], s:o, s:{s:n}}", "id", role->id,
                     "name", role->name, "description", role->description, "createdAt", ROLES_SINCE, "updatedAt",
                     ROLES_SINCE, "deletedAt", "createdBy", "prorata", "updatedBy", "prorata", "custom", 0,
                     "effectiveEnabled", 1, "enabled", 1, "permissionSets", "permissions",
                     permission_set_to_json(&role->permissions), "kubernetesPermissions", "predefinedRole");
}

static json_t *made_to_json(const struct custom_role *role)
{
    struct permission_set permissions;
    char created[TIMESTAMP_SIZE], updated[TIMESTAMP_SIZE];
    timestamp_format(role->created_ms, created);
    timestamp_format(role->updated_ms, updated);
    custom_role_permissions(role->rights_json, &permissions);
    return json_pack("{s:I, s:s, s:s, s:s, s:s, s:n, s:s, s:s, s:b, s:b, s:b, s:o, s:o, s:{s:n}}", "id",
                     (json_int_t)role->id, "name", role->name, "description", role->description, "createdAt", created,
                     "updatedAt", updated, "deletedAt", "createdBy", role->created_by, "updatedBy", role->updated_by,
                     "custom", 1, "effectiveEnabled", role->is_enabled, "enabled", role->is_enabled, "permissionSets",
                     custom_role_sets_to_json(role->rights_json), "permissions", permission_set_to_json(&permissions),
                     "kubernetesPermissions", "predefinedRole");
}

struct role_page {
    const char *search; // NULL: nothing
    int64_t offset, limit, count;
    json_t *list;
};

// Whether the page shows it; counts it where it is found at all.
static bool takes(struct role_page *page, const char *name, const char *description)
{
    if (page->search && !strcasestr(name, page->search) && !strcasestr(description, page->search))
        return false;
    int64_t place = page->count++;
    return place >= page->offset && place - page->offset < page->limit;
}

static int fill_page(struct request *req, struct role_page *page, struct error *err)
{
    const struct role *role;
    struct custom_role *made;
    size_t made_count;
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_READ, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_roles(conn, req->arena, &made, &made_count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    page->list = json_array();
    for (size_t i = 0; (role = role_at(i)); i++)
        if (takes(page, role->name, role->description))
            json_array_append_new(page->list, predefined_to_json(role));
    for (size_t i = 0; i < made_count; i++)
        if (takes(page, made[i].name, made[i].description))
            json_array_append_new(page->list, made_to_json(&made[i]));
    return 0;
}

int op_get_roles_v1(struct request *req, struct response *res, struct error *err)
{
    struct role_page page = {.limit = INT64_MAX};
    return fill_page(req, &page, err) < 0 ? -1 : response_json(res, page.list);
}

int op_get_roles(struct request *req, struct response *res, struct error *err)
{
    struct role_page page = {.search = request_query(req, "search"),
                             .offset = request_query_integer(req, "offset", 0),
                             .limit = request_query_integer(req, "limit", 50)};
    if (fill_page(req, &page, err) < 0)
        return -1;
    int64_t next = page.offset + (int64_t)json_array_size(page.list);
    json_t *answer = json_pack("{s:o}", "roles", page.list);
    if (next < page.count)
        json_object_set_new(answer, "next", json_integer(next));
    return response_json(res, answer);
}

static int refuse_unknown(int64_t id, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND, "role %" PRId64 ": not found", id);
}

static int find_made(struct request *req, int64_t id, struct custom_role *out_role, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_role(conn, id, req->arena, out_role, err);
    db_give_back(req->server->db, conn);
    return rc == 0 ? refuse_unknown(id, err) : rc < 0 ? -1 : 0;
}

static int answer_role(struct request *req, struct response *res, int64_t id, struct error *err)
{
    struct custom_role made;
    const struct role *role = role_find(id);
    if (!role && find_made(req, id, &made, err) < 0)
        return -1;
    return response_json(res, role ? predefined_to_json(role) : made_to_json(&made));
}

int op_get_role_v1(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_READ, err) < 0)
        return -1;
    return answer_role(req, res, request_path_integer(req, "roleIdPath"), err);
}

int op_get_role(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_READ, err) < 0)
        return -1;
    return answer_role(req, res, request_path_integer(req, "roleId"), err);
}

// A role is given anywhere, so its maker must hold what is in it everywhere.
static int check_maker(const struct request *req, const struct permission_set *permissions, struct error *err)
{
    static const struct scope_path TENANT;
    for (enum resource_type type = 0; type < RESOURCE_TYPE_COUNT; type++)
        for (enum access_action action = ACTION_CREATE; action <= ACTION_DELETE; action *= 2)
            if (permissions->actions[type] & action && !access_is_held(req->caller, &TENANT, type, action))
                return error_set(err, ERROR_FORBIDDEN, "permissions: the role may %s %s, and you may not in the tenant",
                                 access_action_text(action), resource_type_text(type));
    return 0;
}

static bool is_predefined(const char *name)
{
    const struct role *role;
    for (size_t i = 0; (role = role_at(i)); i++)
        if (!strcasecmp(role->name, name))
            return true;
    return false;
}

static int role_from_body(struct request *req, struct custom_role *out_role, struct error *err)
{
    struct permission_set permissions;
    const json_t *enabled = json_object_get(req->body, "enabled");
    *out_role = (struct custom_role){
        .name = json_string_value(json_object_get(req->body, "name")),
        .description = json_string_value(json_object_get(req->body, "description")),
        .is_enabled = !json_is_false(enabled),
        .updated_by = req->caller->name,
        .updated_ms = req->received_ms,
    };
    if (strspn(out_role->name, " \t") == strlen(out_role->name))
        return error_set(err, ERROR_INVALID, "name: expected more than spaces");
    if (is_predefined(out_role->name))
        return error_set(err, ERROR_CONFLICT, "name: there is a role %.100s already", out_role->name);
    if (custom_role_read(req->body, req->arena, &permissions, &out_role->rights_json, err) < 0)
        return -1;
    return check_maker(req, &permissions, err);
}

int op_create_role(struct request *req, struct response *res, struct error *err)
{
    struct custom_role role;
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_CREATE, err) < 0 || role_from_body(req, &role, err) < 0 ||
        db_create_role(req->server->db, &role, err) < 0)
        return -1;
    return answer_role(req, res, role.id, err);
}

// A role that may be changed: not a predefined one.
static int find_own(struct request *req, enum access_action action, int64_t *out_id, struct custom_role *out_role,
                    struct error *err)
{
    *out_id = request_path_integer(req, "roleId");
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, action, err) < 0)
        return -1;
    if (!role_find(*out_id))
        return find_made(req, *out_id, out_role, err);
    error_set(err, ERROR_FORBIDDEN, "role %" PRId64 ": a predefined role stays as it is", *out_id);
    return error_details(err, "make a role of your own");
}

int op_update_role(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    struct custom_role before, role;
    if (find_own(req, ACTION_UPDATE, &id, &before, err) < 0 || role_from_body(req, &role, err) < 0)
        return -1;
    role.id = id;
    if (!json_object_get(req->body, "enabled"))
        role.is_enabled = before.is_enabled;
    if (db_update_role(req->server->db, &role, err) < 0)
        return -1;
    return answer_role(req, res, id, err);
}

int op_delete_role(struct request *req, struct response *res, struct error *err)
{
    int64_t id;
    struct custom_role role;
    if (find_own(req, ACTION_DELETE, &id, &role, err) < 0 ||
        db_delete_role(req->server->db, id, req->received_ms, err) < 0)
        return -1;
    return response_empty(res, 204);
}

static json_t *bundle_to_json(const struct permission_bundle *bundle)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "id", bundle->id, "name", bundle->name, "description", bundle->description,
                     "permissions", permission_set_to_json(&bundle->permissions));
}

int op_get_permission_sets(struct request *req, struct response *res, struct error *err)
{
    const struct permission_bundle *bundle;
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_READ, err) < 0)
        return -1;
    json_t *list = json_array();
    for (size_t i = 0; (bundle = permission_bundle_at(i)); i++)
        json_array_append_new(list, bundle_to_json(bundle));
    return response_json(res, json_pack("{s:o}", "permissionSets", list));
}

int op_get_permission_set(struct request *req, struct response *res, struct error *err)
{
    const char *id = request_path(req, "permissionSetId");
    if (access_check_tenant(req, RESOURCE_TYPE_ROLES, ACTION_READ, err) < 0)
        return -1;
    const struct permission_bundle *bundle = permission_bundle_find(id);
    if (!bundle)
        return error_set(err, ERROR_NOT_FOUND, "permission set %.60s: not found", id);
    return response_json(res, bundle_to_json(bundle));
}
