// Taints of nodes.
#pragma once
#include <jansson.h>
#include <stddef.h>

struct arena;

struct kube_taint {
    const char *key, *value;
    const char *effect; // NoSchedule, PreferNoSchedule, NoExecute
};

size_t kube_taints_read(const json_t *list, struct arena *arena, struct kube_taint **out_taints);
