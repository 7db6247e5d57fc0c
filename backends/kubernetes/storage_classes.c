// The storage classes of the cluster, as they are when somebody asks.
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "base/error.h"

#include <string.h>

enum {
    TRY_FOR_MS = 5000
};

// Both were in use; the newer one counts, and says "true".
static bool is_default(const json_t *object)
{
    static const char *const MARKS[] = {"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class"};
    const json_t *annotations = kube_value_at(object, "metadata.annotations");
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
        const char *value = json_string_value(json_object_get(annotations, MARKS[i]));
        if (value)
            return strcmp(value, "true") == 0;
    }
    return false;
}

int storage_classes_list(void *backend, struct arena *arena, struct backend_storage_class **out_classes,
                         size_t *out_count, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    struct kube_call call = {
        .method = KUBE_GET, .path = "/apis/storage.k8s.io/v1/storageclasses", .try_for_ms = TRY_FOR_MS};
    struct kube_answer answer;
    const json_t *items, *item;
    size_t i;
    int rc = kube_client_call(kubernetes->client, &call, &answer, err);
    if (rc < 0) {
        error_prefix(err, "the cluster does not list its storage classes: ");
        kube_answer_done(&answer);
        return -1;
    }
    items = json_object_get(answer.body, "items");
    *out_classes = arena_array(arena, json_array_size(items), sizeof(**out_classes));
    *out_count = json_array_size(items);
    json_array_foreach(items, i, item)
        (*out_classes)[i] = (struct backend_storage_class){
            .name = arena_strdup(arena, kube_text_at(item, "metadata.name")),
            .provisioner = arena_strdup(arena, kube_text_at(item, "provisioner")),
            .can_expand = json_is_true(json_object_get(item, "allowVolumeExpansion")),
            .is_default = is_default(item),
        };
    kube_answer_done(&answer);
    return 0;
}
