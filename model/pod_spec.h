// The part of a specification that describes one pod: of a workload's pods, and of a distributed one's master.
#pragma once
#include "model/fields.h"
#include "model/pod.h"

// One pod's share of the sums.
struct pod_totals {
    const char *gpu_request_type;
    int64_t gpu_milli;
};

// Checks it, fills in its defaults, and says what the pod asks for.
int pod_spec_read(const struct fields *spec, struct pod_request *request, struct pod_totals *totals);
