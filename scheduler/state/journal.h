// The decisions of the cycle, in the order they are taken.
#pragma once
#include "scheduler/state/cycle.h"

struct journal {
    struct plan_decision *decisions;
    size_t count;
    size_t capacity;
};

// Fills in the devices and what is lost; decision has the rest. before: the pod's state before the eviction.
void journal_add_eviction(struct cycle *cycle, struct plan_decision *decision, const struct pod_state *before);
void journal_add_placement(struct cycle *cycle, struct plan_decision *decision);
