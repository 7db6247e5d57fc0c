// Policies on a submission: what holds in its project fills the specification, then refuses what breaks a rule.
#pragma once
#include "model/workload_type.h"
#include <jansson.h>

struct error;
struct request;
struct scope_path;

// After the template, before the type's own defaults. path is the project's. Where rules are broken: ERROR_INVALID with
// the first of them, and the answer lists all as complianceIssues. One statement.
int submission_policy_apply(struct request *req, json_t *body, enum workload_type type, const struct scope_path *path,
                            struct error *err);
