// The part of the invariants that goes decision by decision: queues, and what an eviction is for.
#pragma once
#include "tests/support/invariants.h"

struct view {
    const struct snapshot *snapshot;
    const struct plan *before; // the snapshot as it is
    const struct plan *plan;
    const bool *evicts;       // workloads that lose or move a pod
    const bool *evicts_stale; // workloads whose gang was lost too long ago
    struct breach *breach;
};

// Always false, so that a failure is one line.
bool breach_set(struct breach *breach, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool invariant_statements_hold(const struct view *view);
