// Recomputes the receipts of a plan's evictions from the snapshot and the decisions, with sums of its own.
#pragma once
#include "scheduler/plan.h"

// Counts by rule what was checked; prints and counts what is wrong by tests/support/check.h.
void receipts_check(const struct snapshot *snapshot, const struct plan *plan, const char *name,
                    unsigned counts[EVICTION_RULE_COUNT]);
