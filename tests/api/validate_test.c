// Bodies and parameters against the document's schemas: what passes, and that a refusal names the path and the value.
#include "api/http/validate.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>

static const struct operation *find_operation(const char *id)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        if (strcmp(OPERATIONS[i].id, id) == 0)
            return &OPERATIONS[i];
    }
    abort();
}

#define ID "\"clusterId\":\"123e4567-e89b-12d3-a456-426614174000\""
#define TRAINING(spec) "{\"name\":\"a\",\"projectId\":\"1\"," ID ",\"spec\":" spec "}"

#define AN_AMOUNT                                                                                                     \
    "spec.compute.cpuMemoryRequest: expected an amount such as 8G or 8Gi (k, M, G, T, P: thousands; Ki, Mi, Gi, Ti, " \
    "Pi: 1024), got "

// name, operation, body, message
static const struct {
    const char *name, *operation, *body, *message;
} BODIES[] = {
    {"the least", "create_training1", "{\"name\":\"a\",\"projectId\":\"1\"," ID "}", ""},
    {"a request of the quick start", "create_training1",
     TRAINING("{\"image\":\"x\",\"compute\":{\"gpuDevicesRequest\":1}}"), ""},
    {"null where it may be", "create_training1", TRAINING("{\"image\":\"x\",\"compute\":null,\"command\":null}"), ""},
    {"fields that nobody knows", "create_training1", TRAINING("{\"newField\":{\"a\":[1]}}"), ""},
    {"a whole number with a point", "create_training1", TRAINING("{\"compute\":{\"gpuDevicesRequest\":2.0}}"), ""},
    {"a number without a point", "create_training1", TRAINING("{\"compute\":{\"cpuCoreRequest\":2}}"), ""},
    {"a quantity", "create_training1", TRAINING("{\"compute\":{\"cpuMemoryRequest\":\"100M\"}}"), ""},
    {"a list of items", "create_training1", TRAINING("{\"environmentVariables\":[{\"name\":\"A\",\"value\":\"b\"}]}"),
     ""},
    {"an upper-case UUID", "create_training1",
     "{\"name\":\"a\",\"projectId\":\"1\",\"clusterId\":\"123E4567-E89B-12D3-A456-426614174000\"}", ""},
    {"a list as the body", "patch_project_resources", "[]", ""},

    {"a text as the body", "create_training1", "\"a\"", "body: expected an object, got \"a\""},
    {"null as the body", "create_training1", "null", "body: expected an object, got null"},
    {"a list for an object", "create_training1", "[]", "body: expected an object, got a list"},
    {"an object for a list", "patch_project_resources", "{}", "body: expected a list, got an object"},
    {"nothing in it", "create_training1", "{}", "name: required"},
    {"a field is missing", "create_training1", "{\"name\":\"a\"," ID "}", "projectId: required"},
    {"a number for a text", "create_training1", "{\"name\":7,\"projectId\":\"1\"," ID "}",
     "name: expected text, got 7"},
    {"true for a text", "create_training1", "{\"name\":true,\"projectId\":\"1\"," ID "}",
     "name: expected text, got true"},
    {"null where it may not be", "create_training1", "{\"name\":null,\"projectId\":\"1\"," ID "}",
     "name: expected text, got null"},
    {"an empty name", "create_training1", "{\"name\":\"\",\"projectId\":\"1\"," ID "}",
     "name: at least 1 character, got \"\""},
    {"no UUID", "create_training1", "{\"name\":\"a\",\"projectId\":\"1\",\"clusterId\":\"7\"}",
     "clusterId: expected a UUID, got \"7\""},
    {"below the least", "create_training1", TRAINING("{\"compute\":{\"gpuDevicesRequest\":-1}}"),
     "spec.compute.gpuDevicesRequest: at least 0, got -1"},
    {"beyond 32 bits", "create_training1", TRAINING("{\"compute\":{\"gpuDevicesRequest\":4294967296}}"),
     "spec.compute.gpuDevicesRequest: at most 2147483647, got 4294967296"},
    {"a fraction for a whole number", "create_training1", TRAINING("{\"compute\":{\"gpuDevicesRequest\":1.5}}"),
     "spec.compute.gpuDevicesRequest: expected a whole number, got 1.5"},
    {"a text for a number", "create_training1", TRAINING("{\"compute\":{\"gpuDevicesRequest\":\"1\"}}"),
     "spec.compute.gpuDevicesRequest: expected a whole number, got \"1\""},
    {"an object for a number", "create_training1", TRAINING("{\"compute\":{\"cpuCoreRequest\":{}}}"),
     "spec.compute.cpuCoreRequest: expected a number, got an object"},
    {"a negative core", "create_training1", TRAINING("{\"compute\":{\"cpuCoreRequest\":-0.5}}"),
     "spec.compute.cpuCoreRequest: at least 0, got -0.5"},
    {"no quantity", "create_training1", TRAINING("{\"compute\":{\"cpuMemoryRequest\":\"lots\"}}"),
     AN_AMOUNT "\"lots\""},
    {"bytes after the unit", "create_training1", TRAINING("{\"compute\":{\"cpuMemoryRequest\":\"8GB\"}}"),
     AN_AMOUNT "\"8GB\""},
    {"a small unit", "create_training1", TRAINING("{\"compute\":{\"cpuMemoryRequest\":\"8g\"}}"), AN_AMOUNT "\"8g\""},
    {"a text for a list", "create_training1", TRAINING("{\"environmentVariables\":\"A=b\"}"),
     "spec.environmentVariables: expected a list, got \"A=b\""},
    {"a wrong item names its place", "create_training1",
     TRAINING("{\"environmentVariables\":[{\"name\":\"A\"},{\"name\":[]}]}"),
     "spec.environmentVariables[1].name: expected text, got a list"},
    {"an item of the wrong type", "create_training1", TRAINING("{\"environmentVariables\":[7]}"),
     "spec.environmentVariables[0]: expected an object, got 7"},
    {"an item of the body's list", "patch_project_resources", "[{},7]", "body[1]: expected an object, got 7"},
    {"a wrong word", "batch_workloads", "{\"action\":\"explode\",\"ids\":[]}",
     "action: one of delete, suspend, resume, got \"explode\""},
};

static void test_bodies(void)
{
    for (size_t i = 0; i < COUNT(BODIES); i++) {
        struct error err = {0};
        json_t *body = json_loads(BODIES[i].body, JSON_DECODE_ANY, NULL);
        check_true(body != NULL, "%s is JSON", BODIES[i].name);
        int rc = validate_body(find_operation(BODIES[i].operation)->body_schema, body, &err);
        check_int(rc, BODIES[i].message[0] ? -1 : 0, "%s", BODIES[i].name);
        check_text(err.message, BODIES[i].message, "%s", BODIES[i].name);
        json_decref(body);
    }
}

static void test_whole_reals_become_integers(void)
{
    struct error err = {0};
    json_t *body = json_loads(TRAINING("{\"compute\":{\"gpuDevicesRequest\":2.0}}"), 0, NULL);
    check_int(validate_body(find_operation("create_training1")->body_schema, body, &err), 0, "2.0 is whole");
    json_t *spec = json_object_get(body, "spec");
    json_t *request = json_object_get(json_object_get(spec, "compute"), "gpuDevicesRequest");
    check_true(json_is_integer(request), "2.0 became an integer");
    check_int(json_integer_value(request), 2, "2.0 is 2");
    json_decref(body);
}

static void test_long_values_are_cut(void)
{
    struct error err = {0};
    char name[400];
    memset(name, 'x', sizeof(name) - 1);
    memcpy(name + 59, "\xc3\xa9", 2); // would be cut in two
    name[sizeof(name) - 1] = '\0';
    json_t *body = json_pack("{s:s, s:s, s:s}", "name", "a", "projectId", "1", "clusterId", name);
    validate_body(find_operation("create_training1")->body_schema, body, &err);
    check_true(strstr(err.message, "clusterId: expected a UUID, got \"xxx") != NULL, "the value is shown: %s",
               err.message);
    check_true(strlen(err.message) < 120, "but not all of it");
    check_true(strchr(err.message, '\xc3') == NULL, "and no half a character");
    json_decref(body);
}

static const struct parameter *find_parameter(const char *operation, const char *name)
{
    const struct operation *found = find_operation(operation);
    for (size_t i = 0; i < found->parameter_count; i++) {
        if (strcmp(found->parameters[i].name, name) == 0)
            return &found->parameters[i];
    }
    abort();
}

// name, operation, parameter, text, integer, message
static const struct {
    const char *name, *operation, *parameter, *text;
    int64_t want;
    const char *message;
} TEXTS[] = {
    {"a page", "get_workloads", "limit", "500", 500, ""},
    {"the smallest page", "get_workloads", "limit", "1", 1, ""},
    {"true", "get_workloads", "deleted", "true", 1, ""},
    {"false", "get_workloads", "deleted", "false", 0, ""},
    {"a word of the list", "get_workloads", "sortOrder", "desc", 0, ""},
    {"a time", "get_workload_metrics", "start", "2026-01-01T00:00:00Z", 0, ""},
    {"a time with an offset", "get_workload_metrics", "start", "2026-01-01T00:00:00.5+02:00", 0, ""},
    {"nothing of a page", "get_workloads", "limit", "0", -7, "limit: at least 1, got 0"},
    {"too large a page", "get_workloads", "limit", "501", -7, "limit: at most 500, got 501"},
    {"a negative offset", "get_workloads", "offset", "-1", -7, "offset: at least 0, got -1"},
    {"an offset beyond 32 bits", "get_workloads", "offset", "2147483648", -7,
     "offset: at most 2147483647, got 2147483648"},
    {"an offset beyond 64 bits", "get_workloads", "offset", "99999999999999999999", -7,
     "offset: expected a whole number, got \"99999999999999999999\""},
    {"a word for a number", "get_workloads", "limit", "ten", -7, "limit: expected a whole number, got \"ten\""},
    {"nothing for a number", "get_workloads", "limit", "", -7, "limit: expected a whole number, got \"\""},
    {"a blank in front", "get_workloads", "limit", " 5", -7, "limit: expected a whole number, got \" 5\""},
    {"a plus in front", "get_workloads", "limit", "+5", -7, "limit: expected a whole number, got \"+5\""},
    {"a fraction", "get_workloads", "limit", "5.0", -7, "limit: expected a whole number, got \"5.0\""},
    {"a hexadecimal", "get_workloads", "limit", "0x10", -7, "limit: expected a whole number, got \"0x10\""},
    {"a capital truth", "get_workloads", "deleted", "True", 1, ""},
    {"a number for truth", "get_workloads", "deleted", "1", 1, ""},
    {"another number for truth", "get_workloads", "deleted", "2", -7, "deleted: expected true or false, got \"2\""},
    {"a word for truth", "get_workloads", "deleted", "yes", -7, "deleted: expected true or false, got \"yes\""},
    {"a word not in the list", "get_workloads", "sortOrder", "up", -7, "sortOrder: one of asc, desc, got \"up\""},
    {"no time", "get_workload_metrics", "start", "yesterday", -7,
     "start: expected a time as 2022-01-01T03:49:52.531Z, got \"yesterday\""},
    {"the 30th of February", "get_workload_metrics", "start", "2026-02-30T00:00:00Z", -7,
     "start: expected a time as 2022-01-01T03:49:52.531Z, got \"2026-02-30T00:00:00Z\""},
    {"no UUID in the path", "get_workload", "workloadId", "abc", -7, "workloadId: expected a UUID, got \"abc\""},
};

static void test_texts(void)
{
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct error err = {0};
        int64_t integer = -7;
        const struct parameter *parameter = find_parameter(TEXTS[i].operation, TEXTS[i].parameter);
        int rc = validate_text(parameter->schema, parameter->name, TEXTS[i].text, &integer, &err);
        check_int(rc, TEXTS[i].message[0] ? -1 : 0, "%s", TEXTS[i].name);
        check_int(integer, TEXTS[i].want, "%s", TEXTS[i].name);
        check_text(err.message, TEXTS[i].message, "%s", TEXTS[i].name);
    }
}

int main(void)
{
    test_bodies();
    test_whole_reals_become_integers();
    test_long_values_are_cut();
    test_texts();
    return check_finish();
}
