// What an issuer says of itself (its discovery document and keys), kept for a while; and the calls to its endpoints.
// These wait for the issuer: openid.h runs them on threads of their own.
#pragma once
#include "api/access/openid_keys.h"

#include <jansson.h>
#include <stdint.h>

struct arena;
struct error;
struct identity_provider;
struct openid_issuer;

struct openid_issuer *openid_issuer_create(const char *ca_file); // NULL: the system's certificates
void openid_issuer_destroy(struct openid_issuer *issuer);        // NULL is fine
void openid_issuer_forget(struct openid_issuer *issuer);         // asks again from now on

// The endpoints; texts are the arena's.
struct openid_endpoints {
    const char *authorization;
    const char *token;
    const char *keys;
    const char *person;   // userinfo; NULL: none
    const char *sign_out; // NULL: none
    bool wants_secret_in_form;
};

// ERROR_UNAVAILABLE where the issuer does not answer, or with something that is no such document of this issuer.
int openid_issuer_endpoints(struct openid_issuer *issuer, const char *url, struct arena *arena,
                            struct openid_endpoints *out_endpoints, struct error *err);
// is_fresh asks even where keys are kept, but at most once a second. The caller ends with openid_keys_done.
int openid_issuer_keys(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, bool is_fresh,
                       struct openid_keys *out_keys, struct error *err);
// A POST to the token endpoint with client authentication; secret NULL: a public client. The caller owns *out_tokens.
// ERROR_UNAUTHORIZED where the issuer refuses the grant, ERROR_UNAVAILABLE for everything else.
int openid_issuer_grant(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, const char *client_id,
                        const char *secret, const char *form, struct arena *arena, json_t **out_tokens,
                        struct error *err);
// The userinfo document of who the access token is for. The caller owns *out_claims.
int openid_issuer_person(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, const char *token,
                         struct arena *arena, json_t **out_claims, struct error *err);
