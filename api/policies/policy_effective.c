#include "api/policies/policy_effective.h"

#include "api/policies/policy_items.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// Beneath what every scope sets. Inferences have none of these fields.
static const char SYSTEM_POLICY[] = "{\"defaults\":{\"security\":{\"privileged\":false}},"
                                    "\"rules\":{\"security\":{\"privileged\":{\"canEdit\":false}},"
                                    "\"terminationGracePeriodSeconds\":{\"max\":300}}}";
static const char SYSTEM_SOURCE[] = "{\"scope\":\"system\",\"isFallback\":true}";

struct merging {
    const json_t *source;
    json_t *sources; // of defaults
    char path[POLICY_PATH_MAX];
};

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    assert(value);
    return value;
}

json_t *policy_of_system(enum policy_kind kind)
{
    const char *text = kind == POLICY_KIND_INFERENCE ? "{}" : SYSTEM_POLICY;
    if (kind != POLICY_KIND_DISTRIBUTED)
        return parse(text);
    json_t *replica = parse(text), *policy = json_object();
    const char *key;
    json_t *value;
    json_object_foreach(replica, key, value) {
        json_t *of_replicas = json_object();
        json_object_set(of_replicas, "master", value);
        json_object_set(of_replicas, "worker", value);
        json_object_set_new(policy, key, of_replicas);
    }
    json_decref(replica);
    return policy;
}

static json_t *open_group(json_t *into, const char *key)
{
    json_t *group = json_object_get(into, key);
    if (group)
        return group;
    group = json_object();
    json_object_set_new(into, key, group);
    return group;
}

static void drop_empty(json_t *into, const char *key)
{
    const json_t *group = json_object_get(into, key);
    if (json_is_object(group) && json_object_size(group) == 0)
        json_object_del(into, key);
}

static void merge_rules(const struct schema *schema, json_t *into, json_t *rules, const struct merging *merging,
                        bool farthest_wins);

static void merge_rule(const struct schema *schema, json_t *into, const char *key, json_t *rule,
                       const struct merging *merging, bool farthest_wins)
{
    if (!schema_is_rule(schema)) {
        bool is_kept = farthest_wins || strcmp(key, "security") == 0 || strcmp(key, "compute") == 0;
        merge_rules(schema, open_group(into, key), rule, merging, is_kept);
        drop_empty(into, key);
        return;
    }
    if (json_object_size(rule) == 0 || (farthest_wins && json_object_get(into, key)))
        return;
    json_t *copy = json_deep_copy(rule);
    json_object_set_new(copy, "sourceOfRule", json_deep_copy(merging->source));
    json_object_set_new(into, key, copy);
}

static void merge_rules(const struct schema *schema, json_t *into, json_t *rules, const struct merging *merging,
                        bool farthest_wins)
{
    const char *key;
    json_t *rule;
    json_object_foreach(rules, key, rule) {
        const struct schema *member = schema_member(schema, key);
        if (member && json_is_object(rule))
            merge_rule(member, into, key, rule, merging, farthest_wins);
    }
}

static void note_source(struct merging *merging)
{
    json_object_set_new(merging->sources, merging->path, json_deep_copy(merging->source));
}

static void merge_instances(json_t *into, json_t *instances, struct merging *merging)
{
    json_t *list = json_object_get(into, "instances");
    if (!list) {
        list = json_array();
        json_object_set_new(into, "instances", list);
    }
    for (size_t i = 0; i < json_array_size(instances); i++) {
        json_t *item = json_array_get(instances, i);
        size_t at = json_array_size(list);
        for (size_t j = 0; j < at; j++)
            if (policy_item_is_same(json_array_get(list, j), item))
                at = j;
        char index[24];
        snprintf(index, sizeof(index), "[%zu]", at);
        if (at < json_array_size(list))
            json_array_set_new(list, at, json_deep_copy(item));
        else
            json_array_append_new(list, json_deep_copy(item));
        size_t length = policy_path_add(merging->path, index);
        note_source(merging);
        policy_path_cut(merging->path, length);
    }
}

// schema: of the rules, which says what is a group. What it does not name is a value.
static void merge_defaults(const struct schema *schema, json_t *into, json_t *defaults, struct merging *merging)
{
    const char *key;
    json_t *value;
    json_object_foreach(defaults, key, value) {
        const struct schema *member = schema_member(schema, key);
        size_t length = policy_path_add(merging->path, key);
        if (json_is_array(value) && strcmp(key, "instances") == 0) {
            merge_instances(into, value, merging);
        } else if (json_is_object(value) && (!member || !schema_is_rule(member))) {
            merge_defaults(member, open_group(into, key), value, merging);
            drop_empty(into, key);
        } else if (!json_is_null(value)) {
            json_object_set_new(into, key, json_deep_copy(value));
            note_source(merging);
        }
        policy_path_cut(merging->path, length);
    }
}

static void add_list(json_t *into, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        bool is_known = false;
        for (size_t j = 0; j < json_array_size(into); j++)
            is_known = is_known || json_equal(json_array_get(into, j), json_array_get(list, i));
        if (!is_known)
            json_array_append(into, json_array_get(list, i));
    }
}

// A list, or the lists of workers and masters; what stands twice does so once.
static void add_assets(json_t **into, const json_t *assets)
{
    const char *part;
    json_t *list;
    if (assets && !*into)
        *into = json_is_array(assets) ? json_array() : json_object();
    add_list(*into, assets);
    json_object_foreach((json_t *)(uintptr_t)assets, part, list) {
        if (!json_object_get(*into, part))
            json_object_set_new(*into, part, json_array());
        add_list(json_object_get(*into, part), list);
    }
}

static void add_layer(const struct schema *schema, const struct policy_layer *layer, struct policy_effective *out)
{
    const struct schema *rules = schema_member(schema, "rules");
    struct merging merging = {.source = layer->source, .sources = out->sources};
    merge_rules(rules, out->rules, json_object_get(layer->policy, "rules"), &merging, false);
    merge_defaults(rules, out->defaults, layer->imposed, &merging);
    merge_defaults(rules, out->defaults, json_object_get(layer->policy, "defaults"), &merging);
    add_assets(&out->assets, json_object_get(layer->policy, "imposedAssets"));
    if (layer->updated_ms > out->updated_ms)
        out->updated_ms = layer->updated_ms;
}

void policy_effective_make(enum policy_kind kind, const struct policy_layer *layers, size_t count,
                           struct policy_effective *out)
{
    const struct schema *schema = policy_kind_schema(kind);
    struct policy_layer system = {.policy = policy_of_system(kind), .source = parse(SYSTEM_SOURCE)};
    *out = (struct policy_effective){.defaults = json_object(), .rules = json_object(), .sources = json_object()};
    add_layer(schema, &system, out);
    for (size_t i = 0; i < count; i++)
        add_layer(schema, &layers[i], out);
    json_decref(system.policy);
    json_decref(system.source);
}

void policy_effective_done(struct policy_effective *effective)
{
    json_decref(effective->defaults);
    json_decref(effective->rules);
    json_decref(effective->sources);
    json_decref(effective->assets);
    *effective = (struct policy_effective){0};
}
