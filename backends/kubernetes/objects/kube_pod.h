// A pod as the cluster shows it: where it is, how far its life has come, how it ended.
#pragma once
#include "backends/kubernetes/objects/kube_amounts.h"
#include "backends/kubernetes/objects/kube_meta.h"

enum kube_pod_life {
    KUBE_POD_UNBOUND,  // has no node
    KUBE_POD_STARTING, // has one; no container has run yet
    KUBE_POD_RUNNING,
    KUBE_POD_SUCCEEDED,
    KUBE_POD_FAILED,
    KUBE_POD_REJECTED // the kubelet did not take it: Failed, no container ever started, reason says why
};

struct kube_device {
    const char *resource; // nvidia.com/gpu
    const char *id;       // what the device plugin calls it, a UUID as a rule
};

struct kube_pod {
    struct kube_meta meta;
    enum kube_pod_life life;
    const char *node_name, *scheduler_name; // "": none
    bool is_ready;                          // all its containers are
    bool has_gates;                         // scheduling gates: it cannot be bound
    // One word: of a container that waits (ImagePullBackOff), of how it ended (Completed, Error, OOMKilled, Evicted,
    // OutOfnvidia.com/gpu); "": nothing to tell.
    const char *reason;
    const char *message; // for people; may be ""
    bool has_exit_code;
    int64_t exit_code;
    int64_t started_ms, finished_ms; // of the main container; 0: not yet
    int64_t restarts;
    const char *pod_ip, *host_ip; // "": none yet
    struct kube_amounts requests; // effective
    struct kube_device *devices;  // where the kubelet tells; its choice, never ours
    size_t device_count;
};

// -1: not a Pod with a name and a uid. Texts are the arena's.
int kube_pod_read(const json_t *object, struct arena *arena, struct kube_pod *out_pod);
// Whether it holds nothing of its node any more: Succeeded, Failed or rejected. Gone ones are the watch's to tell.
bool kube_pod_is_over(const struct kube_pod *pod);
