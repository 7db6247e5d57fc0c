// The credentials of the database as secrets of pods, under the names that Kubernetes' secrets have.
#pragma once
#include "backends/backend.h"

struct db;
struct sealing;

struct credential_vault {
    struct db *db;
    const struct sealing *sealing;
};

// What a backend is handed; vault, and what it points to, must outlive it.
struct backend_vault credential_vault_of(struct credential_vault *vault);
