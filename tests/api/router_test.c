// Routes: the operation that a method and a path lead to.
#include "api/http/path.h"
#include "api/http/router.h"
#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <string.h>

// name, method, path, operationId ("" for none), Allow ("" for an unknown path)
static const struct {
    const char *name, *method, *path, *want, *allow;
} CASES[] = {
    {"a list", "GET", "/api/v1/workloads", "get_workloads", "GET, HEAD, OPTIONS"},
    {"a literal before a parameter", "GET", "/api/v1/workloads/count", "count_workloads", "GET, HEAD, OPTIONS"},
    {"a parameter", "GET", "/api/v1/workloads/abc", "get_workload", "GET, HEAD, OPTIONS"},
    {"below a parameter", "GET", "/api/v1/workloads/abc/pods", "get_workload_pods", "GET, HEAD, OPTIONS"},
    {"a parameter below a literal", "GET", "/api/v1/workloads/trainings/abc", "get_training",
     "GET, HEAD, DELETE, OPTIONS"},
    {"an action", "POST", "/api/v1/workloads/trainings/abc/suspend", "suspend_training", "POST, OPTIONS"},
    {"step back from a literal that leads nowhere", "GET", "/api/v1/nodes/telemetry/metrics", "get_node_metrics",
     "GET, HEAD, OPTIONS"},
    {"several methods", "PATCH", "/api/v1/node-pools/1", "patch_nodepool", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
    {"the old prefix", "PUT", "/v1/k8s/setting", "updateTenantSetting", "GET, HEAD, PUT, OPTIONS"},
    {"a form of old scripts", "POST", "/auth/realms/any/protocol/openid-connect/token", "grant_token_of_realm",
     "POST, OPTIONS"},
    {"a method that the path lacks", "DELETE", "/api/v1/workloads", "", "GET, HEAD, OPTIONS"},
    {"a path without operation of its own", "GET", "/api/v1", "", ""},
    {"the root is no operation", "GET", "/", "", ""},
    {"unknown", "GET", "/api/v1/nonsense", "", ""},
    {"too deep", "GET", "/api/v1/workloads/count/more", "", ""},
    {"letters are told apart by case", "GET", "/api/v1/Workloads", "", ""},
    {"a name with a brace is an id like another", "GET", "/api/v1/workloads/{workloadId}", "get_workload",
     "GET, HEAD, OPTIONS"},
};

static void test_find(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena arena;
        struct error err = {0};
        struct path path = {.count = 0};
        enum http_method method = HTTP_METHOD_COUNT;
        char allow[ROUTER_ALLOW_SIZE] = "";
        arena_init(&arena);
        check_int(path_split(CASES[i].path, &arena, &path, &err), 0, "%s", CASES[i].name);
        const struct route *route = router_find(&path);
        check_true(router_method(CASES[i].method, &method), "%s", CASES[i].name);
        const struct operation *operation = route ? router_operation(route, method) : NULL;
        if (route)
            router_allow(route, allow);
        check_text(operation ? operation->id : "", CASES[i].want, "%s", CASES[i].name);
        check_text(allow, CASES[i].allow, "%s: Allow", CASES[i].name);
        arena_done(&arena);
    }
}

// Each operation of the document is found at its own path, and at those of other releases.
static void test_every_operation(void)
{
    check_true(ALIAS_COUNT > 0, "there are aliases");
    for (size_t i = 0; i < OPERATION_COUNT + ALIAS_COUNT; i++) {
        struct arena arena;
        struct error err = {0};
        struct path path;
        arena_init(&arena);
        check_int(path_split(OPERATIONS[i].path, &arena, &path, &err), 0, "%s", OPERATIONS[i].id);
        const struct route *route = router_find(&path);
        const struct operation *operation = route ? router_operation(route, OPERATIONS[i].method) : NULL;
        check_text(operation ? operation->id : "", OPERATIONS[i].id, "%s %s", OPERATIONS[i].id, OPERATIONS[i].path);
        check_true(OPERATIONS[i].handler != NULL, "%s has a handler", OPERATIONS[i].id);
        const struct operation *original = OPERATIONS[i].original;
        check_true((i >= OPERATION_COUNT) == (original != NULL), "%s %s", OPERATIONS[i].id, OPERATIONS[i].path);
        check_true(!original || original->handler == OPERATIONS[i].handler, "%s is the same", OPERATIONS[i].id);
        arena_done(&arena);
    }
}

static void test_methods(void)
{
    static const char *const UNKNOWN[] = {"HEAD", "OPTIONS", "get", "TRACE", "", "GETS", "PROPFIND"};
    enum http_method method;
    for (size_t i = 0; i < COUNT(UNKNOWN); i++)
        check_true(!router_method(UNKNOWN[i], &method), "%s is no method of an operation", UNKNOWN[i]);
}

int main(void)
{
    test_find();
    test_every_operation();
    test_methods();
    return check_finish();
}
