// The first half of policy_evaluate.h: what defaults make of a specification.
#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_fields.h"
#include "api/policies/policy_items.h"
#include "api/policies/policy_values.h"

#include <string.h>

struct filling {
    const struct policy_effective *effective;
    json_t *spec; // of the part
    bool has_changed;
    char path[POLICY_PATH_MAX]; // as effective->sources names fields
};

static bool is_of_system(const struct filling *filling)
{
    const json_t *source = json_object_get(filling->effective->sources, filling->path);
    const char *scope = json_string_value(json_object_get(source, "scope"));
    return scope && strcmp(scope, "system") == 0;
}

static void fill_group(const struct schema *schema, const json_t *defaults, json_t *into, struct filling *filling);

// The instances that the request neither has nor excludes; then the attributes of every item.
static void fill_items(const struct schema *schema, const json_t *defaults, json_t *into, const char *key,
                       struct filling *filling)
{
    const json_t *instances = json_object_get(defaults, "instances");
    const json_t *attributes = json_object_get(defaults, "attributes");
    json_t *list = json_object_get(into, key);
    list = json_is_array(list) ? json_incref(list) : json_array();
    for (size_t i = 0; i < json_array_size(instances); i++)
        if (!policy_items_find(list, json_array_get(instances, i)))
            json_array_append_new(list, json_deep_copy(json_array_get(instances, i)));
    size_t length = policy_path_add(filling->path, "attributes");
    for (size_t i = 0; attributes && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        if (json_is_object(item) && !policy_item_is_excluded(item))
            fill_group(schema_member(schema, "attributes"), attributes, item, filling);
    }
    policy_path_cut(filling->path, length);
    if (json_array_size(list) > 0)
        json_object_set(into, key, list);
    json_decref(list);
}

static void fill_inner(const struct schema *schema, const json_t *defaults, json_t *into, const char *key,
                       struct filling *filling)
{
    json_t *inner = json_object_get(into, key);
    inner = json_is_object(inner) ? json_incref(inner) : json_object();
    fill_group(schema, defaults, inner, filling);
    if (json_object_size(inner) > 0)
        json_object_set(into, key, inner);
    json_decref(inner);
}

static void fill_group(const struct schema *schema, const json_t *defaults, json_t *into, struct filling *filling)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)defaults, key, value) {
        const struct schema *member = schema_member(schema, key);
        const json_t *present = json_object_get(into, key);
        size_t length = policy_path_add(filling->path, key);
        if (member && schema_is_items(member))
            fill_items(member, value, into, key, filling);
        else if (json_is_object(value) && (!member || !schema_is_rule(member)))
            fill_inner(member, value, into, key, filling);
        else if ((!present || json_is_null(present)) && !is_of_system(filling))
            json_object_set_new(into, key, json_deep_copy(value));
        policy_path_cut(filling->path, length);
    }
}

static void fill_from(const struct schema *schema, const json_t *rules, json_t *into, struct filling *filling);

static void fill_one_from(const struct schema *schema, const json_t *rule, json_t *into, const char *key,
                          struct filling *filling)
{
    const json_t *from = json_object_get(rule, "defaultFrom");
    const json_t *factor = json_object_get(from, "factor");
    const char *field = json_string_value(json_object_get(from, "field"));
    if (!field || !policy_value_is_empty(json_object_get(into, key)))
        return;
    const json_t *value = policy_field_value(filling->spec, into, field);
    json_t *product = policy_value_times(schema, value, json_is_number(factor) ? json_number_value(factor) : 1);
    if (!product)
        return;
    json_object_set_new(into, key, product);
    filling->has_changed = true;
}

static void fill_inner_from(const struct schema *schema, const json_t *rules, json_t *into, const char *key,
                            struct filling *filling)
{
    json_t *inner = json_object_get(into, key);
    inner = json_is_object(inner) ? json_incref(inner) : json_object();
    fill_from(schema, rules, inner, filling);
    if (json_object_size(inner) > 0)
        json_object_set(into, key, inner);
    json_decref(inner);
}

static void fill_from(const struct schema *schema, const json_t *rules, json_t *into, struct filling *filling)
{
    const char *key;
    json_t *rule;
    json_object_foreach((json_t *)(uintptr_t)rules, key, rule) {
        const struct schema *member = schema_member(schema, key);
        if (member && schema_is_rule(member))
            fill_one_from(member, rule, into, key, filling);
        else if (member && !schema_is_items(member))
            fill_inner_from(member, rule, into, key, filling);
    }
}

void policy_fill(enum policy_kind kind, enum policy_part part, const struct policy_effective *effective, json_t *spec)
{
    struct policy_view view;
    struct filling filling = {.effective = effective, .spec = spec};
    policy_view_open(&view, kind, part, effective);
    policy_path_add(filling.path, view.name);
    fill_group(view.schema, view.defaults, spec, &filling);
    do { // each turn fills at least one field
        filling.has_changed = false;
        fill_from(view.schema, view.rules, spec, &filling);
    } while (filling.has_changed);
}
