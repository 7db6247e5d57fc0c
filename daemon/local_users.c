#include "daemon/local_users.h"

#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "db/settings.h"

#include <string.h>
#include <unistd.h>

static const char KEY[] = "local_uid_ranges"; // all that ever were, parted by blanks; the last is in use

struct choice {
    const struct settings *settings;
    bool is_first;
    struct arena *arena;
    struct user_rules *rules;
};

static int check_past(const char *past, const struct uid_range *range, struct arena *arena, struct error *err)
{
    char *rest = arena_strdup(arena, past), *word;
    struct uid_range old;
    while ((word = strsep(&rest, " ")))
        if (uid_range_parse(word, &old, err) < 0)
            return -1;
        else if (old.first != range->first && uid_range_overlaps(&old, range))
            return error_set(err, ERROR_INVALID, "overlaps %s, where other projects had these users", word);
    return 0;
}

// Of which each pod has one as its own.
static int find_groups(const struct settings *settings, const struct uid_range *users, struct uid_range *out_range,
                       struct error *err)
{
    const char *text = settings->local_gid_range ? settings->local_gid_range : GID_RANGE_DEFAULT;
    struct uid_range range;
    if (strcmp(text, "none") == 0)
        return error_set(err, ERROR_INVALID, "--local-gid-range none");
    if (uid_range_parse(text, &range, err) < 0 || uid_range_check(&range, err) < 0)
        return error_prefix(err, "local-gid-range: ");
    if (users->count && uid_range_overlaps(&range, users))
        return error_set(err, ERROR_INVALID, "local-gid-range: %s overlaps --local-uid-range", text);
    *out_range = range;
    return 0;
}

static int choose_groups(const struct settings *settings, struct user_rules *rules, struct error *err)
{
    bool is_wanted = settings->local_gid_range && strcmp(settings->local_gid_range, "none") != 0;
    if (geteuid() != 0 || find_groups(settings, &rules->range, &rules->pod_groups, is_wanted ? err : NULL) == 0)
        return 0;
    return is_wanted ? -1 : 0;
}

const char *local_users_without_groups(const struct settings *settings, const struct user_rules *rules,
                                       struct arena *arena)
{
    struct error err = {0};
    struct uid_range range;
    if (geteuid() != 0 || rules->pod_groups.count || find_groups(settings, &rules->range, &range, &err) == 0)
        return NULL;
    return arena_strdup(arena, err.message);
}

// out_past: to be remembered; NULL: is already.
static int choose_users(const struct choice *choice, const char *past, const char **out_past, struct error *err)
{
    const struct settings *settings = choice->settings;
    const char *last = past ? strrchr(past, ' ') : NULL;
    *out_past = NULL;
    *choice->rules = (struct user_rules){.map_file = settings->local_user_map,
                                         .others = settings->local_user ? settings->local_user : "nobody"};
    if (settings->local_user && settings->local_uid_range)
        return error_set(err, ERROR_INVALID, "local-uid-range: --local-user has all projects run as one user");
    last = last ? last + 1 : past;
    const char *text = settings->local_uid_range ? settings->local_uid_range : last;
    text = text || !choice->is_first ? text : UID_RANGE_DEFAULT;
    if (geteuid() != 0 || settings->local_user || !text)
        return 0;
    struct uid_range range;
    if (uid_range_parse(text, &range, err) < 0 || uid_range_check(&range, err) < 0 ||
        (past && check_past(past, &range, choice->arena, err) < 0))
        return error_prefix(err, "local-uid-range: ");
    choice->rules->range = range;
    if (!last || strcmp(last, text) != 0)
        *out_past = past ? arena_printf(choice->arena, "%s %s", past, text) : text;
    return 0;
}

static int choose(const struct choice *choice, const char *past, const char **out_past, struct error *err)
{
    return choose_users(choice, past, out_past, err) < 0 ? -1 : choose_groups(choice->settings, choice->rules, err);
}

static int write_choice(struct db_conn *conn, void *context, struct error *err)
{
    const struct choice *choice = context;
    const char *past;
    if (db_find_meta(conn, KEY, choice->arena, &past, err) < 0 || choose(choice, past, &past, err) < 0)
        return -1;
    return past ? db_set_meta_in(conn, KEY, past, err) : 0;
}

int local_users_choose(const struct settings *settings, struct db *db, bool is_first, struct arena *arena,
                       struct user_rules *out_rules, struct error *err)
{
    struct choice choice = {settings, is_first, arena, out_rules};
    return db_write(db, write_choice, &choice, err);
}

int local_users_look(const struct settings *settings, struct arena *arena, struct user_rules *out_rules,
                     struct error *err)
{
    const char *path = arena_printf(arena, "%s/prorata.db", settings->data ? settings->data : "."), *past = NULL;
    bool is_there = access(path, F_OK) == 0;
    struct choice choice = {settings, !is_there, arena, out_rules};
    struct db *db;
    if (is_there) {
        if (db_open(&(struct db_options){.path = path, .readonly = true, .reader_count = 1}, &db, err) < 0)
            return -1;
        struct db_conn *conn = db_acquire(db);
        int rc = db_find_meta(conn, KEY, arena, &past, err);
        db_give_back(db, conn);
        db_close(db);
        if (rc < 0)
            return -1;
    }
    return choose(&choice, past, &past, err);
}

const char *local_users_danger(const struct settings *settings, const struct user_rules *rules, struct arena *arena)
{
    if (geteuid() != 0)
        return arena_printf(
            arena, "pods run as its own user=%u: each can read and end all others, and can read its data folder",
            (unsigned)geteuid());
    if (rules->range.count)
        return NULL;
    return arena_printf(
        arena,
        "pods of all projects that are not mapped run as %s: each can read the secrets and files of all "
        "others, and end them%s",
        rules->others,
        settings->local_user ? ""
                             : " (a data folder from before; --local-uid-range " UID_RANGE_DEFAULT
                               " gives each project a user of its own)");
}
