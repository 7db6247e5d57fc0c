// An issuer's id_token, checked as OpenID Connect Core 3.1.3.7 has it: shape and size, header, key by its id,
// signature, then iss, aud, azp, exp, nbf, iat, nonce, sub. The key says which algorithm is right, never the token.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct openid_keys;

enum {
    OPENID_TOKEN_MAX = 32 << 10,
    OPENID_SUBJECT_MAX = 255, // OpenID Connect Core 2
    OPENID_LEEWAY_S = 60
};

struct openid_expected {
    const char *issuer;
    const char *client_id;
    const char *nonce;   // NULL: of a refresh, where none need be
    const char *subject; // NULL: any
    int64_t now_s;
};

enum openid_verdict {
    OPENID_TOKEN_GOOD,
    OPENID_TOKEN_BAD,
    OPENID_TOKEN_UNKNOWN_KEY // the issuer may have another key by now
};

// Where good, *out_claims is the caller's (json_decref); else *out_reason is static text for the log.
enum openid_verdict openid_token_check(const char *token, const struct openid_keys *keys,
                                       const struct openid_expected *expected, struct arena *arena, json_t **out_claims,
                                       const char **out_reason);
