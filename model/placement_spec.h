// Where pods may go: nodeType, nodeAffinityRequired, podAffinity, tolerations, and with them the extended resources, as
// the constraints of a pod row (model/pod.h) in the snapshot's form.
#pragma once
#include "model/fields.h"

// The label that says a node's type; the scheduler also takes its other spelling (scheduler/state/rules.c).
#define NODE_TYPE_LABEL "run.ai/type"

struct compute_spec;

enum {
    PLACEMENT_ITEMS_MAX = 64, // tolerations, terms, expressions of a term, values of an expression
};

// Takes over compute's extended resources and MIG instances. *out_json is NULL where nothing is constrained.
int placement_spec_read(const struct fields *spec, struct compute_spec *compute, const char **out_json);
// Whether text is a whole number of 64 bits: what a label is compared with.
bool placement_is_whole_number(const char *text);
// Constraints as text of one form, so that equal ones are equal texts; NULL where nothing is constrained.
const char *placement_spec_text(const json_t *constraints, struct arena *arena);
