#include "api/people/user_reach.h"

#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/http/request.h"
#include "api/identity.h"
#include "api/server.h"
#include "base/error.h"
#include "db/access_rules.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <string.h>

// Work inside a project, and what one only reads, give no power over others; the first role can do everything.
static bool is_power(const struct role *role, enum resource_type type, enum access_action action)
{
    const char *group = resource_type_group(type);
    if (role->id == ROLE_SYSTEM_ADMINISTRATOR)
        return true;
    return action != ACTION_READ && strcmp(group, "workload") != 0 && strcmp(group, "workload-asset") != 0 &&
           type != RESOURCE_TYPE_ACCESS_KEYS;
}

static int check_role(const struct request *req, const struct user *user, const struct role *role,
                      const struct scope_path *where, struct error *err)
{
    for (enum resource_type type = 0; type < RESOURCE_TYPE_COUNT; type++)
        for (enum access_action action = ACTION_CREATE; action <= ACTION_DELETE; action *= 2)
            if (is_power(role, type, action) && role->permissions.actions[type] & action &&
                !access_is_held(req->caller, where, type, action))
                return error_set(err, ERROR_FORBIDDEN, "%s has the role %s, which you lack there", user->email,
                                 role->name);
    return 0;
}

int user_reach_check(struct request *req, const struct user *user, struct error *err)
{
    struct access_rule *rules;
    size_t count;
    if (req->caller->type == SUBJECT_USER && req->caller->subject_id == user->id)
        return 0;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_rules_in_force(conn, true, user->email, req->arena, &rules, &count, err);
    db_give_back(req->server->db, conn);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct role *role = role_of_rule(&rules[i], req->arena);
        if (role)
            rc = check_role(req, user, role, &rules[i].path, err);
    }
    return rc < 0 ? -1 : 0;
}

int user_reach(struct request *req, enum access_action action, struct user *out_user, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_USERS, action, err) < 0)
        return -1;
    const char *id = request_path(req, "userId");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_user_by_uuid(conn, id, req->arena, out_user, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "user %.60s: not found", id);
    return rc < 0 ? -1 : action == ACTION_READ ? 0 : user_reach_check(req, out_user, err);
}
