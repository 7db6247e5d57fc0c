#include "api/notifications/audience.h"

#include "api/access/authorization.h"
#include "api/access/grants.h"
#include "base/arena.h"
#include "db/accounts/users.h"
#include "db/notifications/outbox.h"

#include <string.h>

static int load(struct audience *audience, int64_t user_id, struct person *out_person, struct error *err)
{
    struct user user;
    struct grant *items;
    struct grants *grants = arena_alloc(audience->arena, sizeof(*grants));
    *out_person = (struct person){.user_id = user_id, .rights = {.grants = grants}};
    int rc = db_find_user(audience->conn, user_id, audience->arena, &user, err);
    if (rc <= 0)
        return rc;
    if (grants_load(audience->conn, true, user.email, 0, audience->arena, &items, &grants->count, err) < 0)
        return -1;
    grants->items = items;
    out_person->email = user.email;
    return 0;
}

int audience_person(struct audience *audience, int64_t user_id, const struct person **out_person, struct error *err)
{
    for (size_t i = 0; i < audience->count; i++)
        if (audience->people[i].user_id == user_id) {
            *out_person = &audience->people[i];
            return 0;
        }
    audience->people = arena_grow(audience->arena, audience->people, &audience->capacity, audience->count + 1,
                                  sizeof(*audience->people));
    struct person *person = &audience->people[audience->count];
    if (load(audience, user_id, person, err) < 0)
        return -1;
    audience->count++;
    *out_person = person;
    return 0;
}

bool person_sees_workloads(const struct person *person, const struct scope_path *where)
{
    return access_is_held(&person->rights, where, RESOURCE_TYPE_WORKLOADS, ACTION_READ);
}

bool person_sees_project(const struct person *person, const struct scope_path *where)
{
    return access_is_held(&person->rights, where, RESOURCE_TYPE_PROJECT, ACTION_READ);
}

static int is_seen(struct audience *audience, const struct notification_line *line, struct error *err)
{
    const struct person *person;
    struct scope_path where = {line->cluster_id, line->department_id, line->project_id};
    if (audience_person(audience, line->user_id, &person, err) < 0)
        return -1;
    return line->workload_uuid ? person_sees_workloads(person, &where) : person_sees_project(person, &where);
}

// Several people may have asked for the same line of a channel that they share.
static bool is_said(const struct notification_line *lines, size_t count, const struct notification_line *line)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].source, line->source) == 0 && strcmp(lines[i].sentence, line->sentence) == 0)
            return true;
    return false;
}

int audience_keep_seen(struct audience *audience, struct notification_line *lines, size_t *count, struct error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (is_said(lines, kept, &lines[i]))
            continue;
        int seen = is_seen(audience, &lines[i], err);
        if (seen < 0)
            return -1;
        if (seen)
            lines[kept++] = lines[i];
    }
    *count = kept;
    return 0;
}
