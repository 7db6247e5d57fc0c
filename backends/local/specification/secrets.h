// Secrets and config maps of a machine. DATA/secrets/PROJECT/NAME/KEY holds the value of KEY of the secret NAME, as the
// machine's administrator puts it there; config-maps likewise. A secret that is not there may be a credential that the
// server keeps.
#pragma once
#include "backends/backend.h"

enum {
    SECRET_VALUE_MAX = 1 << 20
};

#define SECRETS_FOLDER "secrets"
#define CONFIG_MAPS_FOLDER "config-maps"

// Where a pod's are looked for.
struct secret_source {
    const char *data; // the data folder
    const char *project;
    const struct backend_vault *vault; // NULL: the server keeps none
};

// The value; the arena's. ERROR_NOT_FOUND names what is missing and where it would be. folder is one of the two above.
int secrets_read(const struct secret_source *source, const char *folder, const char *name, const char *key,
                 struct arena *arena, struct backend_secret_key *out_key, struct error *err);
// All keys of one, by name.
int secrets_list(const struct secret_source *source, const char *folder, const char *name, struct arena *arena,
                 struct backend_secret_key **out_keys, size_t *out_count, struct error *err);
