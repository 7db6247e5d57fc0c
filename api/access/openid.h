// OpenID Connect with the one issuer that is set up: authorization code with PKCE, tokens, keys, groups, sign-out.
//
// Every call to the issuer runs on a short-lived thread of its own with bounds in time and size (outbound.h); a few
// may wait at once, of one address a quarter; further ones are refused at once, so that an issuer that is slow holds
// nobody else. The issuer's
// document and keys are kept for an hour; an unknown key id asks for the keys again.
// One more thread asks the issuer again about each session that came from it (refresh_s of the provider): groups are
// read again each time; a refusal ends the session; where the issuer does not answer the session goes on for at most
// OPENID_UNCONFIRMED_MS.
#pragma once
#include "api/access/openid_person.h"

#include <stdint.h>

struct arena;
struct db;
struct error;
struct identity_provider;
struct openid;
struct place_book; // base/places.h
struct sealing;

#define OPENID_UNCONFIRMED_MS (INT64_C(8) * 3600000)

struct openid_options {
    struct db *db;
    const struct sealing *sealing;
    const char *ca_file;       // certificates to trust instead of the system's; NULL: the system's
    struct place_book *places; // NULL: there are no figures
};

// Begins to ask about sessions. All that is given outlives it. The caller owns *out_openid.
int openid_create(const struct openid_options *options, struct openid **out_openid, struct error *err);
// Waits for the call that runs, at most OUTBOUND_TOTAL_MS a step.
void openid_destroy(struct openid *openid); // NULL is fine
// There is a session or a provider that the thread may not know of.
void openid_wake(struct openid *openid);

// What one sign-in is bound to.
struct openid_flow {
    const char *state;
    const char *nonce;
    const char *verifier; // of PKCE
    const char *address;  // who signs in
};

// Where to send the browser. ERROR_NOT_FOUND where no provider is set up; ERROR_UNAVAILABLE where it does not answer.
int openid_begin(struct openid *openid, const struct openid_flow *flow, struct arena *arena, const char **out_url,
                 struct error *err);

// The code for the person. ERROR_UNAUTHORIZED where the code or what came for it is not good: the message says why, for
// log and audit.
int openid_finish(struct openid *openid, const struct openid_flow *flow, const char *code, int64_t now_ms,
                  struct arena *arena, struct openid_person *out_person, struct error *err);
// The person of an id_token that the issuer gave somebody else for our client: checked as at a sign-in, but for the
// nonce. ERROR_UNAUTHORIZED where it is not good; ERROR_NOT_FOUND where no provider is set up. Groups are those that
// the token itself has.
int openid_check(struct openid *openid, const char *address, const char *token, int64_t now_ms, struct arena *arena,
                 struct openid_person *out_person, struct error *err);
// Where a browser goes to sign out at the issuer too, and comes back to return_to. NULL where the issuer has no such
// place, or does not answer.
const char *openid_sign_out_url(struct openid *openid, const char *address, const char *return_to, struct arena *arena);
// Whether the issuer can be used: asks it for its document and keys. For who sets it up, an administrator.
int openid_try(struct openid *openid, const struct identity_provider *provider, struct arena *arena, struct error *err);
