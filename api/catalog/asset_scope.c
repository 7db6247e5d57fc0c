#include "api/catalog/asset_scope.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "base/arena.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool asset_scope_is_shown(const struct request *req, enum scope_type type, const struct scope_path *path,
                          enum resource_type resource)
{
    return type <= SCOPE_TENANT || access_is_allowed(req->caller, path, resource, ACTION_READ) ||
           access_is_read_below(req->caller, path, resource);
}

int asset_scope_check(const struct request *req, enum scope_type type, const struct scope_path *path,
                      enum resource_type resource, enum access_action action, const char *what, struct error *err)
{
    bool is_shown = asset_scope_is_shown(req, type, path, resource);
    if (!is_shown)
        return error_set(err, ERROR_NOT_FOUND, "%s: not found", what);
    if (action == ACTION_READ)
        return 0;
    if (type == SCOPE_SYSTEM)
        return error_set(err, ERROR_FORBIDDEN, "%s: a predefined asset stays as it is", what);
    if (access_is_allowed(req->caller, path, resource, action))
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "%s: your roles do not allow this here", what);
}

// Digits as text; 0 where it is anything else.
static int64_t read_number(const char *id)
{
    size_t length = strlen(id);
    return length > 0 && length <= 18 && strspn(id, "0123456789") == length ? atoll(id) : 0;
}

static int check_place(struct request *req, const char *id, enum resource_type resource, enum access_action action,
                       struct asset_scope *scope, struct error *err)
{
    int64_t number = read_number(id);
    switch (scope->type) {
    case SCOPE_PROJECT:
        scope->id = arena_printf(req->arena, "%" PRId64, number);
        return access_check_project(req, number, resource, action, &scope->path, err);
    case SCOPE_DEPARTMENT:
        scope->id = arena_printf(req->arena, "%" PRId64, number);
        return access_check_department(req, number, resource, action, &scope->path, err);
    default:
        scope->id = arena_strdup(req->arena, id);
        return access_check_cluster(req, id, resource, action, &scope->path, err);
    }
}

int asset_scope_read(struct request *req, const char *type, const char *id, const char *member,
                     enum resource_type resource, enum access_action action, struct asset_scope *out_scope,
                     struct error *err)
{
    *out_scope = (struct asset_scope){.id = ""};
    if (!type || !scope_type_parse(type, &out_scope->type) || out_scope->type == SCOPE_SYSTEM)
        return error_set(err, ERROR_INVALID,
                         "%s: tenant, cluster, department or project; system is for what comes along", member);
    if (out_scope->type == SCOPE_TENANT)
        return action == ACTION_READ ? 0 : access_check_tenant(req, resource, action, err);
    if (!id || !*id)
        return error_set(err, ERROR_INVALID, "%s: needs the id of a %s", member, type);
    struct error cause = {0};
    if (check_place(req, id, resource, action, out_scope, &cause) == 0)
        return 0;
    if (cause.code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "%s: there is no %s %.60s", member, type, id);
    *err = cause;
    return -1;
}

bool asset_scope_holds(enum scope_type outer, const struct scope_path *outer_path, const struct scope_path *inner)
{
    return outer <= SCOPE_TENANT || scope_path_contains(outer_path, inner);
}
