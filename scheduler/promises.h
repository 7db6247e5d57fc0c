// Promises of the cycle before are kept before anything else is decided: the workloads that were left with one are tried
// in the order of the promises. At the places they were promised, if these are free by now; else by the ordinary rules,
// if these find room that is free now; else at the promised places again, once what stops there is gone.
// Ours; docs/scheduler.md, 1.
#pragma once
#include "scheduler/cycle.h"

// In any pool of theirs: a promise may stand in one that others come to earlier. Pools are open.
void promises_keep(struct cycle *cycle);
