// Which secrets a pod reads, and its image is pulled with: the server may have to put them into the cluster before.
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"

#include <string.h>

struct names {
    struct arena *arena;
    const char **items;
    size_t count, capacity;
};

static void add(struct names *names, const char *name)
{
    for (size_t i = 0; name && i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (!name)
        return;
    names->items = arena_grow(names->arena, names->items, &names->capacity, names->count + 1, sizeof(*names->items));
    names->items[names->count++] = arena_strdup(names->arena, name);
}

size_t kube_manifest_secret_names(const struct backend_pod *pod, struct arena *arena, const char *const **out_names)
{
    struct names names = {.arena = arena};
    *out_names = NULL;
    if (!pod->spec_json || !strstr(pod->spec_json, "ecret")) // few name any, and to read a specification costs
        return 0;
    json_t *spec = kube_spec_load(pod, NULL);
    const json_t *storage = json_object_get(spec, "storage"), *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "environmentVariables"), &i));)
        add(&names, kube_spec_text(json_object_get(item, "secret"), "name"));
    for (size_t i = 0; (item = kube_spec_next(json_object_get(storage, "secretVolume"), &i));)
        add(&names, kube_spec_text(item, "secret"));
    for (size_t i = 0; (item = kube_spec_next(json_object_get(storage, "git"), &i));) {
        add(&names, kube_spec_text(json_object_get(item, "secretRef"), "name"));
        add(&names, kube_spec_text(item, "passwordSecret"));
    }
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "imagePullSecrets"), &i));)
        add(&names, kube_spec_text(item, "name"));
    json_decref(spec);
    *out_names = names.items;
    return names.count;
}
