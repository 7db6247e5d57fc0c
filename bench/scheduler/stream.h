// Workloads that arrive, run and end: a cluster that lives for many cycles. Every cycle is planned from scratch on the
// snapshot as it then is; the cluster obeys at once.
#pragma once
#include <stddef.h>
#include <stdint.h>
struct error;

struct stream_spec {
    size_t nodes;
    size_t departments;
    size_t projects;
    size_t workloads;   // that arrive, one after the other, at even distances
    uint32_t gap_us;    // between arrivals
    uint32_t period_ms; // a cycle every so often; 0: one at each arrival and each end
    uint32_t run_ms;    // a workload runs between half and one and a half of this
    uint32_t budget;    // scenarios for each workload and action; 0: none
    uint32_t largest;   // workloads ask for 1 to so many GPUs, whole powers of two; every tenth is a gang of four pods
};

struct stream_figures {
    double seconds;      // of all cycles, plan and snapshot
    double plan_seconds; // of them, of scheduler_plan
    double median_ms;    // of a plan
    double longest_ms;
    size_t cycles;
    size_t bound_pods; // a pod that was evicted and bound again counts twice
    size_t evicted_pods;
    size_t most_live; // workloads that waited or ran at once
    size_t most_waiting;
    size_t arena_bytes; // of the largest cycle
    size_t pods;        // in the largest cycle
};

// Runs until everything that arrived has ended.
int stream_run(const struct stream_spec *spec, struct stream_figures *out_figures, struct error *err);
