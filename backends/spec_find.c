#include "backends/spec_find.h"

#include "base/arena.h"

#include <jansson.h>
#include <string.h>

static bool is_wanted(const json_t *value, const char *text)
{
    if (text)
        return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
    return value && !json_is_null(value) && !json_is_false(value) &&
           !(json_is_string(value) && !*json_string_value(value)) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

// Writes where the wanted value was found; a path has a few parts, and so few levels.
static bool find(const json_t *node, const char *path, const char *wanted, const char *where, struct arena *arena,
                 const char **out_where)
{
    size_t length = strcspn(path, ".");
    bool is_list = length > 2 && path[length - 1] == ']';
    const char *name = arena_strndup(arena, path, is_list ? length - 2 : length);
    const char *rest = path[length] ? path + length + 1 : NULL;
    const json_t *value = json_object_get(node, name), *item;
    where = arena_printf(arena, "%s.%s", where, name);
    size_t i;
    if (!is_list) {
        *out_where = where;
        return rest ? find(value, rest, wanted, where, arena, out_where) : is_wanted(value, wanted);
    }
    json_array_foreach(value, i, item) {
        const char *at = arena_printf(arena, "%s[%zu]", where, i);
        if (!json_is_true(json_object_get(item, "exclude")) && rest && find(item, rest, wanted, at, arena, out_where))
            return true;
    }
    return false;
}

bool spec_find(const struct json_t *spec, const char *path, const char *wanted, struct arena *arena,
               const char **out_where)
{
    return find(spec, path, wanted, "spec", arena, out_where);
}
