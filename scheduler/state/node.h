// What is free on a node: idle now, and releasing (free after terminations, less what was promised of it).
//
// A pod that stays takes from idle; a releasing one gives to releasing while idle stays taken; a promised one takes
// from releasing even where it will really use idle resources, so releasing may be negative and only idle + releasing
// tells what can be promised. docs/scheduler.md, 1.6.
#pragma once
#include "scheduler/state/cycle.h"

enum standing {
    STANDING_STAYS,
    STANDING_RELEASING,
    STANDING_PROMISED
};

// Adds a pod standing at place (whose node this is), or takes exactly that away again.
void node_add(struct node *node, const struct pod *pod, const struct place *place, enum standing standing);
void node_remove(struct node *node, const struct pod *pod, const struct place *place, enum standing standing);

struct node_fit {
    bool fits;     // on idle + releasing
    bool fits_now; // on idle
    bool joins;    // a shared request that finds room on a device that is already shared
};

// Whether amounts and devices suffice; who may go where is rules.h.
struct node_fit node_fit_pod(const struct node *node, const struct pod *pod);

// Whether the shared devices of a request (and the pod slots of those that it opens) suffice, on idle + releasing.
bool node_fits_devices(const struct node *node, const struct request *request);

// What the pod charges to GPU quota when it stands on a node whose devices have this much memory.
int64_t request_gpu_milli(const struct request *request, int64_t gpu_memory_mib);
struct amounts request_amounts(const struct request *request, int64_t gpu_memory_mib);

// Whether it charges nothing to any quota.
static inline bool request_is_nothing(const struct request *request)
{
    return !request->needs_gpu && request->of[DIMENSION_CPU] == 0 && request->of[DIMENSION_MEMORY] == 0;
}

// GPUs of the node that are idle or releasing, free parts of shared devices included, MIG instances counted as GPUs.
int64_t node_free_gpu_milli(const struct snapshot *snapshot, const struct node *node);
