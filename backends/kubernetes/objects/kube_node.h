// A node as the scheduler needs it, from a Node object.
#pragma once
#include "backends/kubernetes/objects/kube_amounts.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "backends/kubernetes/objects/kube_taints.h"

#include <stdbool.h>

#define KUBE_GPU "nvidia.com/gpu"

// What the labels of GPU feature discovery say. They may lag behind the device plugin.
struct kube_node_gpus {
    const char *product;      // "": not known
    int64_t memory_mib;       // of one; 0: not known
    int64_t count;            // physical ones; 0: not known
    int64_t replicas;         // of each by time slicing or MPS; 1: none
    bool is_shared;           // allocatable does not count devices
    const char *mig_strategy; // "", "none", "single", "mixed"
    const char *clique;       // NVLink fabric; "": none
    const char *driver;       // version of CUDA's driver; "": not known
};

struct kube_node {
    struct kube_meta meta;
    bool is_ready;          // Ready is True, and no pressure
    const char *reason;     // one word, why it is not: NodeNotReady, NodeUnknown, DiskPressure, ...; "": it is
    const char *message;    // for people; may be ""
    int64_t ready_since_ms; // when Ready last turned to what it is; 0: not known
    bool is_cordoned;       // spec.unschedulable
    bool is_out_of_service; // carries that taint: its pods may be forced
    struct kube_taint *taints;
    size_t taint_count;
    struct kube_amounts allocatable, capacity;
    struct kube_node_gpus gpus;
    const char *address; // InternalIP; "": none
};

// -1: not a Node with a name and a uid. Texts are the arena's.
int kube_node_read(const json_t *object, struct arena *arena, struct kube_node *out_node);
