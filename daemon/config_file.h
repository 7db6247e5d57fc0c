// The configuration file: a YAML mapping of setting names to scalars or lists of scalars. Nothing nests deeper.
#pragma once
#include <stddef.h>

struct arena;
struct error;

struct config_entry {
    const char *key;
    const char *value;
};

// Every key with its value, in the file's order; a list gives an entry per item. Bounded to 1 MiB. Errors name the
// file.
int config_file_read(const char *path, struct arena *arena, struct config_entry **out_entries, size_t *out_count,
                     struct error *err);
