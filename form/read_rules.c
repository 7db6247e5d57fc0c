// Where pods may go: nodeSelector, nodeTypes, nodeAffinity, tolerations. What is read stands in the document's order;
// order_rules.c puts it into one.
#include "base/arena.h"
#include "form/placement_rules.h"
#include "form/reader.h"
#include "model/placement_spec.h"
#include "model/placement_words.h"

static int read_value(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    return read_text(reader, place, target, err);
}

static int read_texts(struct reader *reader, const struct place *place, const char *const **out_texts,
                      size_t *out_count, struct error *err)
{
    void *items;
    if (fields_read_list(reader, place, sizeof(const char *), read_value, &items, out_count, err) < 0)
        return -1;
    *out_texts = items;
    return 0;
}

static int read_values(struct reader *reader, const struct place *place, struct snapshot_requirement *requirement,
                       struct error *err)
{
    return read_texts(reader, place, &requirement->values, &requirement->value_count, err);
}

static int check_values(const struct place *object, const struct snapshot_requirement *requirement, struct error *err)
{
    struct place values = place_member(object, "values");
    switch (requirement->operator) {
    case REQUIREMENT_IN:
    case REQUIREMENT_NOT_IN:
        return requirement->value_count > 0 ? 0 : place_error(&values, err, "at least one value");
    case REQUIREMENT_EXISTS:
    case REQUIREMENT_DOES_NOT_EXIST:
        return requirement->value_count == 0 ? 0 : place_error(&values, err, "none with this operator");
    case REQUIREMENT_GREATER:
    case REQUIREMENT_LESS:
        if (requirement->value_count == 1 && placement_is_whole_number(requirement->values[0]))
            return 0;
        return place_error(&values, err, "one whole number, as text");
    }
    return 0;
}

static int read_requirement(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"key", read_name, offsetof(struct snapshot_requirement, key), FIELD_REQUIRED},
        {"operator", NULL, 0, FIELD_REQUIRED},
        {"values", NULL, 0, 0}};
    struct snapshot_requirement *requirement = target;
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), requirement, err) < 0)
        return -1;
    struct place operator= place_member(place, "operator"), values = place_member(place, "values");
    size_t word;
    if (read_word(&operator, REQUIREMENT_WORDS, REQUIREMENT_COUNT, &word, err) < 0 ||
        read_values(reader, &values, requirement, err) < 0)
        return -1;
    requirement->operator=(enum requirement_operator) word;
    return check_values(place, requirement, err);
}

static int read_selector(struct reader *reader, const struct place *place, struct snapshot_placement_rules *rules,
                         struct error *err)
{
    if (!place->value)
        return 0;
    if (!json_is_object(place->value))
        return place_expected(place, err, "an object");
    struct snapshot_requirement *selector =
        arena_array(reader->arena, json_object_size(place->value), sizeof(*selector));
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)place->value, key, value) {
        struct place values = place_member(place, key);
        struct snapshot_requirement *requirement = &selector[count++];
        requirement->key = arena_strdup(reader->arena, key);
        requirement->operator= REQUIREMENT_IN;
        if (read_values(reader, &values, requirement, err) < 0)
            return -1;
        if (requirement->value_count == 0)
            return place_error(&values, err, "at least one value");
    }
    rules->selector = selector;
    rules->selector_count = count;
    return 0;
}

static int read_term(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {{"matchExpressions", NULL, 0, FIELD_REQUIRED}};
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), NULL, err) < 0)
        return -1;
    struct place list = place_member(place, "matchExpressions");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct snapshot_requirement), read_requirement, &items, &count, err) < 0)
        return -1;
    if (count == 0)
        return place_error(&list, err, "at least one expression");
    *(struct snapshot_affinity_term *)target = (struct snapshot_affinity_term){items, count};
    return 0;
}

static int read_terms(struct reader *reader, const struct place *place, struct snapshot_placement_rules *rules,
                      struct error *err)
{
    void *items;
    if (fields_read_list(reader, place, sizeof(struct snapshot_affinity_term), read_term, &items,
                         &rules->affinity_term_count, err) < 0)
        return -1;
    rules->affinity_terms = items;
    return 0;
}

static int read_toleration(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {{"key", read_text, offsetof(struct snapshot_toleration, key), FIELD_NULL},
                                          {"operator", NULL, 0, 0},
                                          {"value", read_text, offsetof(struct snapshot_toleration, value), FIELD_NULL},
                                          {"effect", NULL, 0, 0}};
    struct snapshot_toleration *toleration = target;
    *toleration = (struct snapshot_toleration){.value = "", .operator= TOLERATION_EQUAL, .any_effect = true};
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), toleration, err) < 0)
        return -1;
    struct place operator= place_member(place, "operator"), effect = place_member(place, "effect");
    size_t word;
    if (operator.value && !json_is_null(operator.value)) {
        if (read_word(&operator, TOLERATION_WORDS, TOLERATION_COUNT, &word, err) < 0)
            return -1;
        toleration->operator=(enum toleration_operator) word;
    }
    if (effect.value && !json_is_null(effect.value)) {
        if (read_word(&effect, TAINT_EFFECT_WORDS, TAINT_EFFECT_COUNT, &word, err) < 0)
            return -1;
        toleration->any_effect = false;
        toleration->effect = (enum taint_effect)word;
    }
    if (toleration->key && *toleration->key == '\0')
        toleration->key = NULL;
    if (!toleration->key && toleration->operator== TOLERATION_EQUAL)
        return place_error(place, err, "without a key the operator is Exists");
    return 0;
}

static int read_tolerations(struct reader *reader, const struct place *place, struct snapshot_placement_rules *rules,
                            struct error *err)
{
    void *items;
    if (fields_read_list(reader, place, sizeof(struct snapshot_toleration), read_toleration, &items,
                         &rules->toleration_count, err) < 0)
        return -1;
    rules->tolerations = items;
    return 0;
}

static bool says_nothing(const struct snapshot_placement_rules *rules)
{
    return rules->selector_count + rules->affinity_term_count + rules->toleration_count + rules->node_type_count == 0;
}

// A list that is null counts as one that is left out.
static struct place member_or_none(const struct place *object, const char *key)
{
    struct place member = place_member(object, key);
    if (json_is_null(member.value))
        member.value = NULL;
    return member;
}

static int read_rules(struct reader *reader, const struct place *object, struct snapshot_placement_rules **out_rules,
                      struct error *err)
{
    struct place selector = member_or_none(object, "nodeSelector");
    struct place affinity = member_or_none(object, "nodeAffinity");
    struct place tolerations = member_or_none(object, "tolerations");
    struct place types = member_or_none(object, "nodeTypes");
    *out_rules = NULL;
    if (!selector.value && !affinity.value && !tolerations.value && !types.value)
        return 0;
    struct snapshot_placement_rules *rules = arena_alloc(reader->arena, sizeof(*rules));
    if (read_selector(reader, &selector, rules, err) < 0 || read_terms(reader, &affinity, rules, err) < 0 ||
        read_tolerations(reader, &tolerations, rules, err) < 0 ||
        read_texts(reader, &types, &rules->node_types, &rules->node_type_count, err) < 0)
        return -1;
    *out_rules = says_nothing(rules) ? NULL : rules;
    return 0;
}

int read_placement_rules(struct reader *reader, const struct place *pod,
                         const struct snapshot_placement_rules **out_rules, struct error *err)
{
    struct snapshot_placement_rules *rules;
    if (read_rules(reader, pod, &rules, err) < 0)
        return -1;
    *out_rules = rules ? order_placement_rules(reader->arena, rules) : NULL;
    return 0;
}

int placement_rules_read(const struct json_t *object, struct arena *arena,
                         const struct snapshot_placement_rules **out_rules, struct error *err)
{
    struct reader reader = {.arena = arena};
    struct place place = {.value = object};
    struct snapshot_placement_rules *rules;
    if (read_rules(&reader, &place, &rules, err) < 0)
        return -1;
    *out_rules = rules;
    return 0;
}
