#include "scheduler/state/wording.h"

#include "base/arena.h"
#include "base/quantity.h"

const char *wording_number(struct arena *arena, enum resource resource, int64_t value)
{
    char text[QUANTITY_TEXT_SIZE];
    if (value == QUANTITY_UNLIMITED)
        return "unlimited";
    if (resource == RESOURCE_MEMORY)
        quantity_format_memory(value, text);
    else
        quantity_format_milli(value, text);
    return arena_strdup(arena, text);
}

const char *wording_amount(struct arena *arena, enum resource resource, int64_t value)
{
    static const char *const NAMES[RESOURCE_COUNT] = {
        [RESOURCE_GPU] = "GPUs", [RESOURCE_CPU] = "cores", [RESOURCE_MEMORY] = "of memory"};
    static const char *const ONE[RESOURCE_COUNT] = {
        [RESOURCE_GPU] = "GPU", [RESOURCE_CPU] = "core", [RESOURCE_MEMORY] = "of memory"};
    bool is_one = value == 1000; // thousandths of a GPU or a core
    const char *number = wording_number(arena, resource, value);
    return arena_printf(arena, "%s %s", number, is_one ? ONE[resource] : NAMES[resource]);
}

enum resource wording_resource(struct amounts requested)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (requested.of[r] > 0)
            return r;
    }
    return RESOURCE_GPU;
}
