#include "tests/fakekube/objects.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "tests/fakekube/pods.h"
#include "tests/fakekube/shapes.h"
#include <ctype.h>
#include <string.h>

void cause_add(json_t *causes, const char *reason, const char *field, const char *value, const char *detail)
{
    struct buffer message;
    buffer_init(&message, 0);
    if (strcmp(reason, "FieldValueForbidden") == 0)
        buffer_printf(&message, "Forbidden: %s", detail);
    else if (value)
        buffer_printf(&message, "Invalid value: \"%.200s\": %s", value, detail);
    else
        buffer_printf(&message, "Invalid value: %s", detail);
    json_array_append_new(causes,
                          json_pack("{s:s,s:s,s:s}", "reason", reason, "message", message.data, "field", field));
    buffer_done(&message);
}

void cause_add_required(json_t *causes, const char *field, const char *detail)
{
    char message[200];
    snprintf(message, sizeof(message), "Required value%s%s", *detail ? ": " : "", detail);
    json_array_append_new(
        causes, json_pack("{s:s,s:s,s:s}", "reason", "FieldValueRequired", "message", message, "field", field));
}

static bool is_dns_name(const char *name, bool may_have_dots, size_t length_max)
{
    size_t length = strlen(name);
    if (length == 0 || length > length_max)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool is_edge = i == 0 || i + 1 == length || name[i - 1] == '.' || name[i + 1] == '.';
        if (name[i] == '.'   ? !may_have_dots || is_edge
            : name[i] == '-' ? is_edge
                             : !islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]))
            return false;
    }
    return true;
}

static void check_name(struct call *call, const json_t *object, json_t *causes)
{
    const char *name = json_text_at(object, "metadata.name");
    if (!name || !*name) {
        cause_add_required(causes, "metadata.name", "name or generateName is required");
        return;
    }
    bool is_label = call->resource == RESOURCE_NAMESPACES || strcmp(call_resource(call)->plural, "services") == 0;
    if (!is_dns_name(name, !is_label, is_label ? 63 : 253))
        cause_add(causes, "FieldValueInvalid", "metadata.name", name,
                  is_label ? "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
                           : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
                             "or '.'");
}

static bool is_label_value(const char *value)
{
    size_t length = strlen(value);
    if (length == 0)
        return true;
    return length <= 63 && isalnum((unsigned char)value[0]) && isalnum((unsigned char)value[length - 1]) &&
           strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == length;
}

void object_check_metadata(struct call *call, const json_t *object, json_t *causes)
{
    check_name(call, object, causes);
    const char *key;
    json_t *value;
    size_t annotation_bytes = 0;
    json_object_foreach(json_at(object, "metadata.labels"), key, value) {
        if (json_string_value(value) && !is_label_value(json_string_value(value)))
            cause_add(causes, "FieldValueInvalid", "metadata.labels", json_string_value(value),
                      "must be no more than 63 bytes, of alphanumeric characters, '-', '_' or '.'");
    }
    json_object_foreach(json_at(object, "metadata.annotations"), key, value)
        annotation_bytes += strlen(key) + json_string_length(value);
    if (annotation_bytes > 256 * 1024)
        json_array_append_new(causes, json_pack("{s:s,s:s,s:s}", "reason", "FieldValueTooLong", "message",
                                                "Too long: may not be more than 262144 bytes", "field",
                                                "metadata.annotations"));
}

static void make_name(json_t *metadata)
{
    const char *begin = json_string_value(json_object_get(metadata, "generateName"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    if (!begin || !*begin || (name && *name))
        return;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    json_object_set_new(metadata, "name", json_sprintf("%s%.5s", begin, uuid));
}

void object_stamp(struct call *call, json_t *object)
{
    static const char *const NOT_YOURS[] = {"deletionTimestamp",
                                            "deletionGracePeriodSeconds",
                                            "selfLink",
                                            "uid",
                                            "creationTimestamp",
                                            "managedFields",
                                            NULL};
    json_t *metadata = json_object_made(object, "metadata");
    for (const char *const *member = NOT_YOURS; *member; member++)
        json_object_del(metadata, *member);
    make_name(metadata);
    if (call_resource(call)->is_namespaced)
        json_object_set_new(metadata, "namespace", json_string(call->namespace));
    char uuid[UUID_SIZE], time[32];
    uuid_create(uuid);
    json_object_set_new(metadata, "uid", json_string(uuid));
    json_object_set_new(metadata, "creationTimestamp", json_string(kube_time(kube_now_ms(call->kube), time)));
}

static void complete_namespace(json_t *object)
{
    json_t *labels = json_object_made(json_object_made(object, "metadata"), "labels");
    json_object_set(labels, "kubernetes.io/metadata.name", json_at(object, "metadata.name"));
    json_object_set_new(object, "spec", json_pack("{s:[s]}", "finalizers", "kubernetes"));
    json_object_set_new(object, "status", json_pack("{s:s}", "phase", "Active"));
}

static void complete_node(struct call *call, json_t *object)
{
    json_object_made(object, "spec");
    json_t *status = json_object_made(object, "status");
    if (!json_object_get(status, "allocatable") && json_object_get(status, "capacity"))
        json_object_set_new(status, "allocatable", json_deep_copy(json_object_get(status, "capacity")));
    if (!kube_setting_is(call->kube, "notReadyTaint"))
        return;
    json_t *taints = json_at(object, "spec.taints");
    if (!taints) {
        taints = json_array();
        json_object_set_new(json_object_get(object, "spec"), "taints", taints);
    }
    json_array_append_new(taints,
                          json_pack("{s:s,s:s}", "key", "node.kubernetes.io/not-ready", "effect", "NoSchedule"));
}

static bool is_micro_time(const char *text)
{
    return strlen(text) >= 22 && strchr(text, '.') && text[strlen(text) - 1] == 'Z' &&
           strlen(strchr(text, '.')) == strlen(".000000Z");
}

static void complete_lease(const json_t *object, json_t *causes)
{
    json_t *seconds = json_at(object, "spec.leaseDurationSeconds");
    if (seconds && json_integer_value(seconds) <= 0)
        cause_add(causes, "FieldValueInvalid", "spec.leaseDurationSeconds", NULL, "must be greater than 0");
}

static void complete_event(struct call *call, const json_t *object, json_t *causes)
{
    const char *about = json_text_at(object, "involvedObject.namespace");
    if (about && strcmp(about, call->namespace) != 0)
        cause_add(causes, "FieldValueInvalid", "involvedObject.namespace", about, "does not match event.namespace");
    const char *message = json_text_at(object, "message");
    if (json_text_at(object, "eventTime") && message && strlen(message) > 1024)
        cause_add(causes, "FieldValueInvalid", "note", NULL, "can have at most 1024 bytes");
}

void object_complete(struct call *call, json_t *object, json_t *causes)
{
    const char *plural = call_resource(call)->plural;
    if (call->resource == RESOURCE_PODS)
        pod_complete(call, object, causes);
    else if (call->resource == RESOURCE_NAMESPACES)
        complete_namespace(object);
    else if (call->resource == RESOURCE_NODES)
        complete_node(call, object);
    else if (call->resource == RESOURCE_LEASES)
        complete_lease(object, causes);
    else if (call->resource == RESOURCE_EVENTS)
        complete_event(call, object, causes);
    else if (strcmp(plural, "persistentvolumeclaims") == 0)
        json_object_set_new(object, "status", json_pack("{s:s}", "phase", "Pending"));
}

static bool is_known(const char *const *names, const char *key)
{
    for (; *names; names++)
        if (strcmp(*names, key) == 0)
            return true;
    return false;
}

static const char *const TOP_KEYS[] = {"kind", "apiVersion", "metadata", "spec", "status", NULL};
static const char *const POD_KEYS[] = {"activeDeadlineSeconds",
                                       "affinity",
                                       "automountServiceAccountToken",
                                       "containers",
                                       "dnsConfig",
                                       "dnsPolicy",
                                       "enableServiceLinks",
                                       "ephemeralContainers",
                                       "hostAliases",
                                       "hostIPC",
                                       "hostNetwork",
                                       "hostPID",
                                       "hostUsers",
                                       "hostname",
                                       "hostnameOverride",
                                       "imagePullSecrets",
                                       "initContainers",
                                       "nodeName",
                                       "nodeSelector",
                                       "os",
                                       "overhead",
                                       "preemptionPolicy",
                                       "priority",
                                       "priorityClassName",
                                       "readinessGates",
                                       "resourceClaims",
                                       "resources",
                                       "restartPolicy",
                                       "runtimeClassName",
                                       "schedulerName",
                                       "schedulingGates",
                                       "schedulingGroup",
                                       "securityContext",
                                       "serviceAccount",
                                       "serviceAccountName",
                                       "setHostnameAsFQDN",
                                       "shareProcessNamespace",
                                       "subdomain",
                                       "terminationGracePeriodSeconds",
                                       "tolerations",
                                       "topologySpreadConstraints",
                                       "volumes",
                                       NULL};
static const char *const CONTAINER_KEYS[] = {"args",
                                             "command",
                                             "env",
                                             "envFrom",
                                             "image",
                                             "imagePullPolicy",
                                             "lifecycle",
                                             "livenessProbe",
                                             "name",
                                             "ports",
                                             "readinessProbe",
                                             "resizePolicy",
                                             "resources",
                                             "restartPolicy",
                                             "restartPolicyRules",
                                             "securityContext",
                                             "startupProbe",
                                             "stdin",
                                             "stdinOnce",
                                             "terminationMessagePath",
                                             "terminationMessagePolicy",
                                             "tty",
                                             "volumeDevices",
                                             "volumeMounts",
                                             "workingDir",
                                             NULL};

// Takes off what the kind does not know, with a warning from 1.25 on.
static void drop_unknown(struct call *call, json_t *object, const char *const *names, const char *where)
{
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe(object, next, key, value)
    {
        if (is_known(names, key))
            continue;
        if (call->kube->traits.minor >= 25)
            json_array_append_new(call->warnings, json_sprintf("unknown field \"%s%s\"", where, key));
        json_object_del(object, key);
    }
}

int object_check_fields(struct call *call, json_t *object)
{
    const char *wrong = shape_find_wrong(object), *renew = json_text_at(object, "spec.renewTime");
    if (wrong)
        return call_fail(call, 400, "BadRequest", "%s cannot be handled as a %s: json: cannot unmarshal %s",
                         call_resource(call)->kind, call_resource(call)->kind, wrong);
    if (call->resource == RESOURCE_LEASES && renew && !is_micro_time(renew))
        return call_fail(call, 400, "BadRequest",
                         "Lease in version \"v1\" cannot be handled as a Lease: parsing time \"%s\"", renew);
    if (call->resource != RESOURCE_PODS)
        return 0;
    drop_unknown(call, object, TOP_KEYS, "");
    drop_unknown(call, json_at(object, "spec"), POD_KEYS, "spec.");
    size_t index;
    json_t *container;
    json_array_foreach(json_at(object, "spec.containers"), index, container) {
        char where[48];
        snprintf(where, sizeof(where), "spec.containers[%zu].", index);
        drop_unknown(call, container, CONTAINER_KEYS, where);
    }
    if (strcmp(call_query(call, "fieldValidation"), "Strict") != 0 || json_array_size(call->warnings) == 0)
        return 0;
    const char *first = json_string_value(json_array_get(call->warnings, 0));
    return call_fail(call, 400, "BadRequest",
                     "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: %s", first);
}

int object_check_preconditions(struct call *call, const json_t *object, const char *uid, const char *version)
{
    const char *own_uid = json_text_at(object, "metadata.uid");
    const char *own_version = json_text_at(object, "metadata.resourceVersion");
    if (uid && *uid && own_uid && strcmp(uid, own_uid) != 0)
        return call_fail_conflict(call, arena_printf(&call->arena,
                                                     "Precondition failed: UID in precondition: %s, UID in object "
                                                     "meta: %s",
                                                     uid, own_uid));
    if (version && *version && own_version && strcmp(version, own_version) != 0)
        return call_fail_conflict(call, "the object has been modified; please apply your changes to the latest "
                                        "version and try again");
    return 0;
}
