// Rights: a role in a scope holds below that scope, nowhere else; what belongs to a cluster or the tenant is read from
// below.
#include "api/access/authorization.h"

#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <string.h>

enum {
    CLUSTER = 1,
    RESEARCH = 10,
    PLATFORM = 20,
    TEAM_A = 11,
    TEAM_B = 12,
    TEAM_C = 21
};

static const struct scope_path TENANT_PATH = {0};
static const struct scope_path CLUSTER_PATH = {CLUSTER, 0, 0};
static const struct scope_path RESEARCH_PATH = {CLUSTER, RESEARCH, 0};
static const struct scope_path TEAM_A_PATH = {CLUSTER, RESEARCH, TEAM_A};
static const struct scope_path TEAM_B_PATH = {CLUSTER, RESEARCH, TEAM_B};
static const struct scope_path TEAM_C_PATH = {CLUSTER, PLATFORM, TEAM_C};

struct access_case {
    const char *name;
    int role_id;
    enum scope_type scope;
    const struct scope_path *granted;
    enum resource_type type;
    enum access_action action;
    const struct scope_path *where;
    int want_status; // 200, 403, 404
};

static const struct access_case CASES[] = {
    {"a system administrator anywhere", 1, SCOPE_TENANT, &TENANT_PATH, RESOURCE_TYPE_USERS, ACTION_DELETE, &TENANT_PATH,
     200},
    {"and in a project", 1, SCOPE_TENANT, &TENANT_PATH, RESOURCE_TYPE_TRAININGS, ACTION_CREATE, &TEAM_A_PATH, 200},
    {"an administrator of a department in its project", 2, SCOPE_DEPARTMENT, &RESEARCH_PATH, RESOURCE_TYPE_PROJECT,
     ACTION_DELETE, &TEAM_B_PATH, 200},
    {"not in another department's", 2, SCOPE_DEPARTMENT, &RESEARCH_PATH, RESOURCE_TYPE_PROJECT, ACTION_DELETE,
     &TEAM_C_PATH, 404},
    {"a researcher submits in the project", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_TRAININGS, ACTION_CREATE,
     &TEAM_A_PATH, 200},
    {"not in the one beside it, which is not to be seen", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_TRAININGS,
     ACTION_CREATE, &TEAM_B_PATH, 404},
    {"does not change the project", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_PROJECT, ACTION_UPDATE, &TEAM_A_PATH,
     403},
    {"does not see the department", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_DEPARTMENT, ACTION_READ,
     &RESEARCH_PATH, 404},
    {"sees the cluster above", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_CLUSTER, ACTION_READ, &CLUSTER_PATH, 200},
    {"but not its nodes", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_NODES, ACTION_READ, &CLUSTER_PATH, 403},
    {"a practitioner sees the node pools", 17, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_NODEPOOLS, ACTION_READ,
     &CLUSTER_PATH, 200},
    {"and does not change them", 17, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_NODEPOOLS, ACTION_UPDATE, &CLUSTER_PATH,
     403},
    {"settings are read from below", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_SETTINGS, ACTION_READ, &TENANT_PATH,
     200},
    {"and not changed", 5, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE, &TENANT_PATH, 403},
    {"a viewer reads", 7, SCOPE_CLUSTER, &CLUSTER_PATH, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &TEAM_C_PATH, 200},
    {"and does not write", 7, SCOPE_CLUSTER, &CLUSTER_PATH, RESOURCE_TYPE_WORKLOADS, ACTION_DELETE, &TEAM_C_PATH, 403},
    {"an ML engineer manages inferences alone", 6, SCOPE_PROJECT, &TEAM_A_PATH, RESOURCE_TYPE_TRAININGS, ACTION_READ,
     &TEAM_A_PATH, 403},
};

static int status_of(struct arena *arena, const struct access_case *row)
{
    struct grant grant = {.role = role_find(row->role_id), .scope = row->scope, .path = *row->granted};
    struct grants grants = {&grant, 1};
    struct identity caller = {.grants = &grants};
    struct request req = {.caller = &caller, .arena = arena};
    struct error err = {0};
    return access_check(&req, row->where, row->type, row->action, "it", &err) == 0 ? 200 : error_status(err.code);
}

static void test_cases(struct arena *arena)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_int(status_of(arena, &CASES[i]), CASES[i].want_status, "%s", CASES[i].name);
}

static void test_filter(struct arena *arena)
{
    const struct grant grants_list[] = {
        {.role = role_find(5), .scope = SCOPE_PROJECT, .path = TEAM_C_PATH},
        {.role = role_find(7), .scope = SCOPE_DEPARTMENT, .path = RESEARCH_PATH},
        {.role = role_find(5), .scope = SCOPE_PROJECT, .path = TEAM_C_PATH}, // twice changes nothing
    };
    struct grants grants = {grants_list, COUNT(grants_list)};
    struct identity caller = {.grants = &grants};
    struct request req = {.caller = &caller, .arena = arena};
    struct scope_filter filter;
    access_filter(&req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    check_true(!filter.is_all && !filter.cluster_count, "not everything");
    check_int((int64_t)filter.department_count, 1, "departments");
    check_int((int64_t)filter.project_count, 1, "projects");
    check_true(scope_filter_shows(&filter, &TEAM_A_PATH) && scope_filter_shows(&filter, &TEAM_C_PATH),
               "both are shown");
    check_true(!scope_filter_shows(&filter, &CLUSTER_PATH), "the cluster itself is not");
    access_filter(&req, RESOURCE_TYPE_WORKLOADS, ACTION_DELETE, &filter);
    check_true(!filter.department_count && filter.project_count == 1, "deleting is allowed in the one project");
    access_filter(&req, RESOURCE_TYPE_NODES, ACTION_READ, &filter);
    check_true(scope_filter_shows(&filter, &CLUSTER_PATH), "nodes are read from below by the viewer");
    access_filter(&req, RESOURCE_TYPE_USERS, ACTION_CREATE, &filter);
    check_true(!filter.is_all && !filter.cluster_count && !filter.department_count && !filter.project_count, "nothing");
    struct permission_set held;
    access_permissions(&caller, &held);
    check_int(held.actions[RESOURCE_TYPE_WORKLOADS], ACTION_ALL, "the union of both roles");
    check_int(held.actions[RESOURCE_TYPE_NODES], ACTION_READ, "of the viewer alone");
}

static void test_roles(void)
{
    const struct role *role;
    for (size_t i = 0; (role = role_at(i)); i++) {
        check_true(role_find(role->id) == role, "%s has its number alone", role->name);
        for (size_t type = 0; type < RESOURCE_TYPE_COUNT; type++) {
            uint8_t actions = role->permissions.actions[type];
            check_true(!actions || actions & ACTION_READ, "%s: who writes %s reads it", role->name,
                       resource_type_text((enum resource_type)type));
        }
    }
    for (size_t i = 0; i < RESOURCE_TYPE_COUNT; i++) {
        enum resource_type type;
        check_true(resource_type_parse(resource_type_text((enum resource_type)i), &type) && type == i,
                   "resource type %zu", i);
    }
}

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    test_cases(&arena);
    test_filter(&arena);
    test_roles();
    arena_done(&arena);
    return check_finish();
}
