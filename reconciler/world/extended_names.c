#include "reconciler/world/extended_names.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

bool extended_names_add(struct extended_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return false;
    if (names->count == names->capacity) {
        names->capacity = names->capacity ? names->capacity * 2 : 8;
        names->names = memory_realloc(names->names, names->capacity * sizeof(*names->names));
    }
    names->names[names->count++] = memory_strdup(name);
    return true;
}

void extended_names_done(struct extended_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free((char *)names->names[i]);
    free(names->names);
    *names = (struct extended_names){0};
}
