// An attempt to place the next unit of a workload, all of it or nothing. docs/scheduler.md, 4.1.
#pragma once
#include "scheduler/placing/placement.h"

// Tries the workload's next unit on the nodes through the open statement; what a failed try did is rolled back. False
// also where there is nothing to place. attempt may be NULL; else blank but for what it wants.
bool attempt_workload(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                      const struct node_set *set, bool promise_only, struct attempt *attempt);
// A gang that has to wait for one of the places that the open statement gave it waits as a whole.
void attempt_settle(struct cycle *cycle, const struct workload *workload);
// Settles and keeps what the open statement placed of the workload.
void attempt_commit(struct cycle *cycle, struct pool *pool, struct workload *workload);
