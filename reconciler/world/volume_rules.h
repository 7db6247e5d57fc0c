// Nodes that a workload's volumes reach, as learnt from a refusal: pods are planned for those alone.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct cache_workload;

// terms: core/v1 nodeSelectorTerms as JSON; forgotten after until_ms, or by a restart. The last that is told counts.
void volume_rules_set(struct cache_workload *workload, const char *terms, int64_t until_ms);
// rules, or NULL, made stricter by what is known at now_ms; the arena's. *due_ms falls to when that ends.
const struct snapshot_placement_rules *volume_rules_apply(const struct cache_workload *workload,
                                                          const struct snapshot_placement_rules *rules, int64_t now_ms,
                                                          struct arena *arena, int64_t *due_ms);
