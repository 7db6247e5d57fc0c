#include "reconciler/world/world_json.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/timestamp.h"
#include "form/placement_rules.h"
#include "reconciler/world/extended_names.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)
enum {
    WINDOW_DAYS = 7,
    WINDOW_DAYS_MAXIMUM = 30, // as long as time series are kept
    K_MAXIMUM = 1000000
};

static json_t *load(const char *json)
{
    return json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
}

static const char *copy_text(const json_t *value, struct arena *arena)
{
    return json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : "";
}

static size_t texts_of(const json_t *list, struct arena *arena, const char ***out_texts)
{
    size_t count = json_array_size(list);
    const char **texts = arena_array(arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++)
        texts[i] = copy_text(json_array_get(list, i), arena);
    *out_texts = texts;
    return count;
}

size_t world_json_texts(const char *json, struct arena *arena, const char ***out_texts)
{
    json_t *list = load(json);
    size_t count = texts_of(list, arena, out_texts);
    json_decref(list);
    return count;
}

size_t world_json_numbers(const char *json, struct arena *arena, uint32_t **out_numbers)
{
    *out_numbers = NULL;
    if (!json || strcmp(json, "[]") == 0)
        return 0;
    json_t *list = load(json);
    size_t count = json_array_size(list);
    uint32_t *numbers = arena_array(arena, count, sizeof(*numbers));
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    json_decref(list);
    *out_numbers = numbers;
    return count;
}

size_t world_json_keys(const char *json, struct arena *arena, const char ***out_keys)
{
    json_t *object = load(json);
    const char **keys = arena_array(arena, json_object_size(object), sizeof(*keys));
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
        keys[count++] = arena_strdup(arena, key);
    json_decref(object);
    *out_keys = keys;
    return count;
}

void world_json_labels(const char *json, struct arena *arena, const struct snapshot_label **out, size_t *out_count)
{
    json_t *object = load(json);
    struct snapshot_label *labels = arena_array(arena, json_object_size(object), sizeof(*labels));
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
        labels[count++] = (struct snapshot_label){arena_strdup(arena, key), copy_text(value, arena)};
    json_decref(object);
    *out = labels;
    *out_count = count;
}

static enum taint_effect effect_of(const json_t *value)
{
    for (int i = 0; json_is_string(value) && i < TAINT_EFFECT_COUNT; i++)
        if (strcmp(TAINT_EFFECT_WORDS[i], json_string_value(value)) == 0)
            return (enum taint_effect)i;
    return TAINT_NO_SCHEDULE;
}

void world_json_taints(const char *json, struct arena *arena, const struct snapshot_taint **out, size_t *out_count)
{
    json_t *list = load(json);
    struct snapshot_taint *taints = arena_array(arena, json_array_size(list), sizeof(*taints));
    *out_count = json_array_size(list);
    for (size_t i = 0; i < *out_count; i++) {
        const json_t *taint = json_array_get(list, i);
        taints[i] = (struct snapshot_taint){copy_text(json_object_get(taint, "key"), arena),
                                            copy_text(json_object_get(taint, "value"), arena),
                                            effect_of(json_object_get(taint, "effect"))};
    }
    json_decref(list);
    *out = taints;
}

static uint32_t find_extended(struct extended_list list, const char *name)
{
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.names[i].name, name) == 0)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

static size_t count_amounts(const json_t *object, struct extended_list list, struct extended_names *asked,
                            struct snapshot_extended_amount *amounts, size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        uint32_t resource = find_extended(list, key);
        int64_t amount = json_integer_value(value);
        if (resource != SNAPSHOT_NONE && amount > 0)
            amounts[count++] = (struct snapshot_extended_amount){resource, amount};
        else if (resource == SNAPSHOT_NONE && asked)
            extended_names_add(asked, key);
    }
    return count;
}

void world_json_amounts(const char *json, struct extended_list list, struct arena *arena,
                        const struct snapshot_extended_amount **out, size_t *out_count)
{
    json_t *object = load(json);
    struct snapshot_extended_amount *amounts = arena_array(arena, json_object_size(object), sizeof(*amounts));
    *out_count = count_amounts(object, list, NULL, amounts, 0);
    *out = amounts;
    json_decref(object);
}

static void read_pod_affinity(const json_t *object, struct arena *arena, struct placement *placement)
{
    const json_t *type = json_object_get(object, "type"), *key = json_object_get(object, "key");
    if (!json_is_string(type) || !json_is_string(key))
        return;
    placement->pod_affinity =
        strcmp(json_string_value(type), "Required") == 0 ? POD_AFFINITY_REQUIRED : POD_AFFINITY_PREFERRED;
    placement->pod_affinity_key = copy_text(key, arena);
}

// Rules of a row that cannot be read: no node has this label, so its pod waits and is told why.
static const struct snapshot_placement_rules NOWHERE = {
    .selector = (const struct snapshot_requirement[]){{.key = "prorata/placement-rules",
                                                       .operator= REQUIREMENT_IN,
                                                       .values = (const char *const[]){"readable"},
                                                       .value_count = 1}},
    .selector_count = 1,
};

void world_json_placement(const char *json, struct extended_list list, struct arena *arena,
                          struct extended_names *asked, struct placement *out_placement)
{
    json_t *object = load(json);
    if (placement_rules_read(object, arena, &out_placement->rules, NULL) < 0)
        out_placement->rules = &NOWHERE;
    const json_t *extended = json_object_get(object, "extended"), *mig = json_object_get(object, "migInstances");
    struct snapshot_extended_amount *amounts =
        arena_array(arena, json_object_size(extended) + json_object_size(mig), sizeof(*amounts));
    size_t count = count_amounts(extended, list, asked, amounts, 0);
    out_placement->extended_count = count_amounts(mig, list, asked, amounts, count);
    out_placement->extended = amounts;
    read_pod_affinity(json_object_get(object, "podAffinity"), arena, out_placement);
    json_decref(object);
}

static int64_t duration_of(const json_t *value, int64_t absent_ms)
{
    int64_t duration_ms;
    if (!json_is_string(value) || duration_parse(json_string_value(value), &duration_ms, NULL) < 0)
        return absent_ms;
    return duration_ms;
}

void world_json_window(const char *json, struct usage_window *out_window)
{
    json_t *object = load(json);
    const json_t *weight = json_object_get(object, "historicalUsageWeight");
    const json_t *type = json_object_get(object, "windowType"),
                 *start = json_object_get(object, "tumblingWindowStartTime");
    double k = json_is_number(weight) ? json_number_value(weight) : 1;
    int64_t duration_ms = duration_of(json_object_get(object, "windowDuration"), WINDOW_DAYS * DAY_MS);
    *out_window = (struct usage_window){
        .is_enabled = json_is_true(json_object_get(object, "enabled")) && duration_ms > 0 && k > 0,
        .k_micro = llround(fmin(fmax(k, 0), K_MAXIMUM) * 1e6),
        .half_life_ms = duration_of(json_object_get(object, "decayHalfLife"), 0),
        .duration_ms = duration_ms < WINDOW_DAYS_MAXIMUM * DAY_MS ? duration_ms : WINDOW_DAYS_MAXIMUM * DAY_MS,
        .is_tumbling = json_is_string(type) && strcasecmp(json_string_value(type), "tumbling") == 0,
    };
    if (out_window->is_tumbling && json_is_string(start))
        (void)timestamp_parse(json_string_value(start), &out_window->start_ms, NULL);
    json_decref(object);
}
