// Whom an administrator of users reaches: nobody with rights that he lacks himself, or he could take them by a reset.
#pragma once
#include "api/access/roles.h"

struct error;
struct request;
struct user;

// The user of the path parameter userId, for an administrator who may do this to him. ERROR_NOT_FOUND; ERROR_FORBIDDEN
// where the user may change people, the organisation or hardware and the caller may not there. Reading
// is for whoever may read users.
int user_reach(struct request *req, enum access_action action, struct user *out_user, struct error *err);
// The same where the user is known already.
int user_reach_check(struct request *req, const struct user *user, struct error *err);
