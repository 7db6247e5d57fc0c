// A specification under an effective policy: defaults fill what is empty, then every rule that is broken is told.
#pragma once
#include "api/policies/policy_effective.h"

struct arena;

// Which part of a policy: of distributed trainings the worker or the master, of all others the whole.
enum policy_part {
    POLICY_PART_WHOLE,
    POLICY_PART_WORKER,
    POLICY_PART_MASTER,
};

// Fills the policy's defaults into the specification; what the request says stays, also an item that it excludes. The
// system's defaults hold without being written down. Then values of defaultFrom, which may build on each other.
void policy_fill(enum policy_kind kind, enum policy_part part, const struct policy_effective *effective, json_t *spec);
// Appends {field, details, rule} of every rule that the specification breaks to issues. Fields are named as the
// specification has them: `compute.gpuDevicesRequest`, `environmentVariables[0].value`; of distributed trainings with
// `worker.` or `master.` in front.
void policy_check(enum policy_kind kind, enum policy_part part, const struct policy_effective *effective,
                  const json_t *spec, struct arena *arena, json_t *issues);
