#include "api/access/socket_access.h"
#include "api/access/authorization.h"
#include "api/access/machine_groups.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/accounts/machine_accounts.h"
#include "db/scopes.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEN_MAX = 64,
    NAME_SIZE = 64,
    LOOK_US = 1000000
};

// What the last look said. A user who was refused is looked up each time: what he is told has his groups.
struct seen {
    int64_t uid, looked_us; // 0: nobody
    uint32_t rules;
    char name[NAME_SIZE];
};

struct socket_access {
    struct socket_rules rules;
    const char *groups[SOCKET_RULES_MAX];
    pthread_mutex_t mutex;
    struct seen seen[SEEN_MAX];
};

struct socket_access *socket_access_create(const struct socket_rules *rules)
{
    struct socket_access *access = memory_array(1, sizeof(*access));
    access->rules = *rules;
    for (size_t i = 0; i < rules->count; i++)
        access->groups[i] = rules->items[i].group;
    pthread_mutex_init(&access->mutex, NULL);
    return access;
}

void socket_access_destroy(struct socket_access *access)
{
    if (!access)
        return;
    pthread_mutex_destroy(&access->mutex);
    free(access);
}

static bool recall(struct socket_access *access, int64_t uid, int64_t now_us, struct arena *arena,
                   struct socket_person *out_person)
{
    const struct seen *seen = &access->seen[uid % SEEN_MAX];
    pthread_mutex_lock(&access->mutex);
    bool is_fresh = seen->looked_us != 0 && seen->uid == uid && now_us - seen->looked_us < LOOK_US;
    if (is_fresh)
        *out_person = (struct socket_person){.name = arena_strdup(arena, seen->name), .rules = seen->rules};
    pthread_mutex_unlock(&access->mutex);
    return is_fresh;
}

static void remember(struct socket_access *access, int64_t uid, int64_t now_us, const struct machine_person *person)
{
    struct seen *seen = &access->seen[uid % SEEN_MAX];
    pthread_mutex_lock(&access->mutex);
    *seen = (struct seen){.uid = uid, .looked_us = now_us, .rules = person->is_in};
    snprintf(seen->name, sizeof(seen->name), "%s", person->name);
    pthread_mutex_unlock(&access->mutex);
}

static const char *list_mapped(const struct socket_rules *rules, struct arena *arena)
{
    const char *list = "";
    for (size_t i = 0; i < rules->count; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", rules->items[i].group);
    return *list ? list : "none";
}

static int refuse(const struct socket_rules *rules, const struct machine_person *person, int64_t uid,
                  struct arena *arena, struct error *err)
{
    error_set(err, ERROR_FORBIDDEN,
              "%s (user %" PRId64 " of this machine, in the groups %s) is in no group that may come in", person->name,
              uid, person->groups);
    if (uid == 0)
        return error_details(err, "--socket-root administrator lets root in");
    return error_details(err,
                         "Tell the administrator: put %s into one of the groups that --socket-group has (%.150s), or "
                         "start the server with --socket-group \"GROUP=PROJECT:L1 researcher\" for one of his groups",
                         person->name, list_mapped(rules, arena));
}

int socket_access_look(struct socket_access *access, int64_t uid, struct arena *arena, struct socket_person *out_person,
                       struct error *err)
{
    struct machine_person person;
    int64_t now_us = timestamp_monotonic_us();
    *out_person = (struct socket_person){0};
    if (uid == 0 && access->rules.is_root_administrator) {
        *out_person = (struct socket_person){.name = "root", .is_root = true};
        return 0;
    }
    if (recall(access, uid, now_us, arena, out_person))
        return 0;
    if (machine_person_find(uid, access->groups, access->rules.count, arena, &person, err) < 0)
        return -1;
    out_person->name = person.name;
    if (uid == 0 || !person.is_in)
        return refuse(&access->rules, &person, uid, arena, err);
    if (strlen(person.name) >= NAME_SIZE)
        return error_set(err, ERROR_FORBIDDEN, "%s: the name is longer than %d characters", person.name, NAME_SIZE - 1);
    remember(access, uid, now_us, &person);
    *out_person = (struct socket_person){.name = person.name, .rules = person.is_in};
    return 0;
}

int socket_access_grants(const struct socket_access *access, const struct socket_person *person, struct db_conn *conn,
                         struct grant *items, size_t *count, struct error *err)
{
    if (person->is_root)
        items[(*count)++] = (struct grant){.role = role_find(ROLE_SYSTEM_ADMINISTRATOR), .scope = SCOPE_TENANT};
    for (size_t i = 0; i < access->rules.count; i++) {
        const struct socket_rule *rule = &access->rules.items[i];
        struct grant grant = {.role = role_find(rule->role_id), .scope = SCOPE_PROJECT};
        int64_t project_id;
        if (!(person->rules & UINT32_C(1) << i) || !grant.role)
            continue;
        int found = db_find_project_number(conn, rule->project, &project_id, err);
        if (found < 0 || (found > 0 && db_find_project_path(conn, project_id, &grant.path, err) < 0))
            return -1;
        if (found > 0)
            items[(*count)++] = grant;
    }
    return 0;
}
