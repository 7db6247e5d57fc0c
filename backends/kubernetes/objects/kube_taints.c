#include "backends/kubernetes/objects/kube_taints.h"

#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"

static const char *copy_at(const json_t *item, const char *path, struct arena *arena)
{
    return arena_strdup(arena, kube_text_at(item, path));
}

size_t kube_taints_read(const json_t *list, struct arena *arena, struct kube_taint **out_taints)
{
    size_t count = json_array_size(list);
    *out_taints = count ? arena_array(arena, count, sizeof(**out_taints)) : NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        (*out_taints)[i] = (struct kube_taint){.key = copy_at(item, "key", arena),
                                               .value = copy_at(item, "value", arena),
                                               .effect = copy_at(item, "effect", arena)};
    }
    return count;
}
