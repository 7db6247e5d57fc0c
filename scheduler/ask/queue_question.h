// In which order the workloads that wait for a node pool are tried in the next cycle, asked from outside.
#pragma once
#include "scheduler/order/queue_listing.h"
struct arena;
struct error;

// Workloads that are not ready or are being deleted are not tried and not listed. Fails like scheduler_plan.
int scheduler_queue_order(const struct snapshot *snapshot, uint32_t node_pool, struct arena *arena,
                          struct queue_listing **out_listing, struct error *err);
