// Credentials: assets with a secret. The secret is sealed (api/access/sealing.h, for SEALED_CREDENTIAL and the asset's
// uuid), and stands in a table of its own.
#pragma once
#include "model/scope.h"
#include <stddef.h>

struct arena;
struct db;
struct db_conn;
struct error;

// Another asset that signs in with a credential.
struct credential_use {
    const char *credential_uuid;
    const char *uuid, *name, *kind; // the other asset's
    enum scope_type scope;
    struct scope_path path;
};

// A credential that keeps a secret. Texts are the arena's.
struct kept_credential {
    const char *uuid, *kind;
    const char *shown_json;    // what may be seen of it
    const char *secret_sealed; // for SEALED_CREDENTIAL and uuid
};

// A secret that a backend puts into its cluster for a credential of that name.
struct cluster_secret {
    const char *namespace, *name, *project_name;
};

// The one that stands for a secret in a project: the one of that uuid, else the one of that name and the nearest scope,
// of several kinds there the first by kind. 1: found; 0: none; -1: error.
int db_find_kept_credential(struct db_conn *conn, const char *project_name, const char *secret_name,
                            struct arena *arena, struct kept_credential *out_credential, struct error *err);
// By credential, then by name; of all credentials where credential_uuid is NULL.
int db_list_credential_uses(struct db_conn *conn, const char *credential_uuid, struct arena *arena,
                            struct credential_use **out_uses, size_t *out_count, struct error *err);
// 1: it has a secret of its own; 0: it has none; -1: error.
int db_credential_has_secret(struct db_conn *conn, const char *uuid, struct error *err);

// Inside a write function: NULL takes the secret away.
int db_set_credential_secret_in(struct db_conn *conn, const char *uuid, const char *secret_sealed, struct error *err);

// That it may be in the cluster from now on; said again it changes nothing.
int db_note_cluster_secret(struct db *db, const struct cluster_secret *secret, struct error *err);
// Those noted for which no credential of their project stands any more, by namespace and name.
int db_list_cluster_secrets_left(struct db_conn *conn, struct arena *arena, struct cluster_secret **out_secrets,
                                 size_t *out_count, struct error *err);
// It is in the cluster no more. Where a credential stands for it again meanwhile the note stays.
int db_forget_cluster_secret(struct db *db, const struct cluster_secret *secret, struct error *err);
