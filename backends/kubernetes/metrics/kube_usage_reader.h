// Reads what pods and nodes use of CPU and memory from metrics.k8s.io, which the metrics server or an adapter of
// Prometheus serves. A thread of its own, one request at a time. A cluster without that API group is asked again after
// five minutes; a right that is missing is said once in the log.
#pragma once
#include "backends/kubernetes/metrics/kube_usage.h"

struct error;
struct kube_client;
struct kube_usage_reader;

// Called on the reader's thread; what was read ends with the call.
struct kube_usage_reader_ops {
    void (*take_pods)(void *context, const struct kube_usage *usages, size_t count);
    void (*take_nodes)(void *context, const struct kube_usage *usages, size_t count);
};

// selector: of the pods, by label; copied. client must outlive it.
int kube_usage_reader_create(struct kube_client *client, const char *selector, const struct kube_usage_reader_ops *ops,
                             void *context, struct kube_usage_reader **out_reader, struct error *err);
// Waits for its thread, and so for the call that it waits for: stop the client first (kube_client_stop). NULL is fine.
void kube_usage_reader_destroy(struct kube_usage_reader *reader);
