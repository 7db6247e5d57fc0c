// The second half of policy_evaluate.h: which rules a specification breaks.
#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_fields.h"
#include "api/policies/policy_items.h"
#include "api/policies/policy_values.h"
#include "base/arena.h"

#include <assert.h>
#include <stdio.h>

enum {
    OPTIONS_SHOWN = 8,
    ISSUES_MAX = 1000 // of one specification; who breaks more sees these
};

struct checking {
    struct arena *arena;
    json_t *issues;
    char path[POLICY_PATH_MAX];
};

// One field under its rule.
struct field {
    const struct schema *schema; // of the rule
    const json_t *rule, *standard, *value;
};

// "the project's policy": whose rule it is.
static const char *author(const json_t *rule, struct arena *arena)
{
    const json_t *source = json_object_get(rule, "sourceOfRule");
    const char *scope = json_string_value(json_object_get(source, "scope"));
    return scope ? arena_printf(arena, "the %s's policy", scope) : "the policy";
}

static void add_issue(struct checking *checking, const char *rule, const char *details)
{
    if (json_array_size(checking->issues) >= ISSUES_MAX)
        return;
    json_t *issue = json_pack("{s:s, s:s, s:s}", "field", checking->path, "details", details, "rule", rule);
    assert(issue); // texts are cut between characters
    json_array_append_new(checking->issues, issue);
}

static const json_t *member(const json_t *rule, const char *name)
{
    const json_t *value = json_object_get(rule, name);
    return json_is_null(value) ? NULL : value;
}

static void check_can_edit(const struct field *field, struct checking *checking)
{
    if (!json_is_false(json_object_get(field->rule, "canEdit")) || policy_value_is_empty(field->value) ||
        policy_value_equals(field->schema, field->value, field->standard))
        return;
    const char *got = policy_value_shown(field->value, checking->arena);
    const char *whose = author(field->rule, checking->arena);
    if (policy_value_is_empty(field->standard))
        add_issue(checking, "canEdit", arena_printf(checking->arena, "must be left out by %s, got %s", whose, got));
    else
        add_issue(checking, "canEdit",
                  arena_printf(checking->arena, "fixed at %s by %s, got %s",
                               policy_value_shown(field->standard, checking->arena), whose, got));
}

static void check_bound(const struct field *field, const char *name, const char *words, int sign,
                        struct checking *checking)
{
    const json_t *bound = member(field->rule, name);
    long double limit, amount;
    if (!bound || !policy_value_amount(field->schema, bound, &limit) ||
        !policy_value_amount(field->schema, field->value, &amount))
        return;
    if (sign < 0 ? amount >= limit : amount <= limit)
        return;
    add_issue(checking, name,
              arena_printf(checking->arena, "%s %s by %s, got %s", words, policy_value_shown(bound, checking->arena),
                           author(field->rule, checking->arena), policy_value_shown(field->value, checking->arena)));
}

static void check_step(const struct field *field, struct checking *checking)
{
    const json_t *step = member(field->rule, "step"), *minimum = member(field->rule, "min");
    long double start = 0, width, amount;
    if (!step || !policy_value_amount(field->schema, step, &width) || width <= 0 ||
        !policy_value_amount(field->schema, field->value, &amount))
        return;
    if (minimum)
        policy_value_amount(field->schema, minimum, &start);
    if (policy_value_is_on_step(amount, start, width))
        return;
    add_issue(checking, "step",
              arena_printf(checking->arena, "steps of %s from %s by %s, got %s",
                           policy_value_shown(step, checking->arena),
                           minimum ? policy_value_shown(minimum, checking->arena) : "0",
                           author(field->rule, checking->arena), policy_value_shown(field->value, checking->arena)));
}

static bool is_option(const json_t *options, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(options); i++)
        if (json_equal(json_object_get(json_array_get(options, i), "value"), value))
            return true;
    return false;
}

static const char *options_shown(const json_t *options, struct arena *arena)
{
    const char *text = "";
    size_t count = json_array_size(options);
    for (size_t i = 0; i < count && i < OPTIONS_SHOWN; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "",
                            policy_value_shown(json_object_get(json_array_get(options, i), "value"), arena));
    return count > OPTIONS_SHOWN ? arena_printf(arena, "%s and %zu more", text, count - OPTIONS_SHOWN) : text;
}

static void check_option(const struct field *field, const json_t *options, const json_t *value,
                         struct checking *checking)
{
    if (is_option(options, value))
        return;
    add_issue(checking, "options",
              arena_printf(checking->arena, "one of %s by %s, got %s", options_shown(options, checking->arena),
                           author(field->rule, checking->arena), policy_value_shown(value, checking->arena)));
}

static void check_options(const struct field *field, struct checking *checking)
{
    const json_t *options = member(field->rule, "options");
    if (!options || policy_value_is_empty(field->value))
        return;
    if (!json_is_array(field->value))
        check_option(field, options, field->value, checking);
    for (size_t i = 0; i < json_array_size(field->value); i++) // of what is no list: 0
        check_option(field, options, json_array_get(field->value, i), checking);
}

static void check_field(const struct field *field, struct checking *checking)
{
    if (json_is_true(json_object_get(field->rule, "required")) && policy_value_is_empty(field->value))
        add_issue(checking, "required",
                  arena_printf(checking->arena, "required by %s", author(field->rule, checking->arena)));
    check_can_edit(field, checking);
    check_bound(field, "min", "at least", -1, checking);
    check_bound(field, "max", "at most", 1, checking);
    check_step(field, checking);
    check_options(field, checking);
}

static void check_group(const struct field *group, struct checking *checking);

static size_t enter_item(struct checking *checking, size_t i)
{
    char index[24];
    snprintf(index, sizeof(index), "[%zu]", i);
    return policy_path_add(checking->path, index);
}

// An instance of the policy as it stands in a specification: with the attributes that fill its gaps.
static json_t *complete(const json_t *attributes, const json_t *instance)
{
    json_t *whole = attributes ? json_deep_copy(attributes) : json_object();
    json_object_update(whole, (json_t *)(uintptr_t)instance);
    json_object_del(whole, "exclude");
    return whole;
}

static bool is_untouched(const json_t *item, const json_t *standard)
{
    json_t *plain = json_copy((json_t *)(uintptr_t)item);
    if (!policy_item_is_excluded(item))
        json_object_del(plain, "exclude");
    bool is_same = policy_value_equals(NULL, plain, standard);
    json_decref(plain);
    return is_same;
}

static bool is_locked(const json_t *locked, const json_t *item)
{
    for (size_t i = 0; i < json_array_size(locked); i++)
        if (policy_item_has_key(item, json_string_value(json_array_get(locked, i))))
            return true;
    return false;
}

// standard: what the policy has of this item; NULL where it is the request's own.
static void check_instance(const json_t *rule, const json_t *item, const json_t *standard, struct checking *checking)
{
    const char *whose = author(rule, checking->arena);
    const char *name = policy_value_shown(policy_item_key(item), checking->arena);
    if (is_locked(member(rule, "locked"), standard ? standard : item)) {
        if (!standard || !is_untouched(item, standard))
            add_issue(checking, "locked", arena_printf(checking->arena, "%s stays as it is by %s", name, whose));
    } else if (json_is_false(member(rule, "canAdd")) && !standard && !policy_item_is_excluded(item)) {
        add_issue(checking, "canAdd", arena_printf(checking->arena, "nothing may be added by %s, got %s", whose, name));
    }
}

static void check_item(const struct field *items, const json_t *item, struct checking *checking)
{
    const json_t *attributes = member(items->standard, "attributes");
    const json_t *instance = policy_items_find(member(items->standard, "instances"), item);
    json_t *standard = instance ? complete(attributes, instance) : NULL;
    check_instance(member(items->rule, "instances"), item, standard, checking);
    if (!policy_item_is_excluded(item)) {
        struct field group = {schema_member(items->schema, "attributes"), member(items->rule, "attributes"),
                              standard ? standard : attributes, item};
        check_group(&group, checking);
    }
    json_decref(standard);
}

static void check_items(const struct field *items, struct checking *checking)
{
    for (size_t i = 0; i < json_array_size(items->value); i++) {
        size_t length = enter_item(checking, i);
        if (json_is_object(json_array_get(items->value, i)))
            check_item(items, json_array_get(items->value, i), checking);
        policy_path_cut(checking->path, length);
    }
}

static void check_group(const struct field *group, struct checking *checking)
{
    const char *key;
    json_t *rule;
    json_object_foreach((json_t *)(uintptr_t)group->rule, key, rule) {
        const char *name = policy_field_of_rule(key);
        struct field inner = {schema_member(group->schema, key), rule, member(group->standard, name),
                              member(group->value, name)};
        size_t length = policy_path_add(checking->path, name);
        if (inner.schema && schema_is_rule(inner.schema))
            check_field(&inner, checking);
        else if (inner.schema && schema_is_items(inner.schema))
            check_items(&inner, checking);
        else if (inner.schema)
            check_group(&inner, checking);
        policy_path_cut(checking->path, length);
    }
}

void policy_check(enum policy_kind kind, enum policy_part part, const struct policy_effective *effective,
                  const json_t *spec, struct arena *arena, json_t *issues)
{
    struct policy_view view;
    struct checking checking = {.arena = arena, .issues = issues};
    policy_view_open(&view, kind, part, effective);
    policy_path_add(checking.path, view.name);
    struct field whole = {view.schema, view.rules, view.defaults, spec};
    check_group(&whole, &checking);
}
