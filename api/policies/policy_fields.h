// What filling and checking a specification have in common: the part of the policy that they go by, and fields by name.
#pragma once
#include "api/policies/policy_evaluate.h"

struct policy_view {
    const struct schema *schema; // of the part's rules
    const json_t *defaults, *rules;
    const char *name; // "worker", "master", or ""
};

void policy_view_open(struct policy_view *view, enum policy_kind kind, enum policy_part part,
                      const struct policy_effective *effective);
// The field that a defaultFrom names: by its path in the specification ("compute.cpuCoreRequest"), or by its name
// beside the field that asks. NULL where it is not there.
const json_t *policy_field_value(const json_t *spec, const json_t *group, const char *field);
// The schema of the rule of such a field; NULL where there is none.
const struct schema *policy_field_rule(const struct schema *whole, const struct schema *group, const char *field);
// The member of a specification that a rule is about; three rules have names of their own.
const char *policy_field_of_rule(const char *rule);
