// The session of a person whom the issuer vouches for, with account, groups and audit record.
#pragma once
#include "db/accounts/external_people.h"

struct error;
struct openid_person;
struct request;

// sign_in has the session's uuid, kind, cookie and end, and the code, where one is handed out; the rest is filled in
// here, its user too. ERROR_CONFLICT where both names for a new account are taken.
int openid_session_create(struct request *req, const struct openid_person *person, struct external_sign_in *sign_in,
                          struct error *err);
