#include "tests/fakekube/faults.h"
#include <string.h>

static bool fits(const json_t *match, const char *member, const char *value)
{
    const char *wanted = json_text_at(match, member);
    return !wanted || strcmp(wanted, value) == 0;
}

// "worker-*"
static bool fits_begin(const json_t *match, const char *member, const char *value)
{
    const char *wanted = json_text_at(match, member);
    size_t length = wanted ? strlen(wanted) : 0;
    bool is_begin = length > 0 && wanted[length - 1] == '*';
    return is_begin ? strncmp(wanted, value, length - 1) == 0 : fits(match, member, value);
}

static bool fault_fits(const json_t *fault, const struct call *call)
{
    json_t *match = json_object_get(fault, "match");
    const char *resource = call->resource >= 0 ? RESOURCES[call->resource].plural : "";
    return fits_begin(match, "name", call->name) && fits_begin(match, "path", call->path) &&
           fits(match, "verb", call->verb) && fits(match, "resource", resource) &&
           fits(match, "subresource", call->subresource) && fits(match, "namespace", call->namespace) &&
           fits(match, "method", call->method);
}

static int64_t count(json_t *fault, const char *member, int64_t more)
{
    int64_t value = json_integer_value(json_object_get(fault, member)) + more;
    json_object_set_new(fault, member, json_integer(value));
    return value;
}

json_t *faults_strike(struct kube *kube, const struct call *call)
{
    size_t index;
    json_t *fault;
    json_array_foreach(kube->faults, index, fault) {
        json_t *times = json_object_get(fault, "times");
        int64_t limit = times ? json_integer_value(times) : 1;
        if (!fault_fits(fault, call) || (limit > 0 && count(fault, "hits", 0) >= limit))
            continue;
        if (count(fault, "seen", 1) <= json_integer_value(json_object_get(fault, "skip")))
            continue;
        count(fault, "hits", 1);
        return json_deep_copy(fault);
    }
    return NULL;
}

json_t *fault_action(const struct call *call, const char *name)
{
    return json_object_get(call->fault, name);
}

bool fault_is(const struct call *call, const char *name)
{
    return json_is_true(fault_action(call, name));
}

int64_t fault_number(const struct call *call, const char *name)
{
    json_t *value = fault_action(call, name);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

void fault_answer(struct call *call, const json_t *status)
{
    int code = (int)json_integer_value(json_object_get(status, "code"));
    const char *message = json_text_at(status, "message"), *reason = json_text_at(status, "reason");
    call_fail(call, code ? code : 500, reason ? reason : "", "%s", message ? message : "a fault of the test");
    size_t index;
    json_t *cause;
    json_array_foreach(json_object_get(status, "causes"), index, cause)
        call_add_cause(call, json_text_at(cause, "reason"), json_text_at(cause, "message"),
                       json_text_at(cause, "field"));
    json_t *after = json_object_get(status, "retryAfter");
    if (after) {
        call_set_details(call, "retryAfterSeconds", json_incref(after));
        buffer_printf(&call->headers, "Retry-After: %" JSON_INTEGER_FORMAT "\r\n", json_integer_value(after));
    }
    if (json_is_true(json_object_get(status, "kindless")))
        json_object_del(call->value, "kind");
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(status, "headers"), name, value)
        buffer_printf(&call->headers, "%s: %s\r\n", name, json_string_value(value));
    if (json_is_true(json_object_get(status, "empty"))) {
        json_decref(call->value);
        call->value = NULL;
    }
}
