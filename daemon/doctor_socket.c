#include "api/access/socket_rules.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"
#include "daemon/backend_kinds.h"
#include "daemon/doctor.h"
#include "daemon/local_users.h"
#include "daemon/socket.h"
#include "daemon/socket_file.h"

#include <grp.h>
#include <unistd.h>

static void look_at_groups(const struct socket_rules *rules, struct findings *findings)
{
    for (size_t i = 0; i < rules->count; i++)
        if (!getgrnam(rules->items[i].group))
            findings_add(findings, FINDING_NOTE, "socket",
                         arena_printf(findings->arena, "this machine has no group %s", rules->items[i].group),
                         arena_printf(findings->arena, "groupadd %s; usermod -aG %s NAME", rules->items[i].group,
                                      rules->items[i].group));
}

// What stands against it, or NULL.
static const char *find_obstacle(const struct settings *settings, struct arena *arena)
{
    struct user_rules users = {0};
    struct error err = {0};
    if (socket_file_check(settings->socket, &err) < 0)
        return arena_strdup(arena, err.message);
    if (backend_kind_find(settings->backend)->is_machine && local_users_look(settings, arena, &users, &err) < 0)
        return NULL; // the check "users" says it
    return door_danger(settings, &users);
}

void doctor_look_at_socket(const struct settings *settings, struct findings *findings)
{
    struct socket_rules rules;
    struct error err = {0};
    if (socket_rules_read(settings->socket_groups, settings->socket_groups_count, settings->socket_root != 0,
                          findings->arena, &rules, &err) < 0) {
        findings_add(findings, FINDING_PROBLEM, "socket", arena_strdup(findings->arena, err.message),
                     "--socket-group \"GROUP=PROJECT:ROLE\", as gpu-users=team-a:L1 researcher");
        return;
    }
    if (!socket_rules_admit_somebody(&rules) || !settings->socket) {
        findings_add(findings, FINDING_NOTE, "socket", "none: people of this machine need a password, too",
                     "--socket-group \"GROUP=PROJECT:L1 researcher\" lets the members of a group in without one");
        return;
    }
    if (geteuid() != 0) {
        findings_add(findings, FINDING_NOTE, "socket", "none: the server is not root", "start it as root");
        return;
    }
    const char *obstacle = find_obstacle(settings, findings->arena);
    findings_add(findings, obstacle ? FINDING_PROBLEM : FINDING_GOOD, "socket",
                 obstacle ? obstacle
                          : arena_printf(findings->arena, "people of this machine come in at %s", settings->socket),
                 NULL);
    look_at_groups(&rules, findings);
}
