// Inheritance: what holds in a place, from the policies of the scopes that contain it.
// Defaults: the nearest scope wins (project, department, cluster, tenant); instances of lists add up, and of two that
// are the same the nearest stays. Rules: the nearest wins, but of security and compute the farthest. The system's
// policy lies beneath all. docs/policies.md has the table.
#pragma once
#include "api/policies/policy_schema.h"
#include <stdint.h>

// One policy that is set.
struct policy_layer {
    json_t *policy;  // {defaults, rules, imposedAssets}; members that are null are absent
    json_t *imposed; // what the assets that it imposes come to, as defaults; NULL: nothing
    json_t *source;  // where: a SourceOfRule of the document
    int64_t updated_ms;
};

// Owned by the caller: policy_effective_done.
struct policy_effective {
    json_t *defaults;
    json_t *rules;      // each with sourceOfRule
    json_t *assets;     // that policies impose: a list; of distributed trainings {worker, master}; NULL: none
    json_t *sources;    // of defaults: {"compute.gpuDevicesRequest": SourceOfRule, ...}
    int64_t updated_ms; // of the newest; 0: the system's alone
};

// layers: the farthest first. The system's policy is put beneath them here. Cannot fail: the layers were checked when
// they were set.
void policy_effective_make(enum policy_kind kind, const struct policy_layer *layers, size_t count,
                           struct policy_effective *out);
void policy_effective_done(struct policy_effective *effective); // NULL members are fine
// The system's policy of this kind as it is set; the caller's.
json_t *policy_of_system(enum policy_kind kind);
