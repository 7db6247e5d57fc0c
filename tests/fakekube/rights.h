// Who asks, and what he may: denials by name, and the rules of RBAC's roles.
#pragma once
#include "tests/fakekube/call.h"

// settings.users = {token: {"name": ..., "deny": [{verb, resource, subresource}], "rules": [{namespace, apiGroups,
// resources, verbs}]}}: no rules allow all; a rule with a namespace counts there alone, as of a Role. Wildcards and
// names of objects are not known. What no rule allows is kept in the state's `refused`. Returns -1 with the answer
// made: 401, 403.
int rights_check(struct call *call);
// POST selfsubjectaccessreviews.
int rights_review(struct call *call);
