#include "base/timestamp.h"
#include "tests/fakekube/pods.h"
#include "tests/fakekube/selector.h"
#include "tests/fakekube/writes.h"
#include <stdlib.h>
#include <string.h>

// The grace of a pod in seconds: 0 ends it at once.
static int64_t pod_grace(const json_t *pod, const json_t *options)
{
    json_t *asked = json_object_get(options, "gracePeriodSeconds");
    int64_t grace =
        json_integer_value(json_is_integer(asked) ? asked : json_at(pod, "spec.terminationGracePeriodSeconds"));
    if (grace < 0)
        grace = 1;
    return pod_is_bound(pod) && !pod_is_terminal(pod) ? grace : 0;
}

static void mark(const struct call *call, json_t *object, int64_t grace)
{
    char time[32];
    json_t *metadata = json_object_get(object, "metadata");
    json_object_set_new(metadata, "deletionTimestamp",
                        json_string(kube_time(kube_now_ms(call->kube) + grace * 1000, time)));
    json_object_set_new(metadata, "deletionGracePeriodSeconds", json_integer(grace));
}

static void answer_deleted(struct call *call, const struct revision *revision, const json_t *object,
                           bool is_still_there)
{
    if (is_still_there || call_resource(call)->is_returned_by_delete)
        call_answer_revision(call, 200, revision);
    else
        call_succeed(call, 200, object);
}

static void mark_and_answer(struct call *call, json_t *object, int64_t grace)
{
    mark(call, object, grace);
    if (call->resource == RESOURCE_NAMESPACES)
        json_object_set_new(json_object_made(object, "status"), "phase", json_string("Terminating"));
    answer_deleted(call, store_put(&call->kube->store, call->resource, call_key(call), object), object, true);
}

static void remove_now(struct call *call, json_t *object, bool is_marked)
{
    if (call->resource == RESOURCE_PODS && !is_marked) {
        mark(call, object, 0);
        store_put(&call->kube->store, call->resource, call_key(call), object);
    }
    answer_deleted(call, store_remove(&call->kube->store, call->resource, call_key(call), NULL), object, false);
}

// Ends the object now, later, or only marks it where finalizers hold it.
static void end_object(struct call *call, struct revision *found, json_t *object, const json_t *options)
{
    json_t *marked = json_at(object, "metadata.deletionGracePeriodSeconds");
    bool is_marked = json_at(object, "metadata.deletionTimestamp") != NULL;
    int64_t grace = call->resource == RESOURCE_PODS ? pod_grace(object, options) : 0;
    bool is_held = json_array_size(json_at(object, "metadata.finalizers")) > 0 ||
                   (call->resource == RESOURCE_NAMESPACES && json_array_size(json_at(object, "spec.finalizers")) > 0);
    if (grace > 0 && is_marked &&
        (!json_object_get(options, "gracePeriodSeconds") || grace >= json_integer_value(marked)))
        answer_deleted(call, found, object, true);
    else if (grace > 0)
        mark_and_answer(call, object, grace);
    else if (is_held && is_marked && json_integer_value(marked) == 0)
        answer_deleted(call, found, object, true);
    else if (is_held)
        mark_and_answer(call, object, 0);
    else
        remove_now(call, object, is_marked && json_integer_value(marked) == 0);
}

int delete_object(struct call *call, const json_t *options)
{
    struct revision *found = store_find(&call->kube->store, call->resource, call_key(call));
    if (!found)
        return call_fail_not_found(call);
    json_t *object = revision_value(found);
    json_t *asked = options && json_is_object(options) ? json_deep_copy(options) : json_object();
    const char *grace = call_query(call, "gracePeriodSeconds");
    if (*grace)
        json_object_set_new(asked, "gracePeriodSeconds", json_integer(strtoll(grace, NULL, 10)));
    int rc = object_check_preconditions(call, object, json_text_at(asked, "preconditions.uid"),
                                        json_text_at(asked, "preconditions.resourceVersion"));
    if (rc == 0 && strcmp(call_query(call, "dryRun"), "All") == 0)
        answer_deleted(call, found, object, false);
    else if (rc == 0)
        end_object(call, found, object, asked);
    json_decref(asked);
    json_decref(object);
    return rc;
}

int delete_collection(struct call *call)
{
    struct selector labels;
    char wrong[200];
    int rc = selector_read_labels(call_query(call, "labelSelector"), &labels, wrong);
    struct shelf shelf = {0};
    if (rc < 0)
        call_fail(call, 400, "BadRequest", "%s", wrong);
    else
        rc = store_state_at(&call->kube->store, call->resource, call->kube->store.number, &shelf);
    const char *prefix = arena_printf(&call->arena, "%s/", call->namespace);
    for (size_t i = 0; rc == 0 && i < shelf.count; i++) {
        const char *key = shelf.items[i]->key;
        if (strncmp(key, prefix, strlen(prefix)) != 0 || !selector_matches(&labels, shelf.items[i]->labels))
            continue;
        call->name = arena_strdup(&call->arena, key + strlen(prefix));
        delete_object(call, call->body);
        buffer_clear(&call->text);
    }
    call->name = "";
    shelf_done(&shelf);
    selector_done(&labels);
    return rc < 0 ? -1 : call_succeed(call, 200, NULL);
}

int finalize_namespace(struct call *call)
{
    struct revision *found = store_find(&call->kube->store, RESOURCE_NAMESPACES, call->name);
    if (!found)
        return call_fail_not_found(call);
    json_t *namespace = revision_value(found);
    json_t *finalizers = json_at(call->body, "spec.finalizers");
    json_object_set_new(json_object_get(namespace, "spec"), "finalizers",
                        finalizers ? json_incref(finalizers) : json_array());
    if (json_at(namespace, "metadata.deletionTimestamp") && json_array_size(finalizers) == 0)
        found = store_remove(&call->kube->store, RESOURCE_NAMESPACES, call->name, namespace);
    else
        found = store_put(&call->kube->store, RESOURCE_NAMESPACES, call->name, namespace);
    json_decref(namespace);
    return call_answer_revision(call, 200, found);
}
