// Names of extended resources that pods ask for, each once.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Names of extended resources that pods ask for and no node offers, so that they have an index too.
struct extended_names {
    const char **names; // heap
    size_t count;
    size_t capacity;
};

bool extended_names_add(struct extended_names *names, const char *name); // true where it is new
void extended_names_done(struct extended_names *names);
