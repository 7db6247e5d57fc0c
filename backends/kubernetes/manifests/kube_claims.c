// PersistentVolumeClaims: those that a specification wants made, for all pods of its workload.
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "backends/kubernetes/manifests/kube_volumes.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/names.h"

#include <string.h>

const char *kube_claim_name(const struct backend_pod *pod, const json_t *item, size_t index, struct arena *arena)
{
    const char *name = kube_spec_text(item, "claimName");
    if (name)
        return arena_strdup(arena, name);
    return name_with_suffix(pod->workload_name, arena_printf(arena, "-claim-%zu", index), pod->workload_uuid, arena);
}

int kube_claim_spec(const json_t *item, json_t **out_spec, struct error *err)
{
    static const struct {
        const char *key, *mode;
    } MODES[] = {
        {"readWriteOnce", "ReadWriteOnce"}, {"readOnlyMany", "ReadOnlyMany"}, {"readWriteMany", "ReadWriteMany"}};
    const json_t *info = json_object_get(item, "claimInfo"), *wanted = json_object_get(info, "accessModes");
    const char *size = kube_spec_text(info, "size"), *class = kube_spec_text(info, "storageClass");
    if (!size)
        return error_set(err, ERROR_INVALID, "claimInfo.size: required of a claim that is to be made");
    json_t *modes = json_array();
    for (size_t i = 0; i < sizeof(MODES) / sizeof(MODES[0]); i++)
        if (json_is_true(json_object_get(wanted, MODES[i].key)))
            json_array_append_new(modes, json_string(MODES[i].mode));
    if (json_array_size(modes) == 0)
        json_array_append_new(modes, json_string(MODES[0].mode));
    *out_spec = json_pack("{s:o, s:{s:{s:s}}, s:s*, s:s*}", "accessModes", modes, "resources", "requests", "storage",
                          size, "storageClassName", class && strcmp(class, STORAGE_CLASS_NONE) == 0 ? "" : class,
                          "volumeMode", kube_spec_text(info, "volumeMode"));
    return 0;
}

int kube_manifest_claims(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                         json_t **out_list, struct error *err)
{
    json_t *spec = kube_spec_load(pod, err), *claim = NULL;
    const json_t *item;
    int rc = 0;
    if (!spec)
        return -1;
    json_t *list = json_array();
    for (size_t i = 0; rc == 0 && (item = kube_spec_next(kube_value_at(spec, "storage.pvc"), &i));) {
        if (json_is_true(json_object_get(item, "existingPvc")) || json_is_true(json_object_get(item, "ephemeral")))
            continue;
        rc = kube_claim_spec(item, &claim, err);
        if (rc < 0)
            error_prefix(err, "spec.storage.pvc[%zu].", i - 1);
        else
            json_array_append_new(
                list,
                json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "PersistentVolumeClaim", "metadata",
                          kube_metadata(site, pod, kube_claim_name(pod, item, i - 1, arena), arena), "spec", claim));
    }
    json_decref(spec);
    if (rc < 0)
        json_decref(list);
    else
        *out_list = list;
    return rc;
}
