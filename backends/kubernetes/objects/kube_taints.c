#include "backends/kubernetes/objects/kube_taints.h"

#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"

#include <string.h>

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

size_t kube_tolerations_read(const json_t *list, struct arena *arena, struct kube_toleration **out_tolerations)
{
    size_t count = json_array_size(list);
    *out_tolerations = count ? arena_array(arena, count, sizeof(**out_tolerations)) : NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        (*out_tolerations)[i] = (struct kube_toleration){.key = copy_at(item, "key", arena),
                                                         .relation = copy_at(item, "operator", arena),
                                                         .value = copy_at(item, "value", arena),
                                                         .effect = copy_at(item, "effect", arena)};
    }
    return count;
}

bool kube_tolerates(const struct kube_toleration *toleration, const struct kube_taint *taint)
{
    bool exists = strcmp(toleration->relation, "Exists") == 0;
    bool equals = !*toleration->relation || strcmp(toleration->relation, "Equal") == 0;
    if (*toleration->effect && strcmp(toleration->effect, taint->effect) != 0)
        return false;
    if (*toleration->key ? strcmp(toleration->key, taint->key) != 0 : !exists)
        return false;
    return exists || (equals && strcmp(toleration->value, taint->value) == 0);
}

const struct kube_taint *kube_find_untolerated(const struct kube_taint *taints, size_t taint_count,
                                               const struct kube_toleration *tolerations, size_t toleration_count)
{
    for (size_t i = 0; i < taint_count; i++) {
        bool is_tolerated = strcmp(taints[i].effect, "NoSchedule") != 0 && strcmp(taints[i].effect, "NoExecute") != 0;
        for (size_t k = 0; k < toleration_count && !is_tolerated; k++)
            is_tolerated = kube_tolerates(&tolerations[k], &taints[i]);
        if (!is_tolerated)
            return &taints[i];
    }
    return NULL;
}
