#include "backends/local/variables.h"

#include "base/arena.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void variables_init(struct variables *variables, size_t capacity, struct arena *arena)
{
    *variables = (struct variables){.arena = arena, .capacity = capacity};
    variables->items = arena_array(arena, capacity + 1, sizeof(*variables->items));
}

void variables_set(struct variables *variables, const char *name, const char *value)
{
    size_t length = strlen(name), at = 0;
    while (at < variables->count &&
           (strncmp(variables->items[at], name, length) != 0 || variables->items[at][length] != '='))
        at++;
    assert(at < variables->capacity);
    variables->items[at] = arena_printf(variables->arena, "%s=%s", name, value);
    variables->count += at == variables->count;
}

void variables_set_number(struct variables *variables, const char *name, int64_t value)
{
    variables_set(variables, name, arena_printf(variables->arena, "%" PRId64, value));
}
