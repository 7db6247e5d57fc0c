#include "api/policies/policy_read.h"

#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_fields.h"
#include "api/policies/policy_items.h"
#include "api/policies/policy_values.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum {
    LIST_MAX = 256 // instances, options or locked keys of one field: each submission is compared with all of them
};

// What answers say beside the policy, and may be sent back.
static const char *const ANSWERS[] = {"status", "sourceOfDefaults"};

struct reading {
    enum policy_kind kind;
    const struct schema *part; // whose rules are read
    char path[POLICY_PATH_MAX];
    struct error *err;
};

static bool says_nothing(const json_t *value)
{
    return json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0);
}

static bool has_assets(const json_t *assets)
{
    return json_array_size(assets) + json_array_size(json_object_get(assets, "worker")) +
               json_array_size(json_object_get(assets, "master")) >
           0;
}

static void tidy(json_t *value)
{
    const char *key;
    json_t *inner;
    void *next;
    json_object_foreach_safe(value, next, key, inner)
    {
        tidy(inner);
        if (says_nothing(inner) || strcmp(key, "sourceOfRule") == 0)
            json_object_del(value, key);
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        tidy(json_array_get(value, i));
}

static int refuse(const struct reading *reading, const char *rule)
{
    return error_set(reading->err, ERROR_INVALID, "%.160s: %s", reading->path, rule);
}

static int check_lists(const json_t *rule, const struct reading *reading)
{
    static const char *const LISTS[] = {"options", "locked"};
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
        if (json_array_size(json_object_get(rule, LISTS[i])) > LIST_MAX)
            return error_set(reading->err, ERROR_INVALID, "%.160s.%s: at most %d items", reading->path, LISTS[i],
                             LIST_MAX);
    return 0;
}

static int check_bounds(const struct schema *schema, const json_t *rule, const struct reading *reading)
{
    const json_t *minimum = json_object_get(rule, "min"), *maximum = json_object_get(rule, "max");
    const json_t *step = json_object_get(rule, "step");
    long double low = 0, high = 0, width = 0;
    if (minimum && !policy_value_amount(schema, minimum, &low))
        return refuse(reading, "min: expected an amount, such as 100M or 1Gi");
    if (maximum && !policy_value_amount(schema, maximum, &high))
        return refuse(reading, "max: expected an amount, such as 100M or 1Gi");
    if (minimum && maximum && low > high)
        return refuse(reading, "min is above max: no value is left");
    if (check_lists(rule, reading) < 0)
        return -1;
    if (step && (!policy_value_amount(schema, step, &width) || width <= 0))
        return refuse(reading, "step: expected a number above 0");
    return 0;
}

static int check_default_from(const struct schema *schema, const struct schema *group, const json_t *rule,
                              const struct reading *reading)
{
    const json_t *from = json_object_get(rule, "defaultFrom");
    const char *field = json_string_value(json_object_get(from, "field"));
    if (!from)
        return 0;
    if (!field)
        return refuse(reading, "defaultFrom.field: required");
    const struct schema *other = policy_field_rule(reading->part, group, field);
    const struct schema *bound = other ? schema_member(other, "max") : NULL;
    if (!bound)
        return refuse(reading, "defaultFrom.field: expected the path of a field with an amount");
    if ((bound->type == SCHEMA_STRING) != (schema_member(schema, "max")->type == SCHEMA_STRING))
        return refuse(reading, "defaultFrom.field: a number and a quantity do not go together");
    return 0;
}

static int check_rules(const struct schema *schema, const json_t *rules, struct reading *reading)
{
    const char *key;
    json_t *rule;
    json_object_foreach((json_t *)(uintptr_t)rules, key, rule) {
        const struct schema *member = schema_member(schema, key);
        size_t length = policy_path_add(reading->path, key);
        int rc = !schema_is_rule(member)                   ? check_rules(member, rule, reading)
                 : check_bounds(member, rule, reading) < 0 ? -1
                                                           : check_default_from(member, schema, rule, reading);
        if (rc < 0)
            return -1;
        policy_path_cut(reading->path, length);
    }
    return 0;
}

static int check_instances(const json_t *list, const struct reading *reading)
{
    if (json_array_size(list) > LIST_MAX)
        return error_set(reading->err, ERROR_INVALID, "%.160s: at most %d items", reading->path, LIST_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_object(item) || !policy_item_key(item))
            return refuse(reading, "each instance needs a name, or what it is known by");
        if (policy_item_is_excluded(item))
            return refuse(reading, "exclude is for specifications: leave the instance out");
        if (policy_items_find(list, item) != item)
            return refuse(reading, "an instance is there twice");
    }
    return 0;
}

static int check_defaults(const json_t *defaults, struct reading *reading)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)defaults, key, value) {
        size_t length = policy_path_add(reading->path, key);
        if (strcmp(key, "instances") == 0 && json_is_array(value) ? check_instances(value, reading) < 0
                                                                  : check_defaults(value, reading) < 0)
            return -1;
        policy_path_cut(reading->path, length);
    }
    return 0;
}

// What the policy alone makes of an empty specification must hold under its own rules, but for what is still required.
static int check_itself(enum policy_part part, const json_t *policy, struct arena *arena, const struct reading *reading)
{
    const struct policy_effective alone = {.defaults = json_object_get(policy, "defaults"),
                                           .rules = json_object_get(policy, "rules")};
    json_t *spec = json_object(), *issues = json_array();
    int rc = 0;
    policy_fill(reading->kind, part, &alone, spec);
    policy_check(reading->kind, part, &alone, spec, arena, issues);
    for (size_t i = 0; rc == 0 && i < json_array_size(issues); i++) {
        const json_t *issue = json_array_get(issues, i);
        if (strcmp(json_string_value(json_object_get(issue, "rule")), "required") != 0)
            rc = error_set(reading->err, ERROR_INVALID, "policy.defaults.%.120s: %s",
                           json_string_value(json_object_get(issue, "field")),
                           json_string_value(json_object_get(issue, "details")));
    }
    json_decref(spec);
    json_decref(issues);
    return rc;
}

static int read_part(enum policy_part part, const json_t *policy, struct arena *arena, struct reading *reading)
{
    const struct policy_effective alone = {.defaults = json_object_get(policy, "defaults"),
                                           .rules = json_object_get(policy, "rules")};
    struct policy_view view;
    policy_view_open(&view, reading->kind, part, &alone);
    reading->part = view.schema;
    snprintf(reading->path, sizeof(reading->path), "policy.rules%s%s", *view.name ? "." : "", view.name);
    if (check_rules(view.schema, view.rules, reading) < 0)
        return -1;
    snprintf(reading->path, sizeof(reading->path), "policy.defaults%s%s", *view.name ? "." : "", view.name);
    return check_defaults(view.defaults, reading) < 0 ? -1 : check_itself(part, policy, arena, reading);
}

int policy_read(enum policy_kind kind, json_t *policy, struct arena *arena, struct error *err)
{
    struct reading reading = {.kind = kind, .err = err};
    if (policy_check_names(policy_kind_schema(kind), policy, kind, "policy", err) < 0)
        return -1;
    tidy(policy);
    for (size_t i = 0; i < sizeof(ANSWERS) / sizeof(ANSWERS[0]); i++)
        json_object_del(policy, ANSWERS[i]);
    if (!has_assets(json_object_get(policy, "imposedAssets")))
        json_object_del(policy, "imposedAssets");
    if (kind != POLICY_KIND_DISTRIBUTED)
        return read_part(POLICY_PART_WHOLE, policy, arena, &reading);
    return read_part(POLICY_PART_WORKER, policy, arena, &reading) < 0
               ? -1
               : read_part(POLICY_PART_MASTER, policy, arena, &reading);
}

int policy_reset(enum policy_kind kind, json_t *policy, const char *path, struct error *err)
{
    const struct schema *schema = policy_kind_schema(kind);
    const char *rest = path;
    char step[POLICY_PATH_MAX];
    rest += strncmp(rest, "$.", 2) == 0 ? 2 : 0;
    rest += strncmp(rest, "policy.", 7) == 0 ? 7 : 0;
    for (json_t *group = policy;;) {
        size_t length = strcspn(rest, ".");
        if (length >= sizeof(step))
            return error_set(err, ERROR_INVALID, "reset: no field %.100s", path);
        memcpy(step, rest, length);
        step[length] = '\0';
        schema = schema_member(schema, step);
        if (!schema)
            return error_set(err, ERROR_INVALID, "reset: no field %.100s", path);
        if (!rest[length]) {
            json_object_del(group, step);
            return 0;
        }
        rest += length + 1;
        group = json_object_get(group, step);
    }
}

void policy_merge(json_t *into, const json_t *from)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)from, key, value) {
        json_t *present = json_object_get(into, key);
        if (json_is_object(value) && json_is_object(present))
            policy_merge(present, value);
        else if (!json_is_null(value))
            json_object_set_new(into, key, json_deep_copy(value));
    }
}
