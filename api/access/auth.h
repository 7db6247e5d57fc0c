// What sign-in needs at run time: signing keys, password hashing, limits for failed tries. One of each a server, made
// by the daemon. And what the first start puts into an empty database.
#pragma once
#include "api/access/password_rules.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct db;
struct error;
struct passwords;
struct sealing;
struct sign_in_crowd;
struct sign_in_limits;
struct signing_keys;

struct auth_options {
    const char *data_folder;    // keys go to DATA/keys
    int64_t token_life_s;       // 0: 86,400
    const char *password_rules; // as password_rules_parse reads them; NULL: PASSWORD_RULES_DEFAULT
    int64_t key_rotation_ms;    // 0: 30 days
    struct place_book *places;  // base/places.h; outlives it; NULL: there are no figures
    bool is_cookie_secure;      // always; else only where a proxy says that the browser came by https
};

struct auth {
    struct signing_keys *keys;
    struct sealing *sealing;
    struct passwords *passwords;
    struct password_rules password_rules;
    struct sign_in_limits *limits;
    struct sign_in_crowd *crowd;
    int64_t token_life_s;
    bool is_cookie_secure;
};

// sodium_init() has been called. The caller owns *out_auth.
int auth_create(const struct auth_options *options, int64_t now_ms, struct auth **out_auth, struct error *err);
void auth_destroy(struct auth *auth); // NULL is fine

#define AUTH_ADMINISTRATOR "admin@prorata.local"

// The first start: the tenant's name, the predefined assets, and the administrator with this password (NULL: a random
// one, which is given back in the arena to be shown once; it is nowhere else). Does nothing where there is a user
// already; *out_password is then NULL. One change: all of it, or nothing.
int auth_seed(struct db *db, struct auth *auth, const char *password, int64_t now_ms, struct arena *arena,
              const char **out_password, struct error *err);
