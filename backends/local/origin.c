#include "backends/local/origin.h"

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

static pid_t read_status(const struct uid_range *range, pid_t pid, char text[TEXT_SIZE], gid_t *group)
{
    int parent = 0;
    if (!read_file(pid, "status", text))
        return 0;
    const char *line = strstr(text, "\nPPid:");
    if (line)
        (void)sscanf(line, "\nPPid: %d", &parent);
    line = group ? strstr(text, "\nGroups:") : NULL;
    if (!line)
        return parent;
    char *end;
    for (const char *at = line + strlen("\nGroups:"); *at && *at != '\n'; at = end) {
        int64_t number = strtoll(at, &end, 10);
        if (end == at)
            break;
        if (number >= range->first && number < range->first + range->count)
            *group = (gid_t)number;
    }
    return parent;
}

void origin_read(const struct origin_places *places, pid_t pid, struct origin *out_origin)
{
    char text[TEXT_SIZE];
    *out_origin = (struct origin){.pid = pid};
    read_cgroup(places->cgroups, pid, text, out_origin->cgroup_pod);
    pid_t parent = read_status(&places->groups, pid, text, &out_origin->group);
    if (out_origin->cgroup_pod[0])
        return;
    for (int level = 0; parent > 1 && level < LEVELS_MAX; level++) {
        if (out_origin->above_count == ORIGIN_ABOVE_MAX)
            memmove(out_origin->above, out_origin->above + 1, --out_origin->above_count * sizeof(pid_t));
        out_origin->above[out_origin->above_count++] = parent;
        parent = read_status(&places->groups, parent, text, NULL);
    }
}
