// Objects that say little: namespaces, bindings, deletions, conditions, events, secrets.
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#define INSTANCE_PATH "/metadata/labels/prorata.io~1instance"
#define REGISTRY_KEY ".dockerconfigjson" // what the kubelet signs in to a registry with

enum {
    MESSAGE_MAX = 1024,
    EVENT_NAME_MAX = 200
};

// metav1.Time knows no fractions of a second.
static json_t *time_of(int64_t time_ms)
{
    char text[TIMESTAMP_SIZE];
    timestamp_format(time_ms / 1000 * 1000, text);
    return json_sprintf("%.19sZ", text);
}

json_t *kube_manifest_namespace(const struct kube_site *site, const char *project_name, const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s, s:s, s:s, s:s}}}", "apiVersion", "v1", "kind", "Namespace",
                     "metadata", "name", name, "labels", KUBE_INSTANCE_LABEL, site->instance, KUBE_PROJECT_LABEL,
                     project_name, "runai/queue", project_name, "pod-security.kubernetes.io/enforce", "baseline",
                     "pod-security.kubernetes.io/warn", "restricted");
}

json_t *kube_manifest_binding(const struct kube_target *pod, const char *node_name, int64_t term, int64_t now_ms)
{
    json_t *annotations = json_pack("{s:o}", KUBE_BOUND_ANNOTATION, time_of(now_ms));
    if (term)
        json_object_set_new(annotations, KUBE_TERM_ANNOTATION, json_sprintf("%" PRId64, term));
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s*, s:o}, s:{s:s, s:s, s:s}}", "apiVersion", "v1", "kind", "Binding",
                     "metadata", "name", pod->name, "namespace", pod->namespace, "uid", pod->uid, "annotations",
                     annotations, "target", "apiVersion", "v1", "kind", "Node", "name", node_name);
}

json_t *kube_manifest_delete(const char *uid, int64_t grace_s)
{
    json_t *object = json_pack("{s:s, s:s}", "apiVersion", "v1", "kind", "DeleteOptions");
    if (uid)
        json_object_set_new(object, "preconditions", json_pack("{s:s}", "uid", uid));
    if (grace_s >= 0)
        json_object_set_new(object, "gracePeriodSeconds", json_integer(grace_s));
    return object;
}

json_t *kube_manifest_eviction(const struct kube_target *pod, int64_t grace_s)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", "policy/v1", "kind", "Eviction", "metadata", "name",
                     pod->name, "namespace", pod->namespace, "deleteOptions", kube_manifest_delete(pod->uid, grace_s));
}

// At most so many bytes, and no character in halves.
static json_t *cut_text(const char *text, size_t max)
{
    size_t length = strlen(text);
    if (length > max)
        for (length = max; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    json_t *cut = json_stringn(text, length);
    return cut ? cut : json_string("");
}

json_t *kube_manifest_condition(const struct kube_target *pod, const char *version,
                                const struct kube_condition *condition)
{
    return json_pack("{s:{s:s, s:s*}, s:{s:[{s:s, s:s, s:s, s:o, s:o}]}}", "metadata", "uid", pod->uid,
                     "resourceVersion", version, "status", "conditions", "type", condition->type, "status",
                     condition->status, "reason", condition->reason, "message",
                     cut_text(condition->message, MESSAGE_MAX), "lastTransitionTime", time_of(condition->time_ms));
}

json_t *kube_manifest_event(const struct kube_site *site, const struct kube_event_text *text, struct arena *arena)
{
    const struct kube_target *pod = &text->pod;
    const char *name = arena_printf(arena, "%.*s.%" PRIx64, EVENT_NAME_MAX, pod->name,
                                    (uint64_t)text->time_ms * 1000000 + (uint64_t)text->serial % 1000000);
    const char *source = site->scheduler_name ? site->scheduler_name : "prorata";
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s, s:s, s:s, s:s, s:s*}}", "apiVersion", "v1",
                               "kind", "Event", "metadata", "name", name, "namespace", pod->namespace, "labels",
                               KUBE_INSTANCE_LABEL, site->instance, "involvedObject", "apiVersion", "v1", "kind", "Pod",
                               "namespace", pod->namespace, "name", pod->name, "uid", pod->uid);
    json_t *rest = json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:{s:s}, s:o, s:o, s:i}", "type",
                             text->is_warning ? "Warning" : "Normal", "reason", text->reason, "action", text->action,
                             "message", cut_text(text->message, MESSAGE_MAX), "reportingComponent", source,
                             "reportingInstance", site->instance, "source", "component", source, "firstTimestamp",
                             time_of(text->time_ms), "lastTimestamp", time_of(text->time_ms), "count", 1);
    json_object_update(object, rest);
    json_decref(rest);
    return object;
}

json_t *kube_manifest_secret(const struct kube_site *site, const struct backend_pod *pod, const char *name,
                             const struct backend_secret_key *keys, size_t count, struct arena *arena)
{
    json_t *data = json_object();
    bool is_registry = false;
    for (size_t i = 0; i < count; i++) {
        is_registry = is_registry || strcmp(keys[i].name, REGISTRY_KEY) == 0;
        size_t size = sodium_base64_encoded_len(keys[i].length, sodium_base64_VARIANT_ORIGINAL);
        char *text = arena_alloc(arena, size);
        sodium_bin2base64(text, size, (const unsigned char *)keys[i].value, keys[i].length,
                          sodium_base64_VARIANT_ORIGINAL);
        json_object_set_new(data, keys[i].name, json_string(text));
        sodium_memzero(text, size);
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Secret", "type",
                     is_registry ? "kubernetes.io/dockerconfigjson" : "Opaque", "metadata",
                     kube_metadata(site, pod, name, arena), "data", data);
}

json_t *kube_manifest_secret_look(const struct kube_site *site)
{
    return json_pack("[{s:s, s:s, s:s}]", "op", "test", "path", INSTANCE_PATH, "value", site->instance);
}

json_t *kube_manifest_secret_change(const json_t *secret)
{
    const json_t *labels = json_object_get(json_object_get(secret, "metadata"), "labels");
    return json_pack("[{s:s, s:s, s:O}, {s:s, s:s, s:O}, {s:s, s:s, s:O}]", "op", "test", "path", INSTANCE_PATH,
                     "value", json_object_get(labels, KUBE_INSTANCE_LABEL), "op", "test", "path", "/type", "value",
                     json_object_get(secret, "type"), "op", "replace", "path", "/data", "value",
                     json_object_get(secret, "data"));
}
