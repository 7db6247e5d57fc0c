// An issuer's public keys (a JWK set, RFC 7517) and signatures by them. A key alone says its algorithm: RSA of at least
// 2,048 bits is RS256, a point on P-256 is ES256; others, and keys that are not for signatures, are left out. The
// signing itself is OpenSSL's. What comes from outside never chooses an algorithm, so neither "none" nor a MAC with a
// public key can pass.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

enum {
    OPENID_KEYS_MAX = 16,
    OPENID_KEY_ID_SIZE = 128
};

struct openid_key {
    char id[OPENID_KEY_ID_SIZE]; // "": it has none
    const char *algorithm;       // "RS256" or "ES256": static text
    struct evp_pkey_st *key;
};

struct openid_keys {
    struct openid_key items[OPENID_KEYS_MAX];
    size_t count;
};

// Fills in what can be used; ERROR_UNAVAILABLE where that is nothing. The caller ends with openid_keys_done.
int openid_keys_read(const json_t *set, struct openid_keys *out_keys, struct error *err);
void openid_keys_done(struct openid_keys *keys); // also of an empty one

// The key of this id; id NULL finds one only where there is exactly one. NULL: none.
const struct openid_key *openid_keys_find(const struct openid_keys *keys, const char *id);
bool openid_key_verifies(const struct openid_key *key, const void *text, size_t size, const unsigned char *signature,
                         size_t signature_size);
