#include "backends/local/specification/mig.h"

#include "base/arena.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const char *mig_list(const struct mig_instance *all, size_t count, uint64_t instances, struct arena *arena)
{
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        if (instances >> i & 1)
            list = arena_printf(arena, "%s%s%s", list, list[0] ? "," : "", all[i].uuid);
    return list;
}

uint64_t mig_find(const struct mig_instance *all, size_t count, const char *list)
{
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++)
        found |= strstr(list, all[i].uuid) ? UINT64_C(1) << i : 0;
    return found;
}

const char *mig_count_json(const struct mig_instance *instances, size_t count, struct arena *arena)
{
    json_t *counts = json_object();
    for (size_t i = 0; i < count; i++) {
        json_int_t before = json_integer_value(json_object_get(counts, instances[i].resource));
        json_object_set_new(counts, instances[i].resource, json_integer(before + 1));
    }
    char *text = json_dumps(counts, JSON_COMPACT | JSON_SORT_KEYS);
    const char *copy = arena_strdup(arena, text);
    free(text);
    json_decref(counts);
    return copy;
}
