// What pods use of their nodes' CPU and memory, as metrics.k8s.io tells it: a list of PodMetrics.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct kube_usage {
    const char *namespace, *name; // of the pod
    int64_t cpu_milli;            // of all its containers, over the window
    int64_t memory_bytes;         // that cannot be given back
    int64_t time_ms, window_ms;   // up to when it was measured, and over how long; 0: not said
};

// Texts are the arena's. What is no PodMetricsList gives none; a pod without a name is left out.
size_t kube_usage_read(const json_t *list, struct arena *arena, struct kube_usage **out_usages);
