#include "backends/local/cgroups/device_list.h"

#include "backends/local/cgroups/cgroup_files.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LISTED_CAPS_MAX = 768
};

int device_list_check(const char *folder, struct error *err)
{
    char path[CGROUP_PATH_SIZE + 32], first[64] = "";
    snprintf(path, sizeof(path), "%s/devices.list", folder);
    FILE *file = fopen(path, "re");
    (void)!(file && fgets(first, sizeof(first), file));
    if (file)
        fclose(file);
    return first[0] == 'a'
               ? 0
               : error_set(err, ERROR_UNAVAILABLE, "%.160s: its cgroup has a list of what is allowed", path);
}

struct list {
    int allow_fd, deny_fd;
    const char *cgroup;
};

static int open_file(const char *cgroup, const char *name)
{
    char path[CGROUP_PATH_SIZE + 32];
    snprintf(path, sizeof(path), "%s/%s", cgroup, name);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static int set(const struct list *list, int major, int minor, bool is_open, struct error *err)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "c %d:%d rwm", major, minor);
    // What the cgroup above shuts cannot be opened here, and is not the pod's.
    if (write(is_open ? list->allow_fd : list->deny_fd, text, (size_t)length) == length || is_open)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "%.120s/devices.deny: %s: %s", list->cgroup, text, strerror(errno));
}

static bool opens_cap(const struct device_rules *rules, int minor)
{
    for (size_t i = 0; i < rules->cap_count; i++)
        if (rules->caps[i] == minor)
            return true;
    return false;
}

static int write_all(const struct list *list, const struct device_rules *rules, const char *caps_path,
                     struct error *err)
{
    int caps[LISTED_CAPS_MAX];
    size_t count = rules->caps_major < 0 ? 0 : nvidia_nodes_caps(caps_path, caps, LISTED_CAPS_MAX);
    for (int minor = 0; minor < NVIDIA_GPU_MINORS; minor++)
        if (set(list, NVIDIA_MAJOR, minor, rules->opens_gpu[minor], err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++)
        if (set(list, rules->caps_major, caps[i], opens_cap(rules, caps[i]), err) < 0)
            return -1;
    return 0;
}

int device_list_write(const char *cgroup, const struct device_rules *rules, const char *caps_path, struct error *err)
{
    struct list list = {open_file(cgroup, "devices.allow"), open_file(cgroup, "devices.deny"), cgroup};
    int rc = write_all(&list, rules, caps_path, err);
    if (list.allow_fd >= 0)
        close(list.allow_fd);
    if (list.deny_fd >= 0)
        close(list.deny_fd);
    return rc;
}
