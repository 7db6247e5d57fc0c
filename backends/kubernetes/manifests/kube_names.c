#include "backends/kubernetes/manifests/kube_names.h"

#include "backends/kubernetes/manifests/kube_manifest.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/names.h"
#include "model/workload_type.h"

#include <inttypes.h>
#include <string.h>

const char *kube_host_name(const struct backend_pod *pod, const char *role, int64_t index, struct arena *arena)
{
    return name_with_suffix(pod->workload_name, arena_printf(arena, "-%s-%" PRId64, role, index), pod->workload_uuid,
                            arena);
}

const char *kube_manifest_pod_name(const struct backend_pod *pod, struct arena *arena)
{
    if (kube_is_distributed(pod))
        return name_with_suffix(pod->workload_name,
                                arena_printf(arena, "-%s-%" PRId64 "-a%" PRId64, pod->role, pod->index, pod->attempt),
                                pod->workload_uuid, arena);
    size_t length = strlen(pod->workload_name);
    if (strncmp(pod->name, pod->workload_name, length) == 0)
        return name_with_suffix(pod->workload_name, pod->name + length, pod->workload_uuid, arena);
    return name_with_suffix(pod->name, "", pod->uuid, arena);
}

const char *kube_manifest_namespace_of(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena)
{
    if (pod->namespace && *pod->namespace)
        return arena_strdup(arena, pod->namespace);
    return arena_printf(arena, "%s%s", site->namespace_prefix ? site->namespace_prefix : "runai-", pod->project_name);
}

json_t *kube_metadata(const struct kube_site *site, const struct backend_pod *pod, const char *name,
                      struct arena *arena)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s}}", "name", name, "namespace",
                     kube_manifest_namespace_of(site, pod, arena), "labels", KUBE_INSTANCE_LABEL, site->instance,
                     KUBE_WORKLOAD_LABEL, pod->workload_uuid, KUBE_PROJECT_LABEL, pod->project_name, "annotations",
                     KUBE_WORKLOAD_ANNOTATION, pod->workload_name);
}

json_t *kube_selector(const struct kube_site *site, const struct backend_pod *pod)
{
    return json_pack("{s:s, s:s}", KUBE_INSTANCE_LABEL, site->instance, KUBE_WORKLOAD_LABEL, pod->workload_uuid);
}

bool kube_is_distributed(const struct backend_pod *pod)
{
    return workload_type_is(pod->workload_type, WORKLOAD_TYPE_DISTRIBUTED);
}

bool kube_is_inference(const struct backend_pod *pod)
{
    return workload_type_is(pod->workload_type, WORKLOAD_TYPE_INFERENCE);
}

json_t *kube_spec_load(const struct backend_pod *pod, struct error *err)
{
    json_t *spec = pod->spec_json ? json_loads(pod->spec_json, 0, NULL) : NULL;
    if (!spec)
        error_set(err, ERROR_INVALID, "spec: it cannot be read");
    return spec;
}

const char *kube_spec_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : NULL;
}

const json_t *kube_spec_next(const json_t *list, size_t *at)
{
    while (*at < json_array_size(list)) {
        const json_t *item = json_array_get(list, (*at)++);
        if (json_is_object(item) && !json_is_true(json_object_get(item, "exclude")))
            return item;
    }
    return NULL;
}

const char *kube_spec_annotation(const json_t *spec, const char *name)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "annotations"), &i));) {
        const char *key = kube_spec_text(item, "name");
        if (key && strcmp(key, name) == 0)
            return json_string_value(json_object_get(item, "value"));
    }
    return NULL;
}
