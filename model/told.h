// Names in sentences about scheduling carry marks that say what they name, so that who may not know them is told
// something else: by the name's role, never by its letters. A mark is one byte in front and one behind, which no name
// and no sentence holds otherwise. Whoever shows a sentence to somebody takes them out. A project, a department and a
// node pool may have one name: those of projects and departments are shown with their kind, "project default", but
// where the sentence has it already.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;

enum told_kind {
    TOLD_PROJECT = 1, // the byte in front
    TOLD_DEPARTMENT,
    TOLD_WORKLOAD,
    TOLD_END // the byte behind
};

// The name with its marks.
const char *told_name(struct arena *arena, enum told_kind kind, const char *name);
bool told_has_names(const char *text);
bool told_is_mark(char c);
// What is said instead of a name: itself, where it may be told.
typedef const char *(*told_shown_fn)(void *context, enum told_kind kind, const char *name);
// The text without marks, each name as shown() has it, with its kind where that is the name itself; the arena's, or
// text itself where it names nobody. NULL for NULL.
const char *told_text(struct arena *arena, const char *text, told_shown_fn shown, void *context);
// The same with all names as they are.
const char *told_plain(struct arena *arena, const char *text);
