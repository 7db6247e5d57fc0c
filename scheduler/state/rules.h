// Which nodes may take a pod at all: node state, MIG strategy, node types, selectors, affinity terms, taints.
// Amounts are node.h's. docs/scheduler.md, 4.4.
#pragma once
#include "scheduler/state/cycle.h"

enum node_refusal {
    NODE_ACCEPTS,
    NODE_NOT_READY,
    NODE_CORDONED,
    NODE_MIG_STRATEGY,
    NODE_TYPE, // the project's list of node types has not this one
    NODE_SELECTOR,
    NODE_AFFINITY,
    NODE_TAINT,
    NODE_POD_AFFINITY,
    NODE_GPU_MEMORY_UNKNOWN,
    NODE_FEW_GPUS,
    NODE_FEW_CPU,
    NODE_LITTLE_MEMORY,
    NODE_FEW_EXTENDED,
    NODE_FEW_POD_SLOTS,
    NODE_OVER_QUOTA, // a request for device memory would charge more there than its queue may have
    NODE_REFUSAL_COUNT
};

// Text for people, static.
const char *node_refusal_text(enum node_refusal refusal);

// Why the node may not take the pod whatever is free there; NODE_ACCEPTS where it may.
enum node_refusal rules_check(const struct cycle *cycle, const struct pod *pod, const struct node *node);
// The same without the state of the node: as if it were ready and not cordoned.
enum node_refusal rules_refusal(const struct pod *pod, const struct node *node);
// rules_check as a table by node index: true where it may. Kept for the cycle, one per different set of rules.
const bool *rules_accepting_nodes(struct cycle *cycle, const struct pod *pod);
