// Taints of nodes and what pods tolerate.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct kube_taint {
    const char *key, *value;
    const char *effect; // NoSchedule, PreferNoSchedule, NoExecute
};

struct kube_toleration {
    const char *key;      // "": all keys, with Exists alone
    const char *relation; // Exists, Equal; "": Equal. Lt and Gt tolerate nothing
    const char *value;
    const char *effect; // "": all effects
};

size_t kube_taints_read(const json_t *list, struct arena *arena, struct kube_taint **out_taints);
size_t kube_tolerations_read(const json_t *list, struct arena *arena, struct kube_toleration **out_tolerations);
bool kube_tolerates(const struct kube_toleration *toleration, const struct kube_taint *taint);
// The first taint that keeps a pod away (NoSchedule, NoExecute) and that it does not tolerate; NULL: there is none.
const struct kube_taint *kube_find_untolerated(const struct kube_taint *taints, size_t taint_count,
                                               const struct kube_toleration *tolerations, size_t toleration_count);
