#include "backends/local/specification/variables.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

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

static const char *find(const struct variables *variables, const char *name, size_t length)
{
    for (size_t i = 0; i < variables->count; i++)
        if (strncmp(variables->items[i], name, length) == 0 && variables->items[i][length] == '=')
            return variables->items[i] + length + 1;
    return NULL;
}

const char *variables_value(const struct variables *variables, const char *name)
{
    const char *value = find(variables, name, strlen(name));
    return value ? value : "";
}

int variables_expand(struct variables *variables, const char *text, char **out_text, struct error *err)
{
    struct buffer out;
    buffer_init(&out, VARIABLES_TEXT_MAX);
    buffer_text(&out, "");
    while (*text && !out.overflow) {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        const char *value = end ? find(variables, text + 2, (size_t)(end - text - 2)) : NULL;
        if (strncmp(text, "$$(", 3) == 0) {
            buffer_text(&out, "$(");
            text += 3;
        } else if (value) {
            buffer_text(&out, value);
            text = end + 1;
        } else {
            buffer_char(&out, *text++);
        }
    }
    int failed = 0;
    variables->expanded += out.length;
    if (out.overflow)
        failed = error_set(err, ERROR_INVALID, "its $(NAME) make it longer than %d KiB", VARIABLES_TEXT_MAX >> 10);
    else if (variables->expanded > VARIABLES_TEXTS_MAX)
        failed = error_set(err, ERROR_INVALID, "the pod's texts with $(NAME) are longer than %d KiB in all",
                           VARIABLES_TEXTS_MAX >> 10);
    else
        *out_text = arena_strndup(variables->arena, out.data, out.length);
    buffer_done(&out);
    return failed;
}

size_t variables_keep_in_front(struct variables *variables, char *const *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (variables->items[i] != items[i])
            continue;
        variables->items[i] = variables->items[kept];
        variables->items[kept++] = items[i];
    }
    return kept;
}
