#include "api/policies/policy_schema.h"

#include "api/operation.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *text, *plural, *operation; // that takes the whole policy as its body
} KINDS[POLICY_KIND_COUNT] = {
    [POLICY_KIND_WORKSPACE] = {"workspace", "workspaces", "overwrite_workspace_policy_v2"},
    [POLICY_KIND_TRAINING] = {"training", "trainings", "overwrite_training_policy_v2"},
    [POLICY_KIND_DISTRIBUTED] = {"distributed", "distributed trainings", "overwrite_distributed_policy_v2"},
    [POLICY_KIND_INFERENCE] = {"inference", "inferences", "overwrite_inference_policy_v2"},
};

const char *policy_kind_text(enum policy_kind kind)
{
    return KINDS[kind].text;
}

bool policy_kind_parse(const char *text, enum policy_kind *out_kind)
{
    for (int i = 0; i < POLICY_KIND_COUNT; i++)
        if (strcasecmp(KINDS[i].text, text) == 0) {
            *out_kind = (enum policy_kind)i;
            return true;
        }
    return false;
}

const struct schema *policy_kind_schema(enum policy_kind kind)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        if (strcmp(OPERATIONS[i].id, KINDS[kind].operation) == 0)
            return schema_member(OPERATIONS[i].body_schema, "policy");
    abort(); // our own mistake: the document has each of them
}

const struct schema *schema_member(const struct schema *schema, const char *name)
{
    for (size_t i = 0; schema && i < schema->property_count; i++)
        if (strcmp(schema->properties[i].name, name) == 0)
            return schema->properties[i].schema;
    for (size_t i = 0; schema && i < schema->all_of_count; i++) {
        const struct schema *found = schema_member(schema->all_of[i], name);
        if (found)
            return found;
    }
    return NULL;
}

bool schema_is_rule(const struct schema *schema)
{
    return schema_member(schema, "sourceOfRule") != NULL;
}

bool schema_is_items(const struct schema *schema)
{
    return schema_member(schema, "instances") != NULL;
}

size_t policy_path_add(char path[POLICY_PATH_MAX], const char *name)
{
    size_t length = strlen(path);
    snprintf(path + length, POLICY_PATH_MAX - length, "%s%s", length && *name != '[' ? "." : "", name);
    return length;
}

void policy_path_cut(char path[POLICY_PATH_MAX], size_t length)
{
    path[length] = '\0';
}

static bool says_nothing(const struct schema *schema)
{
    return schema->property_count == 0 && schema->all_of_count == 0;
}

static int check_value(const struct schema *schema, const json_t *value, enum policy_kind kind,
                       char path[POLICY_PATH_MAX], struct error *err);

static int check_object(const struct schema *schema, const json_t *object, enum policy_kind kind,
                        char path[POLICY_PATH_MAX], struct error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        const struct schema *member = schema_member(schema, key);
        size_t length = policy_path_add(path, key);
        if (!member)
            return error_set(err, ERROR_INVALID, "%.160s: a policy of %s has no such field", path, KINDS[kind].plural);
        if (check_value(member, value, kind, path, err) < 0)
            return -1;
        policy_path_cut(path, length);
    }
    return 0;
}

static int check_value(const struct schema *schema, const json_t *value, enum policy_kind kind,
                       char path[POLICY_PATH_MAX], struct error *err)
{
    if (json_is_object(value))
        return says_nothing(schema) ? 0 : check_object(schema, value, kind, path, err);
    for (size_t i = 0; schema->items && i < json_array_size(value); i++) {
        char index[24];
        snprintf(index, sizeof(index), "[%zu]", i);
        size_t length = policy_path_add(path, index);
        if (check_value(schema->items, json_array_get(value, i), kind, path, err) < 0)
            return -1;
        policy_path_cut(path, length);
    }
    return 0;
}

int policy_check_names(const struct schema *schema, const json_t *value, enum policy_kind kind, const char *path,
                       struct error *err)
{
    char text[POLICY_PATH_MAX];
    snprintf(text, sizeof(text), "%s", path);
    return check_value(schema, value, kind, text, err);
}
