#include "tests/fakekube/pods.h"
#include "base/timestamp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_missing(json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key))
        json_decref(value);
    else
        json_object_set_new(object, key, value);
}

int64_t quantity_milli(const json_t *value)
{
    static const struct {
        const char *suffix;
        double factor;
    } SUFFIXES[] = {{"n", 1e-6},
                    {"u", 1e-3},
                    {"m", 1},
                    {"", 1e3},
                    {"k", 1e6},
                    {"M", 1e9},
                    {"G", 1e12},
                    {"T", 1e15},
                    {"P", 1e18},
                    {"Ki", 1024e3},
                    {"Mi", 1048576e3},
                    {"Gi", 1073741824e3},
                    {"Ti", 1099511627776e3},
                    {"Pi", 1125899906842624e3}};
    if (json_is_number(value))
        return (int64_t)(json_number_value(value) * 1e3);
    const char *text = json_string_value(value);
    if (!text)
        return 0;
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++)
        if (strcmp(end, SUFFIXES[i].suffix) == 0)
            return (int64_t)ceil(fmin(number * SUFFIXES[i].factor, 9e18));
    return 0;
}

static int64_t container_milli(const json_t *container, const char *resource)
{
    return quantity_milli(json_object_get(json_at(container, "resources.requests"), resource));
}

int64_t pod_asks_milli(const json_t *pod, const char *resource)
{
    int64_t sum = 0, first = 0;
    size_t index;
    json_t *container;
    json_array_foreach(json_at(pod, "spec.containers"), index, container)
        sum += container_milli(container, resource);
    json_array_foreach(json_at(pod, "spec.initContainers"), index, container) {
        const char *policy = json_text_at(container, "restartPolicy");
        int64_t own = container_milli(container, resource);
        if (policy && strcmp(policy, "Always") == 0)
            sum += own;
        else if (own > first)
            first = own;
    }
    return sum > first ? sum : first;
}

static bool is_extended(const char *resource)
{
    return strchr(resource, '/') && !strstr(resource, "kubernetes.io/");
}

static void check_amounts(const json_t *container, const char *where, json_t *causes)
{
    json_t *limits = json_at(container, "resources.limits");
    const char *name;
    json_t *amount;
    json_object_foreach(json_at(container, "resources.requests"), name, amount) {
        char field[200];
        json_t *limit = json_object_get(limits, name);
        snprintf(field, sizeof(field), "%s.resources.requests", where);
        if (is_extended(name) && !limit) {
            snprintf(field, sizeof(field), "%s.resources.limits", where);
            cause_add_required(causes, field, "Limit must be set for non overcommitable resources");
        }
        if (limit && is_extended(name) && quantity_milli(limit) != quantity_milli(amount))
            cause_add(causes, "FieldValueInvalid", field, json_string_value(amount), "must be equal to its limit");
        else if (limit && quantity_milli(limit) < quantity_milli(amount))
            cause_add(causes, "FieldValueInvalid", field, json_string_value(amount),
                      "must be less than or equal to its limit");
        snprintf(field, sizeof(field), "%s.resources.requests.%s", where, name);
        if (is_extended(name) && quantity_milli(amount) % 1000)
            cause_add(causes, "FieldValueInvalid", field, json_string_value(amount), "must be an integer");
    }
}

static const char *pull_policy(const char *image)
{
    const char *tag = strrchr(image, ':');
    return !strchr(image, '@') && (!tag || strchr(tag, '/') || strcmp(tag, ":latest") == 0) ? "Always" : "IfNotPresent";
}

static void complete_container(json_t *container, size_t index, json_t *causes)
{
    char where[48], field[64];
    snprintf(where, sizeof(where), "spec.containers[%zu]", index);
    const char *image = json_text_at(container, "image"), *name = json_text_at(container, "name");
    snprintf(field, sizeof(field), "%s.name", where);
    if (!name || !*name)
        cause_add_required(causes, field, "");
    snprintf(field, sizeof(field), "%s.image", where);
    if (!image || !*image)
        cause_add_required(causes, field, "");
    set_missing(container, "imagePullPolicy", json_string(pull_policy(image ? image : "")));
    set_missing(container, "terminationMessagePath", json_string("/dev/termination-log"));
    set_missing(container, "terminationMessagePolicy", json_string("File"));
    json_t *resources = json_object_made(container, "resources");
    const char *key;
    json_t *limit;
    json_object_foreach(json_object_get(resources, "limits"), key, limit)
        set_missing(json_object_made(resources, "requests"), key, json_incref(limit));
    check_amounts(container, where, causes);
}

static void complete_tolerations(json_t *spec)
{
    static const char *const KEYS[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    set_missing(spec, "tolerations", json_array());
    json_t *tolerations = json_object_get(spec, "tolerations");
    for (int i = 0; i < 2; i++) {
        bool is_there = false;
        size_t index;
        json_t *toleration;
        json_array_foreach(tolerations, index, toleration) {
            const char *key = json_text_at(toleration, "key");
            is_there = is_there || !key || strcmp(key, KEYS[i]) == 0;
        }
        if (!is_there)
            json_array_append_new(tolerations, json_pack("{s:s,s:s,s:s,s:i}", "key", KEYS[i], "operator", "Exists",
                                                         "effect", "NoExecute", "tolerationSeconds", 300));
    }
}

static const char *quality(const json_t *pod)
{
    static const char *const AMOUNTS[] = {"cpu", "memory"};
    bool is_any = false, is_all = true;
    size_t index;
    json_t *container;
    json_array_foreach(json_at(pod, "spec.containers"), index, container) {
        for (int i = 0; i < 2; i++) {
            json_t *request = json_object_get(json_at(container, "resources.requests"), AMOUNTS[i]);
            json_t *limit = json_object_get(json_at(container, "resources.limits"), AMOUNTS[i]);
            is_any = is_any || request || limit;
            is_all = is_all && limit && quantity_milli(request) == quantity_milli(limit);
        }
    }
    return !is_any ? "BestEffort" : is_all ? "Guaranteed" : "Burstable";
}

void pod_complete(struct call *call, json_t *pod, json_t *causes)
{
    json_t *spec = json_object_made(pod, "spec");
    if (json_array_size(json_object_get(spec, "containers")) == 0)
        cause_add_required(causes, "spec.containers", "");
    set_missing(spec, "restartPolicy", json_string("Always"));
    set_missing(spec, "terminationGracePeriodSeconds", json_integer(30));
    set_missing(spec, "dnsPolicy", json_string("ClusterFirst"));
    set_missing(spec, "schedulerName", json_string("default-scheduler"));
    set_missing(spec, "securityContext", json_object());
    set_missing(spec, "enableServiceLinks", json_true());
    set_missing(spec, "priority", json_integer(0));
    set_missing(spec, "preemptionPolicy", json_string("PreemptLowerPriority"));
    complete_tolerations(spec);
    const char *policy = json_text_at(spec, "restartPolicy");
    if (policy && strcmp(policy, "Always") != 0 && strcmp(policy, "OnFailure") != 0 && strcmp(policy, "Never") != 0)
        json_array_append_new(causes, json_pack("{s:s,s:s,s:s}", "reason", "FieldValueNotSupported", "message",
                                                "Unsupported value", "field", "spec.restartPolicy"));
    if (json_integer_value(json_object_get(spec, "terminationGracePeriodSeconds")) < 0)
        json_object_set_new(spec, "terminationGracePeriodSeconds", json_integer(1));
    size_t index;
    json_t *container;
    json_array_foreach(json_object_get(spec, "containers"), index, container)
        complete_container(container, index, causes);
    if (call->kube->traits.minor < 26)
        json_object_del(spec, "schedulingGates");
    if (call->kube->traits.minor == 26)
        json_object_del(spec, "schedulingGates");
    json_object_set_new(pod, "status", json_pack("{s:s,s:s}", "phase", "Pending", "qosClass", quality(pod)));
    if (json_array_size(json_object_get(spec, "schedulingGates")))
        pod_set_condition(pod, "PodScheduled", "False", "SchedulingGated");
}

// The parts of spec that an update may change, taken away for the comparison.
static json_t *frozen_spec(const json_t *pod)
{
    json_t *spec = json_deep_copy(json_object_get(pod, "spec"));
    json_object_del(spec, "activeDeadlineSeconds");
    json_object_del(spec, "tolerations");
    json_object_del(spec, "terminationGracePeriodSeconds");
    json_object_del(spec, "schedulingGates");
    size_t index;
    json_t *container;
    json_array_foreach(json_object_get(spec, "containers"), index, container)
        json_object_del(container, "image");
    return spec;
}

void pod_check_update(const json_t *before, const json_t *after, json_t *causes)
{
    json_t *old = frozen_spec(before), *new = frozen_spec(after);
    if (!json_equal(old, new))
        cause_add(causes, "FieldValueForbidden", "spec", NULL,
                  "pod updates may not change fields other than `spec.containers[*].image`, "
                  "`spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations)");
    json_decref(old);
    json_decref(new);
}

bool pod_is_terminal(const json_t *pod)
{
    const char *phase = json_text_at(pod, "status.phase");
    return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

bool pod_is_bound(const json_t *pod)
{
    const char *node = json_text_at(pod, "spec.nodeName");
    return node && *node;
}

void pod_set_condition(json_t *pod, const char *type, const char *status, const char *reason)
{
    char time[32];
    json_t *object = json_object_made(pod, "status");
    json_t *conditions = json_object_get(object, "conditions");
    if (!conditions) {
        conditions = json_array();
        json_object_set_new(object, "conditions", conditions);
    }
    json_t *condition = json_pack("{s:s,s:s,s:n,s:s}", "type", type, "status", status, "lastProbeTime",
                                  "lastTransitionTime", kube_time(timestamp_now_ms(), time));
    if (reason)
        json_object_set_new(condition, "reason", json_string(reason));
    size_t index;
    json_t *there;
    json_array_foreach(conditions, index, there)
        if (strcmp(json_text_at(there, "type"), type) == 0) {
            json_array_set_new(conditions, index, condition);
            return;
        }
    json_array_append_new(conditions, condition);
}
