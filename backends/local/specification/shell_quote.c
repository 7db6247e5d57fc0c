#include "backends/local/specification/shell_quote.h"

#include "base/arena.h"

#include <string.h>

const char *shell_quote(const char *text, struct arena *arena)
{
    const char *out = "'";
    for (size_t length; *text; text += length + (text[length] == '\'')) {
        length = strcspn(text, "'");
        out = arena_printf(arena, "%s%.*s%s", out, (int)length, text, text[length] ? "'\\''" : "");
    }
    return arena_printf(arena, "%s'", out);
}
