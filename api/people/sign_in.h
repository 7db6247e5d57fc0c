// Signing in with a password: limits, the slow hash, one wording for every failure. For POST /token and POST /session.
#pragma once
#include "api/access/sign_in_limits.h"
#include "db/accounts/sessions.h"
#include "db/accounts/users.h"

struct request;
struct response;

// Finds the user and checks the password. ERROR_UNAUTHORIZED for an unknown user and for a wrong password alike;
// ERROR_TOO_MANY with a Retry-After header where tries come too fast.
int sign_in_with_password(struct request *req, struct response *res, const char *username, const char *password,
                          struct user *out_user, struct error *err);
struct sign_in_wish {
    const char *username;
    const char *password;
    const char *otp; // NULL: none was given
};
// The same for a session by password: with the second factor, where the account has one (second_factor.h). *out_shown
// is for the session. A wrong code counts as a wrong password.
int sign_in_with_factors(struct request *req, struct response *res, const struct sign_in_wish *wish,
                         struct user *out_user, struct factor_shown *out_shown, struct error *err);
// What the client calls itself, for the list of sessions: printable ASCII, cut short, in the arena; NULL: nothing.
const char *sign_in_user_agent(const struct request *req);
// The same limits for another kind of secret: 0, or ERROR_TOO_MANY with Retry-After. After 0 the outcome must be told.
int sign_in_begin(struct request *req, struct response *res, const char *account, struct error *err);
void sign_in_end(struct request *req, const char *account, enum sign_in_outcome outcome);
