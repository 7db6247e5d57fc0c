// Where quotas of siblings add up to more than there is, not everybody can have his: the higher rank may take from
// within a lower one's quota, as far as its own goes. An option of the node pool. docs/scheduler.md, 6.13.
#pragma once
#include "scheduler/state/cycle.h"

// Whether `own`, which is the reclaimer's project or its department and holds this much, may take from the sibling by
// rank. Pods that may not be evicted are never victims.
bool ranking_may_take(const struct queue *project, struct amounts project_held, const struct queue *own,
                      struct amounts own_held, struct amounts requested, const struct queue *sibling);
