// Where pods may go: nodeType, nodeAffinityRequired, podAffinity, tolerations, and with them the extended resources, as
// the constraints of a pod row (model/pod.h) in the snapshot's form.
#pragma once
#include "model/fields.h"

struct compute_spec;

enum {
    PLACEMENT_ITEMS_MAX = 64, // tolerations, terms, expressions of a term, values of an expression
};

// Takes over compute's extended resources and MIG instances. *out_json is NULL where nothing is constrained.
int placement_spec_read(const struct fields *spec, struct compute_spec *compute, const char **out_json);
