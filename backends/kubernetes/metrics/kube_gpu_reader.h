// Reads the pages of NVIDIA's DCGM exporter, which runs on each node with GPUs, by the API server (pods/proxy): only of
// nodes that the owner asks for, and only so many in a round. A thread of its own. Without an exporter nothing comes; a
// right that is missing is said once in the log.
#pragma once
#include "backends/kubernetes/metrics/kube_dcgm.h"

struct error;
struct kube_client;
struct kube_gpu_reader;

// Called on the reader's thread.
struct kube_gpu_reader_ops {
    bool (*wants)(void *context, const char *node_name);
    // What a page says; it ends with the call.
    void (*take)(void *context, const char *node_name, const struct kube_dcgm_device *devices, size_t count);
};

// period_ms: between rounds; 0: 10 s. client must outlive it.
int kube_gpu_reader_create(struct kube_client *client, const struct kube_gpu_reader_ops *ops, void *context,
                           int64_t period_ms, struct kube_gpu_reader **out_reader, struct error *err);
// Waits for its thread, and so for the call that it waits for: stop the client first (kube_client_stop). NULL is fine.
void kube_gpu_reader_destroy(struct kube_gpu_reader *reader);
