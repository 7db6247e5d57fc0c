// What pods or nodes use of CPU and memory, as metrics.k8s.io tells it: a list of PodMetrics, or of NodeMetrics.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct kube_usage {
    const char *namespace, *name; // of a pod; of a node "" and its name
    int64_t cpu_milli;            // of all a pod's containers, over the window
    int64_t memory_bytes;         // that cannot be given back
    int64_t time_ms, window_ms;   // up to when it was measured, and over how long; 0: not said
};

// Texts are the arena's. What is no such list gives none; a pod or node without a name is left out.
size_t kube_usage_read(const json_t *list, struct arena *arena, struct kube_usage **out_usages);
