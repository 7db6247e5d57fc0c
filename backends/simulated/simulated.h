// The simulated backend: pods are records with a life of their own. By default a pod starts and stops at once and runs
// until it is told to stop; annotations of the workload shape its life:
//
//   prorata.io/sim-start-delay      from its order to Running (pulling the image)      default 0s
//   prorata.io/sim-duration         from Running to its end                            default: none, it runs on
//   prorata.io/sim-exit-code        of that end                                        default 0
//   prorata.io/sim-stop-duration    from being told to stop to gone; at most the grace default 0s
//   prorata.io/sim-gpu-utilization  percent of its devices                             default 80
//
// Nothing is stored: a life follows from the pod's times in the rows and its annotations, so it survives a restart.
// Time passes when somebody looks (take_facts); the thread only wakes the owner when the next thing is due.
#pragma once
#include "backends/backend.h"

struct simulated_options {
    double speed;                     // lives pass so many times faster than the wall clock
    const char *state;                // what set_speed once gave out, or NULL: the history of speeds
    int64_t (*now_ms)(void *context); // NULL: the wall clock. With it there is no thread: the caller turns the time
    void *now_context;
};

// ERROR_INVALID where state is not readable. Never fails otherwise.
int simulated_create(const struct simulated_options *options, struct backend *out_backend, struct error *err);
