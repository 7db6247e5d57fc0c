#include "api/access/socket_rules.h"
#include "api/access/roles.h"
#include "base/arena.h"
#include "base/error.h"
#include <string.h>
#include <strings.h>

static const struct role *find_role(const char *name)
{
    const struct role *role;
    for (size_t i = 0; (role = role_at(i)); i++)
        if (strcasecmp(role->name, name) == 0)
            return role;
    return NULL;
}

static int refuse_role(const char *name, struct arena *arena, struct error *err)
{
    const char *list = "";
    const struct role *role;
    for (size_t i = 0; (role = role_at(i)); i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", role->name);
    error_set(err, ERROR_INVALID, "no role %.60s", name);
    return error_details(err, "the roles are %s", list);
}

int socket_rule_parse(const char *line, struct arena *arena, struct socket_rule *out_rule, struct error *err)
{
    const char *equals = strchr(line, '='), *colon = equals ? strchr(equals, ':') : NULL;
    if (!equals || equals == line || !colon || colon == equals + 1 || !colon[1])
        return error_set(err, ERROR_INVALID, "expected GROUP=PROJECT:ROLE, got %.120s", line);
    const struct role *role = find_role(colon + 1);
    if (!role)
        return refuse_role(colon + 1, arena, err);
    *out_rule = (struct socket_rule){.group = arena_strndup(arena, line, (size_t)(equals - line)),
                                     .project = arena_strndup(arena, equals + 1, (size_t)(colon - equals - 1)),
                                     .role_id = role->id,
                                     .role_name = role->name};
    return 0;
}

int socket_rules_read(const char *const *lines, size_t count, bool is_root_administrator, struct arena *arena,
                      struct socket_rules *out_rules, struct error *err)
{
    *out_rules = (struct socket_rules){.is_root_administrator = is_root_administrator};
    for (size_t i = 0; i < count && i < SOCKET_RULES_MAX; i++)
        if (socket_rule_parse(lines[i], arena, &out_rules->items[out_rules->count++], err) < 0)
            return error_prefix(err, "socket-group: ");
    return 0;
}

bool socket_rules_admit_somebody(const struct socket_rules *rules)
{
    return rules->count > 0 || rules->is_root_administrator;
}
