#include "model/placement_spec.h"

#include "base/arena.h"
#include "base/error.h"
#include "model/compute_spec.h"
#include "model/placement_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const EFFECTS_OR_ANY[] = {
#define TAINT_EFFECT(value, word) word,
#include "model/placement_words.def"
#undef TAINT_EFFECT
    "Any", NULL};
static const char *const AFFINITY_TYPES[] = {"Required", "Preferred", NULL};

bool placement_is_whole_number(const char *text)
{
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return !errno && !*end && end != text;
}

static int check_whole(const struct fields *expression, const char *value)
{
    if (!placement_is_whole_number(value))
        return fields_fail(expression, "values[0]", "a whole number, got %.60s", value);
    return 0;
}

static int read_values(const struct fields *expression, const char *operator, json_t * values)
{
    size_t count;
    if (fields_count(expression, "values", PLACEMENT_ITEMS_MAX, &count) < 0)
        return -1;
    bool is_existence = strstr(operator, "Exist") != NULL;
    bool is_number = strcmp(operator, "Gt") == 0 || strcmp(operator, "Lt") == 0;
    if (is_existence && count > 0)
        return fields_fail(expression, "values", "none with the operator %s", operator);
    if (is_number && count != 1)
        return fields_fail(expression, "values", "one whole number with the operator %s", operator);
    if (!is_existence && count == 0)
        return fields_fail(expression, "values", "at least one with the operator %s", operator);
    for (size_t i = 0; i < count; i++) {
        const char *value;
        if (fields_item_text(expression, "values", i, &value) < 0)
            return -1;
        if (is_number && check_whole(expression, value) < 0)
            return -1;
        json_array_append_new(values, json_string(value));
    }
    return 0;
}

static int read_expression(const struct fields *expression, json_t *expressions)
{
    const char *key = NULL, *operator= NULL;
    if (fields_text(expression, "key", &key) < 0 ||
        fields_word(expression, "operator", REQUIREMENT_WORDS, &operator) < 0)
        return -1;
    if (!key)
        return fields_fail(expression, "key", "required");
    if (!operator)
        return fields_fail(expression, "operator", "required");
    json_t *values = json_array();
    json_array_append_new(expressions,
                          json_pack("{s:s, s:s, s:o}", "key", key, "operator", operator, "values", values));
    return read_values(expression, operator, values);
}

static int read_affinity(const struct fields *spec, json_t *constraints)
{
    struct fields affinity;
    size_t count;
    if (fields_object(spec, "nodeAffinityRequired", &affinity) < 0 ||
        fields_count(&affinity, "nodeSelectorTerms", PLACEMENT_ITEMS_MAX, &count) < 0)
        return -1;
    json_t *terms = json_array();
    json_object_set_new(constraints, "nodeAffinity", terms);
    for (size_t i = 0; i < count; i++) {
        struct fields term;
        size_t expression_count;
        if (fields_item(&affinity, "nodeSelectorTerms", i, &term) < 0 ||
            fields_count(&term, "matchExpressions", PLACEMENT_ITEMS_MAX, &expression_count) < 0)
            return -1;
        if (expression_count == 0)
            return fields_fail(&term, "matchExpressions", "at least one expression");
        json_t *expressions = json_array();
        json_array_append_new(terms, json_pack("{s:o}", "matchExpressions", expressions));
        for (size_t j = 0; j < expression_count; j++) {
            struct fields expression;
            if (fields_item(&term, "matchExpressions", j, &expression) < 0 ||
                read_expression(&expression, expressions) < 0)
                return -1;
        }
    }
    if (count == 0)
        json_object_del(constraints, "nodeAffinity");
    return 0;
}

static int read_toleration(const struct fields *item, json_t *tolerations)
{
    const char *key = NULL, *operator= TOLERATION_WORDS[TOLERATION_EQUAL], *effect = "Any";
    bool is_excluded = false;
    int64_t seconds;
    if (fields_bool(item, "exclude", &is_excluded) < 0)
        return -1;
    if (is_excluded)
        return 0;
    json_t *value = fields_get(item, "value");
    if (value && !json_is_string(value))
        return fields_fail(item, "value", "text");
    json_t *key_value = fields_get(item, "key");
    if (key_value && !json_is_string(key_value))
        return fields_fail(item, "key", "text");
    if (key_value && json_string_length(key_value) > 0)
        key = json_string_value(key_value);
    if (fields_word(item, "operator", TOLERATION_WORDS, &operator) < 0 ||
        fields_word(item, "effect", EFFECTS_OR_ANY, &effect) < 0 ||
        fields_integer(item, "seconds", 1, INT64_MAX, &seconds) < 0)
        return -1;
    bool is_exists = strcmp(operator, "Exists") == 0;
    if (!key && !is_exists)
        return fields_fail(item, "key", "required, unless the operator is Exists");
    if (is_exists && value && json_string_length(value) > 0)
        return fields_fail(item, "value", "none with the operator Exists");
    json_t *toleration = json_pack("{s:s}", "operator", operator);
    if (key)
        json_object_set_new(toleration, "key", json_string(key));
    if (!is_exists)
        json_object_set_new(toleration, "value", json_string(value ? json_string_value(value) : ""));
    if (strcmp(effect, "Any") != 0)
        json_object_set_new(toleration, "effect", json_string(effect));
    json_array_append_new(tolerations, toleration);
    return 0;
}

static int read_tolerations(const struct fields *spec, json_t *constraints)
{
    size_t count;
    if (fields_count(spec, "tolerations", PLACEMENT_ITEMS_MAX, &count) < 0)
        return -1;
    json_t *tolerations = json_array();
    json_object_set_new(constraints, "tolerations", tolerations);
    for (size_t i = 0; i < count; i++) {
        struct fields item;
        if (fields_item(spec, "tolerations", i, &item) < 0 || read_toleration(&item, tolerations) < 0)
            return -1;
    }
    if (json_array_size(tolerations) == 0)
        json_object_del(constraints, "tolerations");
    return 0;
}

static int read_pod_affinity(const struct fields *spec, json_t *constraints)
{
    struct fields affinity;
    const char *type = NULL, *key = NULL;
    if (fields_object(spec, "podAffinity", &affinity) < 0 ||
        fields_word(&affinity, "type", AFFINITY_TYPES, &type) < 0 || fields_text(&affinity, "key", &key) < 0)
        return -1;
    if (!type && !key)
        return 0;
    if (!type)
        return fields_fail(&affinity, "type", "required where a key is given");
    if (!key)
        return fields_fail(&affinity, "key", "required where a type is given");
    json_object_set_new(constraints, "podAffinity", json_pack("{s:s, s:s}", "type", type, "key", key));
    return 0;
}

static int read_node_type(const struct fields *spec, json_t *constraints)
{
    const char *node_type = NULL;
    if (fields_text(spec, "nodeType", &node_type) < 0)
        return -1;
    if (node_type)
        json_object_set_new(constraints, "nodeSelector", json_pack("{s:[s]}", NODE_TYPE_LABEL, node_type));
    return 0;
}

const char *placement_spec_text(const json_t *constraints, struct arena *arena)
{
    if (json_object_size(constraints) == 0)
        return NULL;
    size_t size = json_dumpb(constraints, NULL, 0, JSON_COMPACT | JSON_SORT_KEYS);
    char *text = arena_alloc(arena, size + 1);
    json_dumpb(constraints, text, size, JSON_COMPACT | JSON_SORT_KEYS);
    return text;
}

int placement_spec_read(const struct fields *spec, struct compute_spec *compute, const char **out_json)
{
    json_t *constraints = json_object();
    if (compute->extended)
        json_object_set_new(constraints, "extended", compute->extended);
    if (compute->mig_instances)
        json_object_set_new(constraints, "migInstances", compute->mig_instances);
    compute->extended = compute->mig_instances = NULL;
    int rc = -1;
    if (read_node_type(spec, constraints) == 0 && read_affinity(spec, constraints) == 0 &&
        read_pod_affinity(spec, constraints) == 0 && read_tolerations(spec, constraints) == 0) {
        *out_json = placement_spec_text(constraints, spec->arena);
        rc = 0;
    }
    json_decref(constraints);
    return rc;
}
