// A signed token in the compact form (RFC 7515, 3.1) as text: three segments of base64url without padding. Who signed
// it, with what, and what its claims mean is for the callers to check (jwt.h, openid_token.h).
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct jws {
    const char *text;     // what was signed begins here: header, dot, claims
    size_t header_length; // of the base64url
    size_t signed_length;
    const char *signature; // in base64url, may be empty
};

// Finds the two dots; false where the token is longer than max bytes, or has another shape or other characters.
// *out_jws points into the token.
bool jws_split(const char *token, size_t max, struct jws *out_jws);
// One segment as a JSON object of bounded depth; the caller ends with json_decref. NULL where it is none, or is no
// strict base64url: no padding, no blanks, no bits left over.
json_t *jws_header(const struct jws *jws, struct arena *arena);
json_t *jws_claims(const struct jws *jws, struct arena *arena);
// The bytes of the signature, in the arena; *out_size may be 0. NULL where it is no strict base64url.
const unsigned char *jws_signature(const struct jws *jws, struct arena *arena, size_t *out_size);
