// The environment of a pod as it is collected: a later variable of the same name replaces an earlier one.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;

struct variables {
    struct arena *arena;
    char **items; // NAME=value, NULL at the end
    size_t count, capacity;
};

// Room for `capacity` of them; what comes beyond it is a fault of the caller, who counts first.
void variables_init(struct variables *variables, size_t capacity, struct arena *arena);
void variables_set(struct variables *variables, const char *name, const char *value);
void variables_set_number(struct variables *variables, const char *name, int64_t value);
