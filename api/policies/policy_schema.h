// The kinds of policies, and what the API document's schemas say of them. The schemas are the one table of fields: a
// field's rule is an object that has `sourceOfRule`, a list of items one that has `instances`, and any other object is
// a group of fields. Defaults, rules and specifications have the same names.
#pragma once
#include "api/schema.h"
#include <jansson.h>

struct error;

enum policy_kind {
    POLICY_KIND_WORKSPACE,
    POLICY_KIND_TRAINING,
    POLICY_KIND_DISTRIBUTED,
    POLICY_KIND_INFERENCE,
    POLICY_KIND_COUNT
};

enum {
    POLICY_PATH_MAX = 256 // bytes of a field's path; what is longer is cut
};

// "workspace", "training", ...: as lists and the database have it. Static text.
const char *policy_kind_text(enum policy_kind kind);
// "Training" of a template, or "training". False where it is none.
bool policy_kind_parse(const char *text, enum policy_kind *out_kind);
// Of {defaults, rules, imposedAssets, status}.
const struct schema *policy_kind_schema(enum policy_kind kind);

// A member of an object, also of the schemas that it is made of; NULL where there is none.
const struct schema *schema_member(const struct schema *schema, const char *name);
bool schema_is_rule(const struct schema *schema);
bool schema_is_items(const struct schema *schema);

// A group's member; path holds what leads to it, and gets the name appended. Returns the length before, for
// policy_path_cut.
size_t policy_path_add(char path[POLICY_PATH_MAX], const char *name);
void policy_path_cut(char path[POLICY_PATH_MAX], size_t length);

// Refuses what the schema does not name: `policy.rules.imge: a policy of trainings has no such field`. Deep as value.
int policy_check_names(const struct schema *schema, const json_t *value, enum policy_kind kind, const char *path,
                       struct error *err);
