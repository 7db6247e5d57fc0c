#include "tests/fakekube/writes.h"
#include "tests/fakekube/faults.h"
#include "tests/fakekube/patches.h"
#include "tests/fakekube/pods.h"
#include <string.h>

static bool is_dry(const struct call *call)
{
    return strcmp(call_query(call, "dryRun"), "All") == 0;
}

// Stores it, or only shows what would be stored; answers.
static int store_and_answer(struct call *call, int code, json_t *object)
{
    char version[80];
    if (!is_dry(call))
        return call_answer_revision(call, code, store_put(&call->kube->store, call->resource, call_key(call), object));
    json_object_set_new(object, "kind", json_string(call_resource(call)->kind));
    json_object_set_new(object, "apiVersion", json_string(resource_api_version(call_resource(call), version)));
    return call_answer(call, code, json_incref(object));
}

static int check_body(struct call *call)
{
    char version[80];
    const struct resource *resource = call_resource(call);
    const char *kind = json_text_at(call->body, "kind"), *api = json_text_at(call->body, "apiVersion");
    if (*call->content_type && !strstr(call->content_type, "json")) {
        json_error_t ignored;
        (void)ignored;
        return call_fail(call, 415, "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types include: "
                         "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    }
    if (!json_is_object(call->body))
        return call_fail(call, 400, "BadRequest", "couldn't get version/kind; json parse error");
    if ((kind && strcmp(kind, resource->kind) != 0) ||
        (api && resource->group[0] == '\0' && call->resource != RESOURCE_EVENTS && strcmp(api, "v1") != 0))
        return call_fail(call, 400, "BadRequest", "%s in version \"%s\" cannot be handled as a %s", kind ? kind : "",
                         resource_api_version(resource, version), resource->kind);
    const char *namespace = json_text_at(call->body, "metadata.namespace");
    if (resource->is_namespaced && namespace && *namespace && strcmp(namespace, call->namespace) != 0)
        return call_fail(call, 400, "BadRequest",
                         "the namespace of the provided object does not match the namespace sent on the request");
    return object_check_fields(call, call->body);
}

static int check_namespace(struct call *call)
{
    if (!call_resource(call)->is_namespaced)
        return 0;
    const struct revision *found = store_find(&call->kube->store, RESOURCE_NAMESPACES, call->namespace);
    if (!found) {
        call_fail(call, 404, "NotFound", "namespaces \"%s\" not found", call->namespace);
        call_set_details(call, "name", json_string(call->namespace));
        call_set_details(call, "kind", json_string("namespaces"));
        return -1;
    }
    if (strcmp(json_string_value(json_object_get(found->fields, "status.phase")), "Terminating") != 0)
        return 0;
    call_fail(call, 403, "Forbidden",
              "%s \"%s\" is forbidden: unable to create new content in namespace %s because it is being terminated",
              call_resource(call)->plural, call->name, call->namespace);
    call_add_cause(call, "NamespaceTerminating",
                   arena_printf(&call->arena, "namespace %s is being terminated", call->namespace),
                   "metadata.namespace");
    return -1;
}

// Sets priority from the class; a class that is not there is forbidden.
static int apply_priority(struct call *call, json_t *pod)
{
    const char *class = json_text_at(pod, "spec.priorityClassName");
    if (call->resource != RESOURCE_PODS || !class || !*class)
        return 0;
    const struct revision *found = store_find(&call->kube->store, RESOURCE_PRIORITY_CLASSES, class);
    if (!found && strncmp(class, "system-", 7) != 0)
        return call_fail(call, 403, "Forbidden", "pods \"%s\" is forbidden: no PriorityClass with name %s was found",
                         call->name, class);
    if (!found) {
        json_object_set_new(json_object_get(pod, "spec"), "priority", json_integer(2000000000));
        return 0;
    }
    json_t *value = revision_value(found);
    json_object_set(json_object_get(pod, "spec"), "priority", json_object_get(value, "value"));
    json_decref(value);
    return 0;
}

static int check_runtime_class(struct call *call, const json_t *pod)
{
    const char *class = json_text_at(pod, "spec.runtimeClassName");
    if (call->resource != RESOURCE_PODS || !class || !*class)
        return 0;
    if (store_find(&call->kube->store, resource_find("node.k8s.io", "v1", "runtimeclasses"), class))
        return 0;
    return call_fail(call, 403, "Forbidden", "pod rejected: RuntimeClass \"%s\" not found", class);
}

static int refuse_create(struct call *call, const json_t *object)
{
    const struct revision *there = store_find(&call->kube->store, call->resource, call_key(call));
    if (there) {
        json_t *old = revision_value(there);
        bool is_ending = json_at(old, "metadata.deletionTimestamp") != NULL;
        json_decref(old);
        return call_fail(call, 409, "AlreadyExists", "%s%s \"%s\" already exists",
                         is_ending ? "object is being deleted: " : "", call_resource(call)->plural, call->name);
    }
    if (json_text_at(object, "metadata.resourceVersion") && *json_text_at(object, "metadata.resourceVersion"))
        return call_fail(call, 500, "", "resourceVersion should not be set on objects to be created");
    return 0;
}

// The object is ours to change. The caller gives its reference away.
static int create_from(struct call *call, json_t *object)
{
    object_stamp(call, object);
    if (fault_action(call, "mutate"))
        patch_merge(object, fault_action(call, "mutate"));
    const char *name = json_text_at(object, "metadata.name");
    call->name = name ? arena_strdup(&call->arena, name) : "";
    json_t *causes = json_array();
    int rc = check_namespace(call);
    if (rc == 0)
        rc = apply_priority(call, object);
    if (rc == 0)
        rc = check_runtime_class(call, object);
    if (rc == 0) {
        object_complete(call, object, causes);
        object_check_metadata(call, object, causes);
        rc = call_fail_invalid(call, json_incref(causes));
    }
    if (rc == 0)
        rc = refuse_create(call, object);
    if (rc == 0)
        rc = store_and_answer(call, 201, object);
    json_decref(causes);
    json_decref(object);
    return rc;
}

int create_object(struct call *call)
{
    if (*call->name)
        return call_fail(call, 405, "MethodNotAllowed",
                         "the server does not allow this method on the requested resource");
    if (check_body(call) < 0)
        return -1;
    return create_from(call, json_deep_copy(call->body));
}

// What a write through this path may not change is put back as it was.
static void keep_what_is_not_asked(struct call *call, const json_t *before, json_t *after)
{
    static const char *const FIXED[] = {
        "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "name", "namespace", NULL};
    json_t *metadata = json_object_made(after, "metadata");
    for (const char *const *key = FIXED; *key; key++) {
        json_t *old = json_object_get(json_object_get(before, "metadata"), *key);
        if (old)
            json_object_set(metadata, *key, old);
        else
            json_object_del(metadata, *key);
    }
    if (!call_resource(call)->has_status)
        return;
    const char *kept = strcmp(call->subresource, "status") == 0 ? "spec" : "status";
    if (json_object_get(before, kept))
        json_object_set(after, kept, json_object_get(before, kept));
    else
        json_object_del(after, kept);
}

static bool is_last_finalizer_gone(const json_t *before, const json_t *after)
{
    json_t *grace = json_at(after, "metadata.deletionGracePeriodSeconds");
    return json_at(after, "metadata.deletionTimestamp") && (!grace || json_integer_value(grace) == 0) &&
           json_array_size(json_at(before, "metadata.finalizers")) > 0 &&
           json_array_size(json_at(after, "metadata.finalizers")) == 0;
}

static bool is_same(const json_t *before, const json_t *after)
{
    json_t *old = json_deep_copy(before), *new = json_deep_copy(after);
    json_object_del(new, "kind");
    json_object_del(new, "apiVersion");
    json_object_del(json_object_get(new, "metadata"), "resourceVersion");
    json_object_del(json_object_get(new, "metadata"), "managedFields");
    json_object_del(json_object_get(old, "metadata"), "resourceVersion");
    bool is_equal = json_equal(old, new);
    json_decref(old);
    json_decref(new);
    return is_equal;
}

static int replace(struct call *call, const struct revision *found, const json_t *before, json_t *after)
{
    keep_what_is_not_asked(call, before, after);
    json_t *causes = json_array();
    object_check_metadata(call, after, causes);
    if (call->resource == RESOURCE_PODS && !*call->subresource)
        pod_check_update(before, after, causes);
    if (call_fail_invalid(call, causes) < 0)
        return -1;
    if (is_same(before, after))
        return call_answer_revision(call, 200, found);
    if (!is_dry(call) && is_last_finalizer_gone(before, after))
        return call_answer_revision(call, 200, store_remove(&call->kube->store, call->resource, call_key(call), after));
    return store_and_answer(call, 200, after);
}

static int check_update(struct call *call)
{
    const char *name = json_text_at(call->body, "metadata.name");
    if (check_body(call) < 0)
        return -1;
    if (!name || strcmp(name, call->name) != 0)
        return call_fail(call, 400, "BadRequest", "the name of the object (%s) does not match the name on the URL (%s)",
                         name ? name : "", call->name);
    const char *version = json_text_at(call->body, "metadata.resourceVersion");
    if (!call_resource(call)->needs_version || (version && *version) ||
        !store_find(&call->kube->store, call->resource, call_key(call)))
        return 0;
    json_t *causes = json_array();
    cause_add(causes, "FieldValueInvalid", "metadata.resourceVersion", "", "must be specified for an update");
    return call_fail_invalid(call, causes);
}

int update_object(struct call *call)
{
    if (!*call->name)
        return call_fail(call, 405, "MethodNotAllowed",
                         "the server does not allow this method on the requested resource");
    if (check_update(call) < 0)
        return -1;
    struct revision *found = store_find(&call->kube->store, call->resource, call_key(call));
    const char *uid = json_text_at(call->body, "metadata.uid");
    const char *version = json_text_at(call->body, "metadata.resourceVersion");
    if (!found && call_resource(call)->is_made_by_put && !(version && *version))
        return create_from(call, json_deep_copy(call->body));
    if (!found)
        return call_fail_not_found(call);
    json_t *before = revision_value(found), *after = json_deep_copy(call->body);
    int rc = object_check_preconditions(call, before, uid, version);
    if (rc == 0)
        rc = replace(call, found, before, after);
    json_decref(before);
    json_decref(after);
    return rc;
}

static int apply_patch(struct call *call, json_t *object)
{
    char wrong[200];
    if (strstr(call->content_type, "application/json-patch+json")) {
        if (!json_is_array(call->body))
            return call_fail(call, 400, "BadRequest", "error decoding patch: json: cannot unmarshal");
        return patch_json(object, call->body, wrong) < 0 ? call_fail(call, 422, "Invalid", "%s", wrong) : 0;
    }
    if (!json_is_object(call->body))
        return call_fail(call, 400, "BadRequest", "error decoding patch: json: cannot unmarshal");
    if (strstr(call->content_type, "application/merge-patch+json"))
        patch_merge(object, call->body);
    else if (strstr(call->content_type, "application/strategic-merge-patch+json"))
        patch_strategic(object, call->body);
    else
        return call_fail(call, 415, "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types include: "
                         "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, "
                         "application/strategic-merge-patch+json");
    return 0;
}

static int check_uid_stays(struct call *call, const json_t *before, const json_t *after)
{
    const char *uid = json_text_at(before, "metadata.uid"), *asked = json_text_at(after, "metadata.uid");
    if (!uid || !asked || strcmp(uid, asked) == 0)
        return 0;
    json_t *causes = json_array();
    cause_add(causes, "FieldValueInvalid", "metadata.uid", asked, "field is immutable");
    return call_fail_invalid(call, causes);
}

int patch_object(struct call *call)
{
    struct revision *found = store_find(&call->kube->store, call->resource, call_key(call));
    if (!found && !strstr(call->content_type, "patch+json"))
        return call_fail(call, 415, "UnsupportedMediaType", "the body of the request was in an unknown format");
    if (!found)
        return call_fail_not_found(call);
    json_t *before = revision_value(found), *after = json_deep_copy(before);
    int rc = apply_patch(call, after);
    if (rc == 0)
        rc = check_uid_stays(call, before, after);
    if (rc == 0)
        rc = object_check_preconditions(call, before, json_text_at(after, "metadata.uid"),
                                        json_text_at(after, "metadata.resourceVersion"));
    if (rc == 0)
        rc = object_check_fields(call, after);
    if (rc == 0)
        rc = replace(call, found, before, after);
    json_decref(before);
    json_decref(after);
    return rc;
}
