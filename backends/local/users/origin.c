#include "backends/local/users/origin.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_SIZE = 3072,
    LEVELS_MAX = 1024
};

static bool read_file(pid_t pid, const char *name, char text[TEXT_SIZE])
{
    char path[64];
    size_t length = 0;
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && length < TEXT_SIZE - 1 && (got = read(fd, text + length, TEXT_SIZE - 1 - length)) > 0;)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return length > 0;
}

// `0::/a/b/NAME/UUID/...`, where the folder of the pods' cgroups is MOUNT/a/b/NAME. Only root can make a cgroup whose
// path from the top is the end of another's.
static void read_cgroup(const char *folder, pid_t pid, char text[TEXT_SIZE], char uuid[UUID_SIZE])
{
    const char *name = strrchr(folder, '/'), *line = NULL;
    if (!name || !read_file(pid, "cgroup", text))
        return;
    for (char *at = text; at && !line; at = strchr(at, '\n')) {
        at += *at == '\n';
        line = strncmp(at, "0::/", 4) == 0 ? at + 3 : NULL;
    }
    size_t name_length = strlen(name);
    const char *found = line ? strstr(line, name) : NULL;
    if (!found || found[name_length] != '/')
        return;
    size_t length = (size_t)(found - line) + name_length, all = strlen(folder);
    char candidate[UUID_SIZE];
    snprintf(candidate, sizeof(candidate), "%.36s", found + name_length + 1);
    if (length <= all && strncmp(folder + all - length, line, length) == 0 && uuid_is_valid(candidate))
        snprintf(uuid, UUID_SIZE, "%s", candidate);
}

static pid_t read_parent(const char *status)
{
    int parent = 0;
    const char *line = strstr(status, "\nPPid:");
    if (line)
        (void)sscanf(line, "\nPPid: %d", &parent);
    return parent;
}

static bool read_over(const char *status)
{
    char state = 'X';
    const char *line = strstr(status, "\nState:");
    if (line)
        (void)sscanf(line, "\nState: %c", &state);
    return state == 'Z' || state == 'X';
}

static gid_t read_group(const char *status, const struct uid_range *range)
{
    const char *line = strstr(status, "\nGroups:");
    char *end;
    if (!line)
        return 0;
    for (const char *at = line + strlen("\nGroups:"); *at && *at != '\n'; at = end) {
        int64_t number = strtoll(at, &end, 10);
        if (end == at)
            break;
        if (number >= range->first && number < range->first + range->count)
            return (gid_t)number;
    }
    return 0;
}

void origin_read(const struct origin_places *places, pid_t pid, struct origin *out_origin)
{
    char text[TEXT_SIZE];
    *out_origin = (struct origin){.pid = pid};
    read_cgroup(places->cgroups, pid, text, out_origin->cgroup_pod);
    (void)read_file(pid, "status", text);
    out_origin->group = read_group(text, &places->groups);
    out_origin->is_over = read_over(text);
}

void origin_read_above(struct origin *origin)
{
    char text[TEXT_SIZE];
    pid_t above = origin->pid;
    for (int level = 0; level < LEVELS_MAX; level++) {
        above = read_file(above, "status", text) ? read_parent(text) : 0;
        if (above <= 1)
            return;
        if (origin->above_count == ORIGIN_ABOVE_MAX)
            memmove(origin->above, origin->above + 1, --origin->above_count * sizeof(pid_t));
        origin->above[origin->above_count++] = above;
    }
}
