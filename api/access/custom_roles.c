#include "api/access/custom_roles.h"

#include "api/access/permission_sets.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/access_rules.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void add_permission(const json_t *permission, enum resource_type type, struct permission_set *set)
{
    const json_t *actions = json_object_get(permission, "actions");
    for (size_t i = 0; i < json_array_size(actions); i++) {
        enum access_action action;
        if (access_action_parse(json_string_value(json_array_get(actions, i)), &action))
            set->actions[type] |= (uint8_t)action;
    }
}

static int add_permissions(const json_t *list, struct permission_set *set, struct error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *permission = json_array_get(list, i);
        enum resource_type type;
        const char *name = text_of(permission, "resourceType");
        if (resource_type_parse(name, &type))
            add_permission(permission, type, set);
        else if (err)
            return error_set(err, ERROR_INVALID, "permissions[%zu].resourceType: there is no %.60s", i,
                             name ? name : "");
    }
    return 0;
}

static const struct permission_bundle *bundle_of(const json_t *item)
{
    const char *id = json_is_string(item) ? json_string_value(item) : text_of(item, "id");
    return permission_bundle_find(id ? id : text_of(item, "name"));
}

// out_ids: a list to add them to; NULL: nobody asks.
static int add_bundles(const json_t *list, struct permission_set *set, json_t *out_ids, struct error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct permission_bundle *bundle = bundle_of(json_array_get(list, i));
        if (!bundle && err)
            return error_set(err, ERROR_INVALID, "permissionSets[%zu]: there is no such permission set", i);
        if (!bundle)
            continue;
        permission_set_add(set, &bundle->permissions);
        if (out_ids)
            json_array_append_new(out_ids, json_string(bundle->id));
    }
    return 0;
}

static bool is_empty(const struct permission_set *set)
{
    static const struct permission_set NOTHING;
    return !memcmp(set, &NOTHING, sizeof(NOTHING));
}

int custom_role_read(const json_t *body, struct arena *arena, struct permission_set *out_permissions,
                     const char **out_rights_json, struct error *err)
{
    struct permission_set own = {0};
    json_t *ids = json_array();
    *out_permissions = (struct permission_set){0};
    int rc = add_permissions(json_object_get(body, "permissions"), &own, err);
    if (rc == 0)
        rc = add_bundles(json_object_get(body, "permissionSets"), out_permissions, ids, err);
    // What a set holds already is not kept twice: a role that is sent back as it was read stays the same.
    for (size_t i = 0; i < RESOURCE_TYPE_COUNT; i++)
        own.actions[i] &= (uint8_t)~out_permissions->actions[i];
    permission_set_add(out_permissions, &own);
    if (rc == 0 && is_empty(out_permissions))
        rc = error_set(err, ERROR_INVALID, "permissionSets: a role must allow something, and this one has no action");
    json_t *rights = json_pack("{s:o, s:o}", "permissionSets", ids, "permissions", permission_set_to_json(&own));
    char *text = json_dumps(rights, JSON_COMPACT);
    *out_rights_json = arena_strdup(arena, text);
    free(text);
    json_decref(rights);
    return rc;
}

void custom_role_permissions(const char *rights_json, struct permission_set *out_permissions)
{
    *out_permissions = (struct permission_set){0};
    json_t *rights = rights_json ? json_loads(rights_json, 0, NULL) : NULL;
    (void)add_bundles(json_object_get(rights, "permissionSets"), out_permissions, NULL, NULL);
    (void)add_permissions(json_object_get(rights, "permissions"), out_permissions, NULL);
    json_decref(rights);
}

json_t *custom_role_sets_to_json(const char *rights_json)
{
    json_t *list = json_array(), *rights = json_loads(rights_json, 0, NULL);
    const json_t *ids = json_object_get(rights, "permissionSets");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const struct permission_bundle *bundle = bundle_of(json_array_get(ids, i));
        if (bundle)
            json_array_append_new(list, json_pack("{s:s, s:s}", "id", bundle->id, "name", bundle->name));
    }
    json_decref(rights);
    return list;
}

const struct role *role_of_rule(const struct access_rule *rule, struct arena *arena)
{
    if (!rule->role_name)
        return role_find(rule->role_id);
    if (!rule->role_rights_json)
        return NULL;
    struct role *role = arena_alloc(arena, sizeof(*role));
    *role = (struct role){.id = (int)rule->role_id, .name = rule->role_name, .description = ""};
    custom_role_permissions(rule->role_rights_json, &role->permissions);
    return role;
}

const char *role_name_of_rule(const struct access_rule *rule)
{
    const struct role *role = role_find(rule->role_id);
    return rule->role_name ? rule->role_name : role ? role->name : "";
}

const struct role *role_copy(const struct role *role, struct arena *arena)
{
    if (role_find(role->id) == role)
        return role;
    struct role *copy = arena_alloc(arena, sizeof(*copy));
    *copy = *role;
    copy->name = arena_strdup(arena, role->name);
    copy->description = arena_strdup(arena, role->description);
    return copy;
}

bool role_is_same(const struct role *a, const struct role *b)
{
    return a->id == b->id && !memcmp(&a->permissions, &b->permissions, sizeof(a->permissions));
}
