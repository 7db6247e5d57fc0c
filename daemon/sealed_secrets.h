// The sealed secrets of a database, all of them: which of them can be used, and sealing them again under a new key.
#pragma once
#include <stddef.h>

struct arena;
struct db;
struct error;
struct sealing;

// Logs a line for each secret that the keys at hand do not open. *out_warning is NULL where all can be used, else a
// line for /readyz; the arena's.
int sealed_secrets_check(struct db *db, const struct sealing *ring, struct arena *arena, const char **out_warning,
                         struct error *err);

struct sealed_rotation {
    size_t sealed_count;   // sealed again
    const char **unusable; // the purposes of what no key opens, and stays as it is
    size_t unusable_count;
};

// Makes a new key, seals everything again with it in one transaction, and takes the old keys away. Where it ends before
// its end, the keys of before and after are both there, every secret opens, and the next rotation tidies up. No server
// may hold the folder: it would go on sealing with the old key.
int sealed_secrets_rotate(struct db *db, struct sealing *ring, struct arena *arena,
                          struct sealed_rotation *out_rotation, struct error *err);
