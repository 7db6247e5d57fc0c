// Who somebody is by what the issuer says: the name of a new account and the groups, out of claims.
#pragma once
#include "db/accounts/external_people.h"

#include <jansson.h>

struct arena;
struct identity_provider;

struct openid_person {
    const char *issuer;
    const char *subject;
    const char *wanted_name;   // for a new account
    const char *fallback_name; // from issuer and subject alone
    struct external_groups groups;
    const char *refresh_token; // NULL: the issuer gave none
    int64_t refresh_s;
};

// The groups in this claim, a list of texts or one text; what is no name of a group is left out, and so is what exceeds
// EXTERNAL_GROUPS_MAX.
struct external_groups openid_groups(const json_t *claims, const char *claim, struct arena *arena);
// issuer, subject, names and groups; texts are the arena's. subject is the token's, checked.
void openid_person_read(const struct identity_provider *provider, const json_t *claims, const char *subject,
                        struct arena *arena, struct openid_person *out_person);
