// What distributed trainings have beside other workloads: workers, a master, a gang, and elastic replicas of PyTorch.
// The master comes on top of numWorkers. The gang is all pods, unless minReplicas says less.
#pragma once
#include "model/fields.h"
#include "model/pod_spec.h"
#include "model/submission.h"

// Reads and completes masterSpec too. worker is what spec says already.
int distributed_spec_read(const struct fields *top, const struct fields *spec, struct workload_spec *out,
                          const struct pod_totals *worker, struct pod_totals *out_master);
