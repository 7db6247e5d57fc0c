// The second factor of a local account: a code of an app by time, or a recovery code.
#pragma once
#include "db/accounts/second_factors.h"

struct error;
struct request;
struct response;
struct user;

enum {
    RECOVERY_LENGTH = 16 // without the dashes
};

// 1: found; 0: none; -1: error.
int second_factor_find(struct request *req, int64_t user_id, struct second_factor *out_factor, struct error *err);
// 1: the code is one of the secret's now, and not used; 0: not; -1: error.
int second_factor_match(struct request *req, const char *user_uuid, const struct second_factor *factor, const char *otp,
                        int64_t *out_step, struct error *err);

// Looks at a code where the account needs one; a password has been found right before. otp NULL: none was given.
// *out_shown is for the session, which uses it up. ERROR_UNAUTHORIZED `otp: ...` where it is missing or wrong;
// ERROR_TOO_MANY with Retry-After: wrong codes of one account are slowed from whatever address, since only who knows
// its password gets here. *out_is_missing: none was given, and that was all.
int second_factor_check(struct request *req, struct response *res, const struct user *user, const char *otp,
                        struct factor_shown *out_shown, bool *out_is_missing, struct error *err);
