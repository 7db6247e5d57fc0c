// Receipts of evictions: rule, beneficiary, and what both sides had before and after the statement. Made while it is
// committed.
#pragma once
#include "scheduler/state/cycle.h"

// The decision's receipt, in the cycle's arena. Its workload, beneficiary and node pool are set.
const struct plan_receipt *receipt_make(struct cycle *cycle, const struct pool *pool,
                                        const struct plan_decision *decision, enum eviction_rule rule);
// The statement is committed: what the project and its department have is what they had from now on.
void receipt_settle(struct queue *project);
