#include "model/told.h"

#include "base/arena.h"

#include <string.h>

static const char MARKS[] = {TOLD_PROJECT, TOLD_DEPARTMENT, TOLD_WORKLOAD, TOLD_END, '\0'};

const char *told_name(struct arena *arena, enum told_kind kind, const char *name)
{
    return arena_printf(arena, "%c%s%c", (char)kind, name, TOLD_END);
}

bool told_has_names(const char *text)
{
    return text[strcspn(text, MARKS)] != '\0';
}

bool told_is_mark(char c)
{
    return c >= TOLD_PROJECT && c <= TOLD_END;
}

const char *told_text(struct arena *arena, const char *text, told_shown_fn shown, void *context)
{
    if (!text || !told_has_names(text))
        return text;
    const char *told = "";
    while (*text) {
        size_t length = strcspn(text, MARKS);
        char kind = text[length];
        told = arena_printf(arena, "%s%.*s", told, (int)length, text);
        text += length + (kind != '\0');
        if (kind == '\0' || kind == TOLD_END)
            continue;
        const char *name = arena_strndup(arena, text, strcspn(text, MARKS));
        text += strlen(name);
        told = arena_printf(arena, "%s%s", told, shown ? shown(context, (enum told_kind)kind, name) : name);
    }
    return told;
}

const char *told_plain(struct arena *arena, const char *text)
{
    return told_text(arena, text, NULL, NULL);
}
