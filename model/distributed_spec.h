// What distributed trainings have beside other workloads: workers, a master, a gang, and elastic replicas of PyTorch.
// The master comes on top of numWorkers. The gang is all pods, unless minReplicas says less.
#pragma once
#include "model/fields.h"
#include "model/submission.h"

// One pod's share of the sums.
struct pod_totals {
    const char *gpu_request_type;
    int64_t gpu_milli;
};

// Reads and completes masterSpec too. worker is what spec says already.
int distributed_spec_read(const struct fields *top, const struct fields *spec, struct workload_spec *out,
                          const struct pod_totals *worker, struct pod_totals *out_master);
// The part of a specification that describes one pod; of a master's too.
int workload_spec_read_pod(const struct fields *spec, struct pod_request *request, struct pod_totals *totals);
