// Where assets and templates belong: a scope, for all of whose places they hold. They are read by whoever may read
// things of their kind there, above, or somewhere below; they are made, changed and deleted by rights in the scope
// itself or above.
#pragma once
#include "api/access/roles.h"
#include "model/scope.h"

struct error;
struct request;

struct asset_scope {
    enum scope_type type;
    const char *id;         // as the API names it; "" for system and tenant
    struct scope_path path; // zeros for system and tenant
};

// Whether the caller may see it; the operation's permission has been checked.
bool asset_scope_is_shown(const struct request *req, enum scope_type type, const struct scope_path *path,
                          enum resource_type resource);
// The right to do this to what stands there. what names it as the client does.
int asset_scope_check(const struct request *req, enum scope_type type, const struct scope_path *path,
                      enum resource_type resource, enum access_action action, const char *what, struct error *err);
// The place that a creation or a question names, and the right there. id is NULL or as the API names it; member is what
// errors call it. ERROR_INVALID for a place that is unknown or hidden.
int asset_scope_read(struct request *req, const char *type, const char *id, const char *member,
                     enum resource_type resource, enum access_action action, struct asset_scope *out_scope,
                     struct error *err);
// Whether what belongs to `outer` holds for everything in `inner`.
bool asset_scope_holds(enum scope_type outer, const struct scope_path *outer_path, const struct scope_path *inner);
