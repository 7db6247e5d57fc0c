#include "backends/local/users/uid_range.h"

#include "base/error.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_SIZE = 1024
};

static const struct {
    struct uid_range range;
    const char *use;
} TAKEN[] = {
    {{0, 1000}, "the system's own users"},
    {{60001, 513}, "systemd-homed's users"},
    {{60578, 128}, "systemd-homed's users"},
    {{61184, 4336}, "systemd's dynamic users"},
    {{65534, 2}, "nobody"},
    {{524288, INT64_C(1878523904)}, "systemd's containers"},
    {{INT64_C(2147352576), 65536}, "systemd's foreign images"},
};

bool uid_range_overlaps(const struct uid_range *one, const struct uid_range *other)
{
    return one->first < other->first + other->count && other->first < one->first + one->count;
}

int uid_range_parse(const char *text, struct uid_range *out_range, struct error *err)
{
    struct uid_range range;
    int length = 0;
    if (strlen(text) > 24 || text[0] == '+' || text[0] == '-' ||
        sscanf(text, "%" SCNd64 "+%" SCNd64 "%n", &range.first, &range.count, &length) != 2 || text[length])
        return error_set(err, ERROR_INVALID, "START+COUNT, as in " UID_RANGE_DEFAULT ", got %.40s", text);
    if (range.first < 0 || range.count < 1 || range.first > INT32_MAX || range.count > INT32_MAX ||
        range.first + range.count - 1 > INT32_MAX)
        return error_set(err, ERROR_INVALID, "%.40s: at least one, and none above %d", text, INT32_MAX);
    *out_range = range;
    return 0;
}

static int refuse(const struct uid_range *range, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%" PRId64 "+%" PRId64 " overlaps %s", range->first, range->count, what);
}

// The files alone: users from elsewhere are looked at when they are used.
static int check_entries(const struct uid_range *range, struct error *err)
{
    char what[128] = "";
    struct uid_range one = {.count = 1};
    FILE *users = fopen("/etc/passwd", "re"), *groups = fopen("/etc/group", "re");
    for (const struct passwd *user; users && !what[0] && (user = fgetpwent(users));) {
        one.first = user->pw_uid;
        if (uid_range_overlaps(range, &one))
            snprintf(what, sizeof(what), "user %.60s (%u) of /etc/passwd", user->pw_name, (unsigned)user->pw_uid);
    }
    for (const struct group *group; groups && !what[0] && (group = fgetgrent(groups));) {
        one.first = group->gr_gid;
        if (uid_range_overlaps(range, &one))
            snprintf(what, sizeof(what), "group %.60s (%u) of /etc/group", group->gr_name, (unsigned)group->gr_gid);
    }
    if (users)
        fclose(users);
    if (groups)
        fclose(groups);
    return what[0] ? refuse(range, what, err) : 0;
}

static int check_lent(const struct uid_range *range, const char *path, struct error *err)
{
    char line[LINE_SIZE], what[128] = "", name[64];
    FILE *file = fopen(path, "re");
    struct uid_range lent;
    while (file && !what[0] && fgets(line, sizeof(line), file))
        if (sscanf(line, "%63[^:]:%" SCNd64 ":%" SCNd64, name, &lent.first, &lent.count) == 3 &&
            uid_range_overlaps(range, &lent))
            snprintf(what, sizeof(what), "what %s lends to %s", path, name);
    if (file)
        fclose(file);
    return what[0] ? refuse(range, what, err) : 0;
}

int uid_range_check(const struct uid_range *range, struct error *err)
{
    for (size_t i = 0; i < sizeof(TAKEN) / sizeof(TAKEN[0]); i++)
        if (uid_range_overlaps(range, &TAKEN[i].range))
            return refuse(range, TAKEN[i].use, err);
    if (check_entries(range, err) < 0 || check_lent(range, "/etc/subuid", err) < 0)
        return -1;
    return check_lent(range, "/etc/subgid", err);
}
