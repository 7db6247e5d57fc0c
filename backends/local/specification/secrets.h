// Secrets and config maps of a machine: files that its administrator puts into the data folder, a folder for each
// project. DATA/secrets/PROJECT/NAME/KEY holds the value of KEY of the secret NAME; config-maps likewise.
#pragma once
#include <stddef.h>

struct arena;
struct error;

enum {
    SECRET_VALUE_MAX = 1 << 20
};

#define SECRETS_FOLDER "secrets"
#define CONFIG_MAPS_FOLDER "config-maps"

struct secret_key {
    const char *name;
    const char *value; // ends in a NUL that length does not count
    size_t length;
};

// The value; the arena's. ERROR_NOT_FOUND names what is missing and where it would be. folder is one of the two above.
int secrets_read(const char *data, const char *folder, const char *project, const char *name, const char *key,
                 struct arena *arena, struct secret_key *out_key, struct error *err);
// All keys of one, by name.
int secrets_list(const char *data, const char *folder, const char *project, const char *name, struct arena *arena,
                 struct secret_key **out_keys, size_t *out_count, struct error *err);
