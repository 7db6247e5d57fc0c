// Where a pod may go, as snapshots and the rows of pods say it: nodeSelector, nodeAffinity, tolerations, nodeTypes.
#pragma once
struct arena;
struct error;
struct json_t;
struct snapshot_placement_rules;

// Members of the object besides these are let pass. *out_rules is the arena's, in the object's order; NULL: no rules.
// -1: a member has another shape; err (may be NULL) names it.
int placement_rules_read(const struct json_t *object, struct arena *arena,
                         const struct snapshot_placement_rules **out_rules, struct error *err);
