// What a workload's wish, its pods' ends and its limits ask for, and the phase that follows.
#pragma once
#include "reconciler/turn/turn.h"

// Before planning: carries out wishes, retries, limits. Looks at every workload of the cache.
void lifecycle_attend_all(struct turn *turn);
// After planning: the phase of each workload that was touched, and of those that changed.
void lifecycle_set_phases(struct turn *turn);

// How long after its end a pod starts again that has failed so often, in milliseconds.
int64_t lifecycle_retry_delay(const struct reconciler_options *options, int64_t failures);

// A pod's phase in Kubernetes' words.
const char *lifecycle_pod_phase(const struct cache_pod *pod);
