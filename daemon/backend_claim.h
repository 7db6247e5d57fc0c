// A data folder belongs to one backend, for what one runs means nothing to another.
#pragma once
#include <stdbool.h>

struct arena;
struct db;
struct error;
struct settings;

// Claims a new folder; checks one that is claimed. With --change-backend the folder goes over to another backend once
// nothing runs: its nodes go, and everything else stays. ERROR_INVALID says what still runs.
int backend_claim_folder(struct db *db, const struct settings *settings, struct arena *arena, bool *out_has_changed,
                         struct error *err);
