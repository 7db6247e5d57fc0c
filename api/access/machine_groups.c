#include "api/access/machine_groups.h"
#include "base/arena.h"
#include "base/error.h"
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_SIZE = 16384,
    GROUP_SIZE_MIN = 4096,
    GROUP_SIZE_MAX = 16 << 20, // a group may have thousands of members
    GROUPS_FIRST = 64,
    GROUPS_SAID = 12,
    STACK_BYTES = 1 << 20
};

struct look_up {
    int64_t uid;
    const char *const *groups;
    size_t group_count;
    struct arena *arena;
    struct machine_person person; // result, where is_found
    bool is_found;
};

// By its name, or where that is NULL by its number. The name found is the arena's.
static bool find_group(const char *name, gid_t number, struct arena *arena, gid_t *out_number, const char **out_name)
{
    struct group entry, *found = NULL;
    int rc = ERANGE;
    for (size_t size = GROUP_SIZE_MIN; rc == ERANGE && size <= GROUP_SIZE_MAX; size *= 4) {
        char *space = memory_alloc(size);
        rc = name ? getgrnam_r(name, &entry, space, size, &found) : getgrgid_r(number, &entry, space, size, &found);
        if (found) {
            *out_number = entry.gr_gid;
            *out_name = arena_strdup(arena, entry.gr_name);
        }
        free(space);
    }
    return found != NULL;
}

static bool has(const gid_t *numbers, int count, gid_t number)
{
    for (int i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

static const char *say_groups(const gid_t *numbers, int count, struct arena *arena)
{
    const char *list = "", *name;
    gid_t number;
    for (int i = 0; i < count && i < GROUPS_SAID; i++) {
        if (!find_group(NULL, numbers[i], arena, &number, &name))
            name = arena_printf(arena, "%u", (unsigned)numbers[i]);
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", name);
    }
    return count > GROUPS_SAID ? arena_printf(arena, "%s, ...", list) : list;
}

static bool list_groups(const struct passwd *entry, struct arena *arena, gid_t **out_numbers, int *out_count)
{
    *out_count = GROUPS_FIRST;
    *out_numbers = arena_array(arena, GROUPS_FIRST, sizeof(**out_numbers));
    if (getgrouplist(entry->pw_name, entry->pw_gid, *out_numbers, out_count) >= 0)
        return true;
    *out_numbers = arena_array(arena, (size_t)*out_count, sizeof(**out_numbers));
    return getgrouplist(entry->pw_name, entry->pw_gid, *out_numbers, out_count) >= 0; // else more came meanwhile
}

static void *look_up(void *context)
{
    struct look_up *asked = context;
    struct passwd entry, *found = NULL;
    gid_t *numbers, wanted;
    int count;
    const char *name;
    (void)getpwuid_r((uid_t)asked->uid, &entry, arena_alloc(asked->arena, ENTRY_SIZE), ENTRY_SIZE, &found);
    if (!found || !list_groups(&entry, asked->arena, &numbers, &count))
        return NULL;
    asked->person.name = entry.pw_name;
    asked->person.groups = say_groups(numbers, count, asked->arena);
    for (size_t i = 0; i < asked->group_count; i++)
        if (find_group(asked->groups[i], 0, asked->arena, &wanted, &name) && has(numbers, count, wanted))
            asked->person.is_in |= UINT32_C(1) << i;
    asked->is_found = true;
    return NULL;
}

// What the machine's directory is asked through may need more stack than a worker has.
int machine_person_find(int64_t uid, const char *const *groups, size_t group_count, struct arena *arena,
                        struct machine_person *out_person, struct error *err)
{
    struct look_up asked = {.uid = uid, .groups = groups, .group_count = group_count, .arena = arena};
    pthread_t thread;
    pthread_attr_t attributes;
    assert(group_count <= 32);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&thread, &attributes, look_up, &asked);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_UNAVAILABLE, "no thread to look up user %" PRId64 ": %s", uid, strerror(rc));
    pthread_join(thread, NULL);
    if (!asked.is_found)
        return error_set(err, ERROR_FORBIDDEN, "user %" PRId64 " has no name on this machine", uid);
    *out_person = asked.person;
    return 0;
}
