// Brings the simulated cluster of a file (or the built-in one) into the database.
#pragma once
#include <stdbool.h>

struct arena;
struct db;
struct error;
struct settings;

// The first start creates all of it; later ones only what is not there yet. Errors name the file and the place in it.
int cluster_apply(struct db *db, const struct settings *settings, bool is_first, struct arena *arena,
                  struct error *err);
