// Roles that administrators made: from the JSON that the database keeps to what they may do.
#pragma once
#include "api/access/roles.h"

struct access_rule;
struct arena;
struct custom_role;
struct error;

// Reads permissionSets ([{"id"}] or [{"name"}], as a client sends them) and permissions of a body whose form has been
// checked. *out_rights_json, the arena's, is what the database keeps. ERROR_INVALID where a set or a type is unknown,
// or nothing may be done at all.
int custom_role_read(const json_t *body, struct arena *arena, struct permission_set *out_permissions,
                     const char **out_rights_json, struct error *err);
// What was kept. Names that are not known any more give nothing.
void custom_role_permissions(const char *rights_json, struct permission_set *out_permissions);
// The sets of a role that was made, as the API shows them: [{"id", "name"}].
json_t *custom_role_sets_to_json(const char *rights_json);

// The role that a rule gives: a predefined one, or the arena's. NULL where it is gone or switched off.
const struct role *role_of_rule(const struct access_rule *rule, struct arena *arena);
// Its name; "" where the role is gone.
const char *role_name_of_rule(const struct access_rule *rule);
// The same role, with nothing that lives in another arena.
const struct role *role_copy(const struct role *role, struct arena *arena);
bool role_is_same(const struct role *a, const struct role *b);
