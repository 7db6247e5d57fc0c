#include "base/timestamp.h"
#include "tests/fakekube/faults.h"
#include "tests/fakekube/pods.h"
#include "tests/fakekube/writes.h"
#include <string.h>

static int refuse_bind(struct call *call, const json_t *pod, const char *node)
{
    if (json_at(pod, "metadata.deletionTimestamp"))
        return call_fail_conflict(
            call, arena_printf(&call->arena, "pod %s is being deleted, cannot be assigned to a host", call->name));
    if (pod_is_bound(pod))
        return call_fail_conflict(call, arena_printf(&call->arena, "pod %s is already assigned to node \"%s\"",
                                                     call->name, json_text_at(pod, "spec.nodeName")));
    if (call->kube->traits.does_honour_gates && json_array_size(json_at(pod, "spec.schedulingGates")))
        return call_fail_conflict(call, arena_printf(&call->arena,
                                                     "pod %s has non-empty .spec.schedulingGates, cannot bind to %s",
                                                     call->name, node));
    return 0;
}

static void copy_zone(struct call *call, json_t *pod, const char *node)
{
    static const char *const LABELS[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"};
    const struct revision *found = store_find(&call->kube->store, RESOURCE_NODES, node);
    for (int i = 0; found && i < 2; i++) {
        json_t *label = json_object_get(found->labels, LABELS[i]);
        if (label)
            json_object_set(json_object_made(json_object_made(pod, "metadata"), "labels"), LABELS[i], label);
    }
}

static void assign(struct call *call, json_t *pod, const char *node)
{
    json_object_set_new(json_object_made(pod, "spec"), "nodeName", json_string(node));
    json_t *annotations = json_at(call->body, "metadata.annotations");
    if (annotations)
        json_object_update(json_object_made(json_object_made(pod, "metadata"), "annotations"), annotations);
    pod_set_condition(pod, "PodScheduled", "True", NULL);
    if (call->kube->traits.does_copy_zone) {
        json_object_del(json_object_get(pod, "status"), "nominatedNodeName");
        copy_zone(call, pod, node);
    }
}

static int check_binding(struct call *call)
{
    const char *name = json_text_at(call->body, "metadata.name"), *kind = json_text_at(call->body, "target.kind");
    const char *namespace = json_text_at(call->body, "metadata.namespace");
    const char *node = json_text_at(call->body, "target.name");
    if (!call->body)
        return call_fail(call, 400, "BadRequest", "the body of the request is not a Binding");
    if (name && *name && strcmp(name, call->name) != 0)
        return call_fail(call, 400, "BadRequest", "name in URL does not match name in Binding object");
    if (namespace && *namespace && strcmp(namespace, call->namespace) != 0)
        return call_fail(call, 400, "BadRequest",
                         "the namespace of the provided object does not match the namespace sent on the request");
    if (!node || !*node || (kind && *kind && strcmp(kind, "Node") != 0)) {
        // As on the real server: a failure without a reason, and not a 422.
        call_fail(call, 500, "", "%s",
                  !node || !*node ? "target.name: Required value" : "target.kind: Unsupported value");
        json_object_del(call->value, "details");
        return -1;
    }
    return 0;
}

static bool uid_counts(const struct call *call)
{
    json_t *setting = json_object_get(call->kube->settings, "bindingHonoursUid");
    return setting ? json_is_true(setting) : call->kube->traits.does_honour_uid;
}

int pod_bind(struct call *call)
{
    if (check_binding(call) < 0)
        return -1;
    const struct revision *found = store_find(&call->kube->store, RESOURCE_PODS, call_key(call));
    if (!found)
        return call_fail_not_found(call);
    json_t *pod = revision_value(found);
    const char *node = json_text_at(call->body, "target.name");
    const char *uid = uid_counts(call) ? json_text_at(call->body, "metadata.uid") : NULL;
    const char *version = uid_counts(call) ? json_text_at(call->body, "metadata.resourceVersion") : NULL;
    int rc = object_check_preconditions(call, pod, uid, version);
    if (rc == 0)
        rc = refuse_bind(call, pod, node);
    if (rc == 0) {
        assign(call, pod, node);
        if (strcmp(call_query(call, "dryRun"), "All") != 0)
            store_put(&call->kube->store, RESOURCE_PODS, call_key(call), pod);
        call_succeed(call, 201, NULL);
    }
    json_decref(pod);
    return rc;
}

// The budgets that select the pod.
static size_t find_budgets(struct call *call, const struct revision *pod, char *out_key, size_t size)
{
    const struct shelf *shelf = &call->kube->store.shelves[RESOURCE_PDBS];
    size_t count = 0;
    for (size_t i = 0; i < shelf->count; i++) {
        json_t *budget = revision_value(shelf->items[i]);
        const char *key;
        json_t *value, *labels = json_at(budget, "spec.selector.matchLabels");
        bool is_match = strcmp(json_text_at(budget, "metadata.namespace"), call->namespace) == 0 && labels != NULL;
        json_object_foreach(labels, key, value)
            is_match = is_match && json_equal(json_object_get(pod->labels, key), value);
        json_decref(budget);
        if (!is_match)
            continue;
        snprintf(out_key, size, "%s", shelf->items[i]->key);
        count++;
    }
    return count;
}

// Takes one disruption from the budget. -1: none is allowed, and the answer says so.
static int use_budget(struct call *call, const char *key)
{
    struct store *store = &call->kube->store;
    json_t *budget = revision_value(store_find(store, RESOURCE_PDBS, key));
    json_t *allowed = json_at(budget, "status.disruptionsAllowed");
    bool is_written = json_at(budget, "status.observedGeneration") != NULL || allowed != NULL;
    int rc = 0;
    if (!is_written || json_integer_value(allowed) <= 0) {
        rc = call_fail(call, 429, "TooManyRequests",
                       "Cannot evict pod as it would violate the pod's disruption budget.");
        call_add_cause(call, "DisruptionBudget", "The disruption budget does not allow it now", NULL);
        json_object_del(json_object_get(call->value, "details"), "kind");
        json_object_del(json_object_get(call->value, "details"), "name");
        if (!is_written) {
            call_set_details(call, "retryAfterSeconds", json_integer(10));
            buffer_text(&call->headers, "Retry-After: 10\r\n");
        }
    } else {
        json_t *status = json_object_made(budget, "status");
        json_object_set_new(status, "disruptionsAllowed", json_integer(json_integer_value(allowed) - 1));
        char time[32];
        json_object_set_new(json_object_made(status, "disruptedPods"), call->name,
                            json_string(kube_time(timestamp_now_ms(), time)));
        store_put(store, RESOURCE_PDBS, key, budget);
    }
    json_decref(budget);
    return rc;
}

static bool passes_budgets(const json_t *pod)
{
    const char *phase = json_text_at(pod, "status.phase");
    return pod_is_terminal(pod) || (phase && strcmp(phase, "Pending") == 0) ||
           json_at(pod, "metadata.deletionTimestamp");
}

int pod_evict(struct call *call)
{
    const char *name = json_text_at(call->body, "metadata.name"), *version = json_text_at(call->body, "apiVersion");
    if (!call->kube->traits.has_policy_v1 && version && strcmp(version, "policy/v1") == 0)
        return call_fail(call, 404, "NotFound", "the server could not find the requested resource");
    if (name && strcmp(name, call->name) != 0)
        return call_fail(call, 400, "BadRequest", "name in URL does not match name in Eviction object");
    struct revision *found = store_find(&call->kube->store, RESOURCE_PODS, call_key(call));
    if (!found)
        return call_fail_not_found(call);
    json_t *pod = revision_value(found);
    char budget[520];
    size_t budgets = passes_budgets(pod) ? 0 : find_budgets(call, found, budget, sizeof(budget));
    int rc = 0;
    if (budgets > 1) {
        rc = call_fail(
            call, 500, "",
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    } else if (strcmp(call_query(call, "dryRun"), "All") != 0) {
        // A wrong uid is noticed only after the budget is used, as on the real server.
        rc = budgets ? use_budget(call, budget) : 0;
        if (rc == 0)
            rc = delete_object(call, json_object_get(call->body, "deleteOptions"));
    }
    if (rc == 0)
        call_succeed(call, 201, NULL);
    json_decref(pod);
    return rc;
}
