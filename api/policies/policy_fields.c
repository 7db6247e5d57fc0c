#include "api/policies/policy_fields.h"

#include <string.h>

// By enum policy_part.
static const char *const PART_NAMES[] = {"", "worker", "master"};

static const struct {
    const char *rule, *field;
} OTHER_NAMES[] = {
    {"customUrl", "url"},
    {"customExternalPort", "external"},
    {"userCredentials", "userCredential"},
};

void policy_view_open(struct policy_view *view, enum policy_kind kind, enum policy_part part,
                      const struct policy_effective *effective)
{
    const char *name = PART_NAMES[part];
    *view = (struct policy_view){schema_member(policy_kind_schema(kind), "rules"), effective->defaults,
                                 effective->rules, name};
    if (part == POLICY_PART_WHOLE)
        return;
    view->schema = schema_member(view->schema, name);
    view->defaults = json_object_get(view->defaults, name);
    view->rules = json_object_get(view->rules, name);
}

// Copies the first step of a path; returns what follows it, NULL where it is the last.
static const char *take_step(const char *path, char step[POLICY_PATH_MAX])
{
    size_t length = strcspn(path, ".");
    size_t kept = length < POLICY_PATH_MAX ? length : POLICY_PATH_MAX - 1;
    memcpy(step, path, kept);
    step[kept] = '\0';
    return path[length] ? path + length + 1 : NULL;
}

static const json_t *walk_value(const json_t *value, const char *path)
{
    char step[POLICY_PATH_MAX];
    while (path) {
        path = take_step(path, step);
        value = json_object_get(value, step);
    }
    return value;
}

const json_t *policy_field_value(const json_t *spec, const json_t *group, const char *field)
{
    const json_t *value = walk_value(spec, field);
    return value && !json_is_null(value) ? value : walk_value(group, field);
}

static const struct schema *walk_rule(const struct schema *schema, const char *path)
{
    char step[POLICY_PATH_MAX];
    while (path && schema) {
        path = take_step(path, step);
        schema = schema_member(schema, step);
    }
    return schema && schema_is_rule(schema) ? schema : NULL;
}

const struct schema *policy_field_rule(const struct schema *whole, const struct schema *group, const char *field)
{
    const struct schema *rule = walk_rule(whole, field);
    return rule ? rule : walk_rule(group, field);
}

const char *policy_field_of_rule(const char *rule)
{
    for (size_t i = 0; i < sizeof(OTHER_NAMES) / sizeof(OTHER_NAMES[0]); i++)
        if (strcmp(OTHER_NAMES[i].rule, rule) == 0)
            return OTHER_NAMES[i].field;
    return rule;
}
