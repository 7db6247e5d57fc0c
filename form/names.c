#include "base/arena.h"
#include "form/reader.h"

#include <stdlib.h>
#include <string.h>

struct text_index {
    const char *text;
    size_t index;
};

static int compare_texts(const void *a, const void *b)
{
    const struct text_index *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static const char *name_of(const void *items, size_t item_size, size_t index)
{
    return *(const char *const *)((const char *)items + index * item_size);
}

int names_sort(struct reader *reader, const struct place *list, void *items, size_t count, size_t item_size,
               struct error *err)
{
    struct text_index *order = arena_array(reader->arena, count, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct text_index){name_of(items, item_size, i), i};
    qsort(order, count, sizeof(*order), compare_texts);
    size_t first_duplicate = SIZE_MAX;
    for (size_t i = 1; i < count; i++)
        if (strcmp(order[i - 1].text, order[i].text) == 0 && order[i].index < first_duplicate)
            first_duplicate = order[i].index;
    if (first_duplicate != SIZE_MAX) {
        struct place item = place_item(list, first_duplicate);
        struct place name = place_member(&item, "name");
        return place_error(&name, err, "duplicate name \"%s\"", name_of(items, item_size, first_duplicate));
    }
    char *unsorted = arena_array(reader->arena, count, item_size);
    if (count > 0)
        memcpy(unsorted, items, count * item_size);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)items + i * item_size, unsorted + order[i].index * item_size, item_size);
    return 0;
}

uint32_t names_find(const void *items, size_t count, size_t item_size, const char *name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, name_of(items, item_size, middle));
        if (order == 0)
            return (uint32_t)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return SNAPSHOT_NONE;
}

int names_resolve(const struct place *place, const char *what, const void *items, size_t count, size_t item_size,
                  uint32_t *out_index, struct error *err)
{
    if (!place->value)
        return place_error(place, err, "missing");
    const char *name = json_string_value(place->value);
    if (!name)
        return place_expected(place, err, "a name");
    uint32_t index = names_find(items, count, item_size, name);
    if (index == SNAPSHOT_NONE)
        return place_error(place, err, "no %s \"%s\"", what, name);
    *out_index = index;
    return 0;
}

const size_t *texts_order(struct arena *arena, const char *const *texts, size_t count)
{
    struct text_index *order = arena_array(arena, count, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = (struct text_index){texts[i], i};
    qsort(order, count, sizeof(*order), compare_texts);
    size_t *indices = arena_array(arena, count, sizeof(*indices));
    for (size_t i = 0; i < count; i++)
        indices[i] = order[i].index;
    return indices;
}
