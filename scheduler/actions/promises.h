// Promises of the cycle before are kept before anything else is decided: the workloads that were left with one are
// tried in the order of the promises, by the ordinary rules. Where these would leave one of them with neither a place
// nor a promise, all are tried at the places they were promised first; together these always suffice. Ours;
// docs/scheduler.md, 1.1.
#pragma once
#include "scheduler/state/cycle.h"

// In any pool of theirs: a promise may stand in one that others come to earlier. Pools are open.
void promises_keep(struct cycle *cycle);
