// The specification of a submission: `spec`, and of distributed trainings `masterSpec` and `masterSpecSameAsWorker`.
// One pass checks every rule, fills defaults into the JSON, and computes what the scheduler needs.
#pragma once
#include "model/fields.h"
#include "model/submission.h"

enum {
    WORKLOAD_NODE_POOLS_MAX = 64,
    WORKLOAD_GRACE_SECONDS_MAX = 300, // as the system's policy has it
};

// body is the whole request. Its specifications are changed: nulls at their top go, defaults come. Everything in *out
// lives in the arena or in body. ERROR_INVALID names the path.
int workload_spec_read(json_t *body, enum workload_type type, struct arena *arena, struct workload_spec *out,
                       struct error *err);
// The specification as text to keep and to answer with; the arena's. NULL for NULL.
const char *workload_spec_text(const json_t *spec, struct arena *arena);
