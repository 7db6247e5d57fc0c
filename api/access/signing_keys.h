// The keys that sign our tokens: files DATA/keys/<created, ms>-<random>.key, 32 random bytes each, mode 0600. The
// newest signs; it is replaced when it is old enough, and an old key goes when the last token it signed has expired.
// Thread-safe.
#pragma once
#include "api/access/jwt.h"

struct error;
struct signing_keys;

struct signing_keys_options {
    const char *folder;    // created with mode 0700
    int64_t rotation_ms;   // 0: 30 days
    int64_t token_life_ms; // how long a key is kept after its successor came
};

// Reads the folder and makes the first key. A file that others may read is refused. The caller owns *out_keys.
int signing_keys_open(const struct signing_keys_options *options, int64_t now_ms, struct signing_keys **out_keys,
                      struct error *err);
// The same look at the folder without a change to it, also at the keys that seal (sealing.h), which have the same form;
// out_count is how many keys there are. A folder that is not there has none: the next start makes them.
int signing_keys_check(const char *folder, size_t *out_count, struct error *err);
void signing_keys_close(struct signing_keys *keys); // NULL is fine

// The key to sign with now; a new one is on disk before it is used.
int signing_keys_current(struct signing_keys *keys, int64_t now_ms, struct jwt_key *out_key, struct error *err);
// A jwt_find_key_fn; context is the struct signing_keys.
bool signing_keys_find(void *context, const char *id, struct jwt_key *out_key);
