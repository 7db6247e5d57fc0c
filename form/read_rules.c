// Where pods may go: nodeSelector, nodeTypes, nodeAffinity, tolerations. Each list is put in one order, and a text is
// made of the whole, so that pods with the same rules share one object whatever order the document has them in.
#include "base/arena.h"
#include "base/buffer.h"
#include "form/reader.h"

#include <stdlib.h>
#include <string.h>

struct rules_draft {
    struct snapshot_placement_rules rules;
    const char *text;
};

const char *const REQUIREMENT_WORDS[6] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

static int read_value(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    return read_text(reader, place, target, err);
}

// In byte order, each once.
static int read_texts(struct reader *reader, const struct place *place, const char *const **out_texts,
                      size_t *out_count, struct error *err)
{
    void *items;
    size_t count, kept = 0;
    if (fields_read_list(reader, place, sizeof(const char *), read_value, &items, &count, err) < 0)
        return -1;
    const char *const *values = items;
    const size_t *order = texts_order(reader->arena, values, count);
    const char **sorted = arena_array(reader->arena, count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(values[order[i]], sorted[kept - 1]) != 0)
            sorted[kept++] = values[order[i]];
    *out_texts = sorted;
    *out_count = kept;
    return 0;
}

static int read_values(struct reader *reader, const struct place *place, struct snapshot_requirement *requirement,
                       struct error *err)
{
    return read_texts(reader, place, &requirement->values, &requirement->value_count, err);
}

static bool is_whole_number(const char *text)
{
    text += *text == '-';
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 18 && text[digits] == '\0';
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
        if (requirement->value_count == 1 && is_whole_number(requirement->values[0]))
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
    if (read_word(&operator, REQUIREMENT_WORDS, READER_COUNT_OF(REQUIREMENT_WORDS), &word, err) < 0 ||
        read_values(reader, &values, requirement, err) < 0)
        return -1;
    requirement->operator=(enum requirement_operator) word;
    return check_values(place, requirement, err);
}

// Lengths in front keep texts apart that only differ in where one value ends.
static void append_part(struct buffer *text, const char *part)
{
    buffer_printf(text, "%zu:%s,", strlen(part), part);
}

static char *take_text(struct reader *reader, struct buffer *text)
{
    char *copy = arena_strdup(reader->arena, text->data ? text->data : "");
    buffer_done(text);
    return copy;
}

static const char *requirement_text(struct reader *reader, const struct snapshot_requirement *requirement)
{
    struct buffer text;
    buffer_init(&text, 0);
    append_part(&text, requirement->key);
    append_part(&text, REQUIREMENT_WORDS[requirement->operator]);
    for (size_t i = 0; i < requirement->value_count; i++)
        append_part(&text, requirement->values[i]);
    return take_text(reader, &text);
}

static const char *join_texts(struct reader *reader, const char *const *texts, const size_t *order, size_t count)
{
    struct buffer text;
    buffer_init(&text, 0);
    for (size_t i = 0; i < count; i++)
        append_part(&text, texts[order[i]]);
    return take_text(reader, &text);
}

// Sorts items by their texts; the joined text stands for the whole list.
static const char *sort_by_text(struct reader *reader, void *items, size_t count, size_t item_size,
                                const char *const *texts)
{
    const size_t *order = texts_order(reader->arena, texts, count);
    char *unsorted = arena_array(reader->arena, count, item_size);
    if (count > 0)
        memcpy(unsorted, items, count * item_size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)items + i * item_size, unsorted + order[i] * item_size, item_size);
    return join_texts(reader, texts, order, count);
}

static const char *sort_requirements(struct reader *reader, struct snapshot_requirement *requirements, size_t count)
{
    const char **texts = arena_array(reader->arena, count, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = requirement_text(reader, &requirements[i]);
    return sort_by_text(reader, requirements, count, sizeof *requirements, texts);
}

static int read_selector(struct reader *reader, const struct place *place, struct rules_draft *draft, struct error *err)
{
    if (!place->value || json_is_null(place->value)) {
        draft->text = "";
        return 0;
    }
    if (!json_is_object(place->value))
        return place_expected(place, err, "an object");
    struct snapshot_requirement *selector =
        arena_array(reader->arena, json_object_size(place->value), sizeof *selector);
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
    draft->text = sort_requirements(reader, selector, count);
    draft->rules.selector = selector;
    draft->rules.selector_count = count;
    return 0;
}

struct term_draft {
    struct snapshot_affinity_term term;
    const char *text;
};

static int read_term(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {{"matchExpressions", NULL, 0, FIELD_REQUIRED}};
    struct term_draft *draft = target;
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), NULL, err) < 0)
        return -1;
    struct place list = place_member(place, "matchExpressions");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct snapshot_requirement), read_requirement, &items, &count, err) < 0)
        return -1;
    if (count == 0)
        return place_error(&list, err, "at least one expression");
    draft->text = sort_requirements(reader, items, count);
    draft->term = (struct snapshot_affinity_term){items, count};
    return 0;
}

static int read_terms(struct reader *reader, const struct place *place, struct rules_draft *draft,
                      const char **out_text, struct error *err)
{
    void *items;
    size_t count;
    if (fields_read_list(reader, place, sizeof(struct term_draft), read_term, &items, &count, err) < 0)
        return -1;
    const struct term_draft *drafts = items;
    struct snapshot_affinity_term *terms = arena_array(reader->arena, count, sizeof *terms);
    const char **texts = arena_array(reader->arena, count, sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        terms[i] = drafts[i].term;
        texts[i] = drafts[i].text;
    }
    *out_text = sort_by_text(reader, terms, count, sizeof *terms, texts);
    draft->rules.affinity_terms = terms;
    draft->rules.affinity_term_count = count;
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
        if (read_word(&operator,(const char *const[]){"Equal", "Exists"}, 2, &word, err) < 0)
            return -1;
        toleration->operator= word == 0 ? TOLERATION_EQUAL : TOLERATION_EXISTS;
    }
    if (effect.value && !json_is_null(effect.value)) {
        if (read_word(&effect, TAINT_EFFECT_WORDS, READER_COUNT_OF(TAINT_EFFECT_WORDS), &word, err) < 0)
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

static int read_tolerations(struct reader *reader, const struct place *place, struct rules_draft *draft,
                            const char **out_text, struct error *err)
{
    void *items;
    size_t count;
    if (fields_read_list(reader, place, sizeof(struct snapshot_toleration), read_toleration, &items, &count, err) < 0)
        return -1;
    const struct snapshot_toleration *tolerations = items;
    const char **texts = arena_array(reader->arena, count, sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_toleration *toleration = &tolerations[i];
        struct buffer text;
        buffer_init(&text, 0);
        append_part(&text, toleration->key ? toleration->key : "");
        append_part(&text, toleration->value);
        buffer_printf(&text, "%d %d", (int)toleration->operator, toleration->any_effect ? -1 : (int)toleration->effect);
        texts[i] = take_text(reader, &text);
    }
    *out_text = sort_by_text(reader, items, count, sizeof *tolerations, texts);
    draft->rules.tolerations = items;
    draft->rules.toleration_count = count;
    return 0;
}

static int read_node_types(struct reader *reader, const struct place *place, struct rules_draft *draft,
                           const char **out_text, struct error *err)
{
    struct snapshot_placement_rules *rules = &draft->rules;
    if (read_texts(reader, place, &rules->node_types, &rules->node_type_count, err) < 0)
        return -1;
    struct buffer text;
    buffer_init(&text, 0);
    for (size_t i = 0; i < rules->node_type_count; i++)
        append_part(&text, rules->node_types[i]);
    *out_text = take_text(reader, &text);
    return 0;
}

int read_placement_rules(struct reader *reader, const struct place *pod,
                         const struct snapshot_placement_rules **out_rules, struct error *err)
{
    struct place selector = place_member(pod, "nodeSelector"), affinity = place_member(pod, "nodeAffinity");
    struct place tolerations = place_member(pod, "tolerations"), types = place_member(pod, "nodeTypes");
    if (json_is_null(affinity.value))
        affinity.value = NULL;
    if (json_is_null(tolerations.value))
        tolerations.value = NULL;
    if (json_is_null(types.value))
        types.value = NULL;
    *out_rules = NULL;
    if (!selector.value && !affinity.value && !tolerations.value && !types.value)
        return 0;
    struct rules_draft *draft = arena_alloc(reader->arena, sizeof *draft);
    const char *affinity_text, *tolerations_text, *types_text;
    if (read_selector(reader, &selector, draft, err) < 0 ||
        read_terms(reader, &affinity, draft, &affinity_text, err) < 0 ||
        read_tolerations(reader, &tolerations, draft, &tolerations_text, err) < 0 ||
        read_node_types(reader, &types, draft, &types_text, err) < 0)
        return -1;
    if (draft->rules.selector_count + draft->rules.affinity_term_count + draft->rules.toleration_count +
            draft->rules.node_type_count ==
        0)
        return 0;
    const char *const parts[] = {draft->text, affinity_text, tolerations_text, types_text};
    draft->text = join_texts(reader, parts, (const size_t[]){0, 1, 2, 3}, 4);
    *out_rules = &draft->rules;
    return 0;
}

void share_placement_rules(struct arena *arena, struct snapshot_pod *pods, size_t count)
{
    const char **texts = arena_array(arena, count, sizeof *texts);
    size_t *owners = arena_array(arena, count, sizeof *owners);
    size_t with_rules = 0;
    for (size_t i = 0; i < count; i++)
        if (pods[i].rules) {
            owners[with_rules] = i;
            texts[with_rules++] = ((const struct rules_draft *)pods[i].rules)->text;
        }
    const size_t *order = texts_order(arena, texts, with_rules);
    for (size_t i = 1; i < with_rules; i++)
        if (strcmp(texts[order[i - 1]], texts[order[i]]) == 0)
            pods[owners[order[i]]].rules = pods[owners[order[i - 1]]].rules;
}
