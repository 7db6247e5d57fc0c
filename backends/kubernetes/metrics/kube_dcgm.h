// What NVIDIA's DCGM exporter says of the GPUs of its node: a page in the text form of Prometheus. A line is
// NAME{label="value",...} NUMBER; lines of one device are put together by its UUID, and of a MIG instance by that too.
//
// The exporter names the pod that has a device, where it may ask the kubelet; where it may not the labels are missing.
// Names of labels are those of today, those of exporters before version 2, and those that Prometheus makes of them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
    KUBE_DCGM_DEVICES_MAX = 1024 // of one page: what comes later is left out
};

struct kube_dcgm_device {
    const char *uuid;                    // GPU-...
    const char *instance;                // of MIG; "": the whole device
    int index;                           // the driver's number; -1: not said
    const char *model;                   // ""
    const char *node;                    // "": not said
    const char *namespace, *pod;         // that has it; "": nobody, or not known
    double utilization;                  // percent; -1: not said
    int64_t memory_used_mib, memory_mib; // -1: not said
    int temperature;                     // degrees Celsius; -1: not said
    int64_t xid;                         // the last error that the driver reported; 0: none
};

// Texts are the arena's. Lines that say nothing of a device are passed over, and so are those that cannot be read.
size_t kube_dcgm_read(const char *text, size_t length, struct arena *arena, struct kube_dcgm_device **out_devices);
// The mean utilization of the devices that a pod has, in percent. False: none is known.
bool kube_dcgm_of_pod(const struct kube_dcgm_device *devices, size_t count, const char *namespace, const char *pod,
                      double *out_utilization);
// The memory that is used of the devices that a pod has, in MiB by the driver's number; -1: not its, or not known.
// False: none is known.
bool kube_dcgm_memory_of_pod(const struct kube_dcgm_device *devices, size_t count, const char *namespace,
                             const char *pod, int32_t *out_mib, size_t size);
