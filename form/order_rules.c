// Placement rules that were read are put in one order, and a text is made of the whole, so that pods with the same
// rules share one object whatever order the document has them in.
#include "base/arena.h"
#include "base/buffer.h"
#include "form/reader.h"
#include "model/placement_words.h"

#include <string.h>

struct ordered_rules {
    struct snapshot_placement_rules rules;
    const char *text;
};

// In byte order, each once.
static const char *const *order_texts(struct arena *arena, const char *const *texts, size_t *count)
{
    const size_t *order = texts_order(arena, texts, *count);
    const char **sorted = arena_array(arena, *count, sizeof(*sorted));
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || strcmp(texts[order[i]], sorted[kept - 1]) != 0)
            sorted[kept++] = texts[order[i]];
    *count = kept;
    return sorted;
}

// Lengths in front keep texts apart that only differ in where one value ends.
static void append_part(struct buffer *text, const char *part)
{
    buffer_printf(text, "%zu:%s,", strlen(part), part);
}

static char *take_text(struct arena *arena, struct buffer *text)
{
    char *copy = arena_strdup(arena, text->data ? text->data : "");
    buffer_done(text);
    return copy;
}

static const char *requirement_text(struct arena *arena, const struct snapshot_requirement *requirement)
{
    struct buffer text;
    buffer_init(&text, 0);
    append_part(&text, requirement->key);
    append_part(&text, REQUIREMENT_WORDS[requirement->operator]);
    for (size_t i = 0; i < requirement->value_count; i++)
        append_part(&text, requirement->values[i]);
    return take_text(arena, &text);
}

static const char *join_texts(struct arena *arena, const char *const *texts, const size_t *order, size_t count)
{
    struct buffer text;
    buffer_init(&text, 0);
    for (size_t i = 0; i < count; i++)
        append_part(&text, texts[order[i]]);
    return take_text(arena, &text);
}

// Sorts items by their texts; the joined text stands for the whole list.
static const char *sort_by_text(struct arena *arena, void *items, size_t count, size_t item_size,
                                const char *const *texts)
{
    const size_t *order = texts_order(arena, texts, count);
    char *unsorted = arena_array(arena, count, item_size);
    if (count > 0)
        memcpy(unsorted, items, count * item_size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)items + i * item_size, unsorted + order[i] * item_size, item_size);
    return join_texts(arena, texts, order, count);
}

static const struct snapshot_requirement *order_requirements(struct arena *arena,
                                                             const struct snapshot_requirement *unordered, size_t count,
                                                             const char **out_text)
{
    struct snapshot_requirement *requirements = arena_array(arena, count, sizeof(*requirements));
    const char **texts = arena_array(arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        requirements[i] = unordered[i];
        requirements[i].values = order_texts(arena, unordered[i].values, &requirements[i].value_count);
        texts[i] = requirement_text(arena, &requirements[i]);
    }
    *out_text = sort_by_text(arena, requirements, count, sizeof(*requirements), texts);
    return requirements;
}

static const struct snapshot_affinity_term *
order_terms(struct arena *arena, const struct snapshot_affinity_term *unordered, size_t count, const char **out_text)
{
    struct snapshot_affinity_term *terms = arena_array(arena, count, sizeof(*terms));
    const char **texts = arena_array(arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        terms[i] = unordered[i];
        terms[i].requirements =
            order_requirements(arena, unordered[i].requirements, unordered[i].requirement_count, &texts[i]);
    }
    *out_text = sort_by_text(arena, terms, count, sizeof(*terms), texts);
    return terms;
}

static const struct snapshot_toleration *
order_tolerations(struct arena *arena, const struct snapshot_toleration *unordered, size_t count, const char **out_text)
{
    struct snapshot_toleration *tolerations = arena_array(arena, count, sizeof(*tolerations));
    const char **texts = arena_array(arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_toleration *toleration = &unordered[i];
        tolerations[i] = *toleration;
        struct buffer text;
        buffer_init(&text, 0);
        append_part(&text, toleration->key ? toleration->key : "");
        append_part(&text, toleration->value);
        buffer_printf(&text, "%d %d", (int)toleration->operator, toleration->any_effect ? -1 : (int)toleration->effect);
        texts[i] = take_text(arena, &text);
    }
    *out_text = sort_by_text(arena, tolerations, count, sizeof(*tolerations), texts);
    return tolerations;
}

static const char *node_types_text(struct arena *arena, const struct snapshot_placement_rules *rules)
{
    struct buffer text;
    buffer_init(&text, 0);
    for (size_t i = 0; i < rules->node_type_count; i++)
        append_part(&text, rules->node_types[i]);
    return take_text(arena, &text);
}

const struct snapshot_placement_rules *order_placement_rules(struct arena *arena,
                                                             const struct snapshot_placement_rules *unordered)
{
    struct ordered_rules *ordered = arena_alloc(arena, sizeof(*ordered));
    struct snapshot_placement_rules *rules = &ordered->rules;
    const char *parts[4];
    *rules = *unordered;
    rules->selector = order_requirements(arena, rules->selector, rules->selector_count, &parts[0]);
    rules->affinity_terms = order_terms(arena, rules->affinity_terms, rules->affinity_term_count, &parts[1]);
    rules->tolerations = order_tolerations(arena, rules->tolerations, rules->toleration_count, &parts[2]);
    rules->node_types = order_texts(arena, rules->node_types, &rules->node_type_count);
    parts[3] = node_types_text(arena, rules);
    ordered->text = join_texts(arena, parts, (const size_t[]){0, 1, 2, 3}, 4);
    return rules;
}

void share_placement_rules(struct arena *arena, struct snapshot_pod *pods, size_t count)
{
    const char **texts = arena_array(arena, count, sizeof(*texts));
    size_t *owners = arena_array(arena, count, sizeof(*owners));
    size_t with_rules = 0;
    for (size_t i = 0; i < count; i++)
        if (pods[i].rules) {
            owners[with_rules] = i;
            texts[with_rules++] = ((const struct ordered_rules *)pods[i].rules)->text;
        }
    const size_t *order = texts_order(arena, texts, with_rules);
    for (size_t i = 1; i < with_rules; i++)
        if (strcmp(texts[order[i - 1]], texts[order[i]]) == 0)
            pods[owners[order[i]]].rules = pods[owners[order[i - 1]]].rules;
}
