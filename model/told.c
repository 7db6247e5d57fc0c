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

// What the text ends with, or a blank more: "project", as in "of project ".
static bool ends_with_kind(const char *text, const char *kind)
{
    size_t length = strlen(text), most = strlen(kind);
    return length > most && text[length - 1] == ' ' && strncmp(text + length - most, kind + 1, most - 1) == 0;
}

static const char *with_kind(struct arena *arena, const char *before, enum told_kind kind, const char *name)
{
    static const char *const KINDS[] = {[TOLD_PROJECT] = "project", [TOLD_DEPARTMENT] = "department"};
    const char *word = kind < TOLD_WORKLOAD ? KINDS[kind] : "";
    size_t length = strlen(before);
    if (!*word || ends_with_kind(before, word))
        return name;
    bool begins = length == 0 || (length > 1 && before[length - 2] == '.' && before[length - 1] == ' ');
    return arena_printf(arena, "%c%s %s", begins ? word[0] - 'a' + 'A' : word[0], word + 1, name);
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
        const char *said = shown ? shown(context, (enum told_kind)kind, name) : name;
        if (strcmp(said, name) == 0)
            said = with_kind(arena, told, (enum told_kind)kind, name);
        told = arena_printf(arena, "%s%s", told, said);
    }
    return told;
}

const char *told_plain(struct arena *arena, const char *text)
{
    return told_text(arena, text, NULL, NULL);
}
