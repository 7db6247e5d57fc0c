#include "backends/local/users/users.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ENTRY_SIZE = 16384,
    LINE_SIZE = 1024
};

static const char *const DEVICE_GROUPS[] = {"video", "render"};

// Blanks part the words, # begins a remark. False where there are not exactly three words; none at all is no line.
static bool split_line(char *line, char *words[3], bool *out_empty)
{
    size_t count = 0;
    line[strcspn(line, "#\n")] = '\0';
    for (char *rest = line, *word; (word = strsep(&rest, " \t\r"));) {
        if (!*word)
            continue;
        if (count == 3)
            return false;
        words[count++] = word;
    }
    *out_empty = count == 0;
    return count == 0 || count == 3;
}

// Who may write to the file decides which user pods run as.
static int check_owner(const char *path, FILE *file, struct error *err)
{
    struct stat about;
    if (fstat(fileno(file), &about) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if ((about.st_uid != 0 && about.st_uid != geteuid()) || (about.st_mode & 0022))
        return error_set(err, ERROR_INVALID, "%s: others than the server's user can write to it", path);
    return 0;
}

static int find_entry(const char *name, struct arena *arena, struct passwd *out_entry, struct error *err)
{
    struct passwd *found = NULL;
    int rc = getpwnam_r(name, out_entry, arena_alloc(arena, ENTRY_SIZE), ENTRY_SIZE, &found);
    if (!found)
        return error_set(err, ERROR_INVALID, "no user %s%s%s", name, rc ? ": " : "", rc ? strerror(rc) : "");
    if (out_entry->pw_uid == 0)
        return error_set(err, ERROR_INVALID, "%s is root, and pods never are", name);
    return 0;
}

// Calls for each line; stops where it returns other than 0.
static int each_line(const char *path, int (*visit)(void *context, char *words[3], struct error *err), void *context,
                     struct error *err)
{
    char line[LINE_SIZE], *words[3];
    int rc = 0, number = 0;
    bool is_empty;
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    rc = check_owner(path, file, err);
    while (rc == 0 && fgets(line, sizeof(line), file)) {
        number++;
        if (!split_line(line, words, &is_empty) ||
            (!is_empty && strcmp(words[0], "project") != 0 && strcmp(words[0], "subject") != 0))
            rc = error_set(err, ERROR_INVALID, "line %d: expected project NAME USER or subject NAME USER", number);
        else if (!is_empty)
            rc = visit(context, words, err);
        if (rc < 0)
            error_prefix(err, "%s: ", path);
    }
    fclose(file);
    return rc;
}

static int check_line(void *context, char *words[3], struct error *err)
{
    struct passwd entry;
    if (find_entry(words[2], context, &entry, err) == 0)
        return 0;
    return error_prefix(err, "%s %s: ", words[0], words[1]);
}

int users_check(const struct user_rules *rules, struct arena *arena, struct error *err)
{
    struct passwd entry;
    if (geteuid() != 0)
        return 0;
    if (!rules->range.count && find_entry(rules->others, arena, &entry, err) < 0)
        return -1;
    return rules->map_file ? each_line(rules->map_file, check_line, arena, err) : 0;
}

struct search {
    const char *project, *subject;
    struct arena *arena;
    const char *by_project, *by_subject;
};

static int match_line(void *context, char *words[3], struct error *err)
{
    struct search *search = context;
    (void)err;
    if (strcmp(words[0], "project") == 0 && strcmp(words[1], search->project) == 0)
        search->by_project = arena_strdup(search->arena, words[2]);
    if (strcmp(words[0], "subject") == 0 && search->subject && strcmp(words[1], search->subject) == 0)
        search->by_subject = arena_strdup(search->arena, words[2]);
    return 0;
}

static void add_device_groups(struct arena *arena, struct local_user *user)
{
    for (size_t i = 0; i < sizeof(DEVICE_GROUPS) / sizeof(DEVICE_GROUPS[0]); i++) {
        struct group entry, *found = NULL;
        bool has_it = false;
        (void)getgrnam_r(DEVICE_GROUPS[i], &entry, arena_alloc(arena, ENTRY_SIZE), ENTRY_SIZE, &found);
        for (int k = 0; found && k < user->group_count; k++)
            has_it = has_it || user->groups[k] == entry.gr_gid;
        if (found && !has_it && user->group_count < LOCAL_GROUPS_MAX)
            user->groups[user->group_count++] = entry.gr_gid;
    }
}

static const char *home_of(const struct passwd *entry)
{
    return access(entry->pw_dir, X_OK) == 0 ? entry->pw_dir : NULL;
}

static void find_own(struct arena *arena, struct local_user *user)
{
    struct passwd entry, *found = NULL;
    (void)getpwuid_r(geteuid(), &entry, arena_alloc(arena, ENTRY_SIZE), ENTRY_SIZE, &found);
    user->id = geteuid();
    user->groups[0] = getegid();
    int more = getgroups(LOCAL_GROUPS_MAX - 1, user->groups + 1);
    user->group_count = 1 + (more > 0 ? more : 0);
    user->name = found ? entry.pw_name : arena_printf(arena, "%u", (unsigned)geteuid());
}

static int find_of_range(const struct uid_range *range, const char *project, int64_t project_number,
                         struct arena *arena, struct local_user *user, struct error *err)
{
    if (project_number < 1 || project_number > range->count)
        return error_set(err, ERROR_INVALID,
                         "--local-uid-range has no user for project %.60s: it needs number %" PRId64, project,
                         project_number);
    user->id = (uid_t)(range->first + project_number - 1);
    user->groups[0] = (gid_t)user->id;
    user->group_count = 1;
    user->is_projects = true;
    user->name = arena_printf(arena, "prorata-%u", (unsigned)user->id);
    return 0;
}

static int find_person(const char *name, const struct user_rules *rules, bool is_mapped, struct arena *arena,
                       struct local_user *user, struct error *err)
{
    struct passwd entry;
    if (find_entry(name, arena, &entry, err) < 0)
        return -1;
    if (uid_range_overlaps(&rules->range, &(struct uid_range){.first = entry.pw_uid, .count = 1}))
        return error_set(err, ERROR_INVALID, "%s (%u) is in --local-uid-range", name, (unsigned)entry.pw_uid);
    user->id = entry.pw_uid;
    user->name = entry.pw_name;
    user->home = is_mapped ? home_of(&entry) : NULL;
    user->group_count = LOCAL_GROUPS_MAX;
    if (getgrouplist(entry.pw_name, entry.pw_gid, user->groups, &user->group_count) < 0)
        user->group_count = LOCAL_GROUPS_MAX; // the first ones: it is in more
    for (int i = 0; i < user->group_count; i++)
        if (uid_range_overlaps(&rules->pod_groups, &(struct uid_range){.first = user->groups[i], .count = 1}))
            return error_set(err, ERROR_INVALID, "%s is in group %u, of --local-gid-range", name,
                             (unsigned)user->groups[i]);
    return 0;
}

// NAME:NUMBER, which must still be one and the same.
static int find_submitter(const char *machine_user, const struct user_rules *rules, struct arena *arena,
                          struct local_user *user, struct error *err)
{
    const char *colon = strrchr(machine_user, ':');
    if (!colon)
        return error_set(err, ERROR_INVALID, "%s: expected NAME:NUMBER", machine_user);
    const char *name = arena_strndup(arena, machine_user, (size_t)(colon - machine_user));
    int64_t number = strtoll(colon + 1, NULL, 10);
    if (find_person(name, rules, true, arena, user, err) < 0)
        return -1;
    if ((int64_t)user->id == number)
        return 0;
    return error_set(err, ERROR_INVALID, "%s submitted it as user %" PRId64 " of this machine, and is user %u now",
                     name, number, (unsigned)user->id);
}

// An administrator's word about a person goes before what that person is on this machine; that before a project's.
static int find_user(const struct user_rules *rules, const struct user_claim *claim, const struct search *search,
                     struct arena *arena, struct local_user *user, struct error *err)
{
    if (search->by_subject)
        return find_person(search->by_subject, rules, true, arena, user, err);
    if (claim->machine_user && *claim->machine_user)
        return find_submitter(claim->machine_user, rules, arena, user, err);
    if (search->by_project)
        return find_person(search->by_project, rules, true, arena, user, err);
    return rules->range.count ? find_of_range(&rules->range, claim->project, claim->project_number, arena, user, err)
                              : find_person(rules->others, rules, false, arena, user, err);
}

int users_find(const struct user_rules *rules, const struct user_claim *claim, bool with_devices, struct arena *arena,
               struct local_user *out_user, struct error *err)
{
    struct search search = {.project = claim->project, .subject = claim->subject, .arena = arena};
    *out_user = (struct local_user){0};
    if (geteuid() != 0) {
        find_own(arena, out_user);
        return 0;
    }
    if (rules->map_file && each_line(rules->map_file, match_line, &search, err) < 0)
        return -1;
    if (find_user(rules, claim, &search, arena, out_user, err) < 0)
        return -1;
    out_user->changes = true;
    if (with_devices)
        add_device_groups(arena, out_user);
    return 0;
}

struct sharing {
    struct arena *arena;
    const char **projects, **users;
    size_t count, project_capacity, user_capacity;
};

static int note_line(void *context, char *words[3], struct error *err)
{
    struct sharing *sharing = context;
    (void)err;
    if (strcmp(words[0], "project") != 0)
        return 0;
    sharing->projects = arena_grow(sharing->arena, sharing->projects, &sharing->project_capacity, sharing->count + 1,
                                   sizeof(*sharing->projects));
    sharing->users = arena_grow(sharing->arena, sharing->users, &sharing->user_capacity, sharing->count + 1,
                                sizeof(*sharing->users));
    sharing->projects[sharing->count] = arena_strdup(sharing->arena, words[1]);
    sharing->users[sharing->count++] = arena_strdup(sharing->arena, words[2]);
    return 0;
}

const char *users_shared(const struct user_rules *rules, struct arena *arena)
{
    struct sharing sharing = {.arena = arena};
    struct error err = {0};
    const char *all = NULL;
    if (!rules->map_file || each_line(rules->map_file, note_line, &sharing, &err) < 0)
        return NULL;
    for (size_t i = 0; i < sharing.count; i++) {
        const char *user = sharing.users[i], *list = sharing.projects[i];
        bool is_shared = false;
        for (size_t k = i + 1; user && k < sharing.count; k++)
            if (sharing.users[k] && strcmp(user, sharing.users[k]) == 0) {
                list = arena_printf(arena, "%s, %s", list, sharing.projects[k]);
                sharing.users[k] = NULL; // told
                is_shared = true;
            }
        if (is_shared)
            all = arena_printf(arena, "%s%s%s (%s)", all ? all : "", all ? "; " : "", list, user);
    }
    return all;
}
