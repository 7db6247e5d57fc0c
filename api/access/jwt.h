// JSON Web Tokens: signing ours, checking what comes. The only file that uses libjwt, which by itself takes the
// algorithm from the token, accepts expired ones and is lax about base64. Here, in this order: length and shape; header
// and claims decoded strictly, with bounded depth; the key by its id, and the key alone says algorithm, issuer and
// audience; then the signature; then the claims by type and time. Whether the session still lives is the caller's to
// ask (api/access/authenticate.c).
//
// Claims are plain ASCII without > ? and ~: common clients decode the payload with the ordinary base64 alphabet, where
// those three would be spoiled.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
    JWT_TOKEN_MAX = 4096,
    JWT_KEY_ID_SIZE = 48,
    JWT_SECRET_SIZE = 32,
    JWT_LEEWAY_S = 60, // of clocks that differ
};

// A key and the one use it has.
struct jwt_key {
    char id[JWT_KEY_ID_SIZE];
    const char *algorithm; // "HS256": static text
    const char *issuer;
    const char *audience;
    unsigned char secret[JWT_SECRET_SIZE];
};

struct jwt_claims {
    const char *subject;
    const char *session; // jti
    const char *name;    // left out of the token where it is not plain ASCII
    int64_t issued_s;
    int64_t expires_s;
};

// Fills in the key of this id; id NULL (a token that names none) finds one only if there is exactly one key.
typedef bool (*jwt_find_key_fn)(void *context, const char *id, struct jwt_key *out_key);

// The token, in the arena.
const char *jwt_token_sign(const struct jwt_key *key, const struct jwt_claims *claims, struct arena *arena);
// False where anything is wrong: *out_reason (static text) is for the log, never for the client.
bool jwt_token_check(const char *token, jwt_find_key_fn find_key, void *context, int64_t now_s, struct arena *arena,
                     struct jwt_claims *out_claims, const char **out_reason);
