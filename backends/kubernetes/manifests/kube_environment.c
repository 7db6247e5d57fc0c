#include "backends/kubernetes/manifests/kube_environment.h"

#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "model/inference_spec.h"

#include <inttypes.h>
#include <string.h>

#define HOME_FOLDER "/home/prorata"

static const char *const FIELD_PATHS[] = {
    "metadata.name", "metadata.uid", "metadata.namespace", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.podIP", "status.hostIPs",     "status.podIPs",
};
static const char *const FIELD_LISTS[] = {"metadata.labels['", "metadata.annotations['"};

bool kube_environment_knows(const char *field_path)
{
    size_t length = strlen(field_path);
    for (size_t i = 0; i < sizeof(FIELD_PATHS) / sizeof(FIELD_PATHS[0]); i++)
        if (strcmp(field_path, FIELD_PATHS[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(FIELD_LISTS) / sizeof(FIELD_LISTS[0]); i++)
        if (strncmp(field_path, FIELD_LISTS[i], strlen(FIELD_LISTS[i])) == 0)
            return length > strlen(FIELD_LISTS[i]) + 2 && strcmp(field_path + length - 2, "']") == 0;
    return false;
}

// Takes over the entry, whose name is set.
static void put(json_t *list, json_t *entry)
{
    const char *name = kube_spec_text(entry, "name");
    for (size_t i = 0; name && i < json_array_size(list); i++) {
        const char *other = kube_spec_text(json_array_get(list, i), "name");
        if (other && strcmp(other, name) == 0) {
            json_array_set_new(list, i, entry);
            return;
        }
    }
    json_array_append_new(list, entry);
}

void kube_environment_set(json_t *list, const char *name, const char *value)
{
    put(list, json_pack("{s:s, s:s}", "name", name, "value", value));
}

void kube_environment_set_number(json_t *list, const char *name, int64_t value)
{
    put(list, json_pack("{s:s, s:o}", "name", name, "value", json_sprintf("%" PRId64, value)));
}

static void set_field(json_t *list, const char *name, const char *path)
{
    put(list, json_pack("{s:s, s:{s:{s:s}}}", "name", name, "valueFrom", "fieldRef", "fieldPath", path));
}

// A key of a secret or of a config map.
static json_t *key_of(const char *name, const char *kind, const json_t *reference)
{
    const char *source = kube_spec_text(reference, "name"), *key = kube_spec_text(reference, "key");
    return json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", name, "valueFrom", kind, "name", source ? source : "", "key",
                     key ? key : "");
}

static void set_theirs(const json_t *spec, json_t *list)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "environmentVariables"), &i));) {
        const char *name = kube_spec_text(item, "name"), *value = kube_spec_text(item, "value");
        const json_t *secret = json_object_get(item, "secret"), *map = json_object_get(item, "configMap");
        const char *path = kube_spec_text(json_object_get(item, "podFieldRef"), "path");
        if (!name)
            continue;
        if (json_is_object(secret))
            put(list, key_of(name, "secretKeyRef", secret));
        else if (json_is_object(map))
            put(list, key_of(name, "configMapKeyRef", map));
        else if (path)
            set_field(list, name, path);
        else
            kube_environment_set(list, name, value ? value : "");
    }
}

static void set_serving(const json_t *spec, json_t *list)
{
    json_int_t port = json_integer_value(json_object_get(json_object_get(spec, "servingPort"), "container"));
    const char *metrics = kube_spec_annotation(spec, METRICS_PORT_ANNOTATION);
    if (port)
        kube_environment_set_number(list, "PORT", port);
    if (metrics)
        kube_environment_set(list, "METRICS_PORT", metrics);
}

json_t *kube_environment(const struct backend_pod *pod, const json_t *spec, int64_t gpus, struct arena *arena)
{
    json_t *list = json_array();
    kube_environment_set(list, "RUNAI_PROJECT", pod->project_name);
    kube_environment_set(list, "RUNAI_JOB_NAME", pod->workload_name);
    kube_environment_set(list, "RUNAI_JOB_UUID", pod->workload_uuid);
    kube_environment_set_number(list, "RUNAI_NUM_OF_GPUS", gpus);
    kube_environment_set(list, "RUNAI_GPU_PORTION", gpus ? "1" : "0");
    kube_environment_set(list, "POD_UUID", pod->uuid);
    set_field(list, "POD_NAME", "metadata.name");
    set_field(list, "POD_NAMESPACE", "metadata.namespace");
    set_field(list, "NODE_NAME", "spec.nodeName");
    kube_environment_set_number(list, "JOB_COMPLETION_INDEX", pod->index);
    kube_environment_set(list, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    if (json_array_size(json_object_get(spec, "exposedUrls")))
        kube_environment_set(list, "PRORATA_APP_PATH", "/"); // the Service and port-forward change no path
    if (json_is_true(json_object_get(spec, "createHomeDir")))
        kube_environment_set(list, "HOME", HOME_FOLDER);
    if (kube_is_inference(pod))
        set_serving(spec, list);
    kube_distributed_set(pod, spec, gpus, arena, list);
    set_theirs(spec, list);
    return list;
}
