// Credentials: assets with a secret. The secret is sealed (api/access/sealing.h, for SEALED_CREDENTIAL and the asset's
// uuid), and stands in a table of its own.
#pragma once
#include "model/scope.h"
#include <stddef.h>

struct arena;
struct db_conn;
struct error;

// Another asset that signs in with a credential.
struct credential_use {
    const char *credential_uuid;
    const char *uuid, *name, *kind; // the other asset's
    enum scope_type scope;
    struct scope_path path;
};

// By credential, then by name; of all credentials where credential_uuid is NULL.
int db_list_credential_uses(struct db_conn *conn, const char *credential_uuid, struct arena *arena,
                            struct credential_use **out_uses, size_t *out_count, struct error *err);
// 1: it has a secret of its own; 0: it has none; -1: error.
int db_credential_has_secret(struct db_conn *conn, const char *uuid, struct error *err);

// Inside a write function: NULL takes the secret away.
int db_set_credential_secret_in(struct db_conn *conn, const char *uuid, const char *secret_sealed, struct error *err);
