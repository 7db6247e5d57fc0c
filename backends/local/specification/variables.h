// The environment of a pod as it is collected: a later variable of the same name replaces an earlier one.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    VARIABLES_TEXT_MAX = 128 << 10, // bytes of one expanded text: the kernel starts nothing with a longer one
    VARIABLES_TEXTS_MAX = 1 << 20   // and of all expanded texts of a pod, for each may repeat the one before
};

struct variables {
    struct arena *arena;
    char **items; // NAME=value, NULL at the end
    size_t count, capacity;
    size_t expanded; // bytes of what was expanded so far
};

// Room for `capacity` of them; what comes beyond it is a fault of the caller, who counts first.
void variables_init(struct variables *variables, size_t capacity, struct arena *arena);
void variables_set(struct variables *variables, const char *name, const char *value);
void variables_set_number(struct variables *variables, const char *name, int64_t value);
const char *variables_value(const struct variables *variables, const char *name); // "" where there is none
// $(NAME) becomes the value of a variable that there is, and $$(NAME) becomes $(NAME), as in Kubernetes' commands; any
// other $ stays, $$ too, which is a shell's own number. The arena's. ERROR_INVALID where it grows beyond the bounds
// above.
int variables_expand(struct variables *variables, const char *text, char **out_text, struct error *err);
// Of these items, which stand in front, those that were not replaced meanwhile stay there; returns how many.
size_t variables_keep_in_front(struct variables *variables, char *const *items, size_t count);
