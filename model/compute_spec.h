// spec.compute: what one pod asks for.
// A portion of one whole device counts as the device. Old specifications leave out gpuDevicesRequest or gpuRequestType
// where a portion or an amount of memory says it already.
#pragma once
#include "model/fields.h"

struct pod_request;

enum {
    COMPUTE_GPUS_MAX = 100000,
    COMPUTE_EXTENDED_MAX = 32,
};

struct compute_spec {
    const char *gpu_request_type; // portion, memory, or NULL: whole devices
    int64_t gpu_milli;            // of one pod; 0 where it is an amount of memory
    int64_t mig_milli;            // what the MIG instances count against GPU quota
    json_t *extended;             // {"example.com/nic": 1}, or NULL; the caller's
    json_t *mig_instances;        // {"nvidia.com/mig-1g.10gb": 1}, or NULL; the caller's
};

// Sets the amounts in *request. On failure nothing is owned by the caller.
int compute_spec_read(const struct fields *compute, struct pod_request *request, struct compute_spec *out);
