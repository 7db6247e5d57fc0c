#include "backends/local/pods/socket_holders.h"

#include "backends/local/local_state.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/serving/tcp_sockets.h"
#include "base/timestamp.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_MAX_US = 5 * 1000000,
    LINK_SIZE = 64,
    PATH_SIZE = 32
};

struct search {
    struct local *local;
    const char *pod_uuid;
    struct tcp_socket *sockets;
    size_t count;
    struct container_keeper keeper; // of the pod's container; pid 0: there is none
    int64_t until_us;
    bool is_blind; // what a process of the pod has open may not be seen
};

static bool is_whole(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (!search->sockets[i].is_held)
            return false;
    return true;
}

static bool is_below_keeper(const struct search *search, const struct origin *origin)
{
    const struct container_keeper *keeper = &search->keeper;
    bool is_below = false;
    for (size_t i = 0; keeper->pid > 0 && i < origin->above_count; i++)
        is_below |= origin->above[i] == keeper->pid;
    return is_below && pod_state_start_time(keeper->pid) == keeper->start;
}

static bool is_of_pod(const struct search *search, pid_t pid)
{
    struct local *local = search->local;
    const struct origin_places places = {local->cgroups.path, local->options.users.pod_groups};
    struct origin origin;
    origin_read(&places, pid, &origin);
    if (origin.is_over)
        return false;
    if (!origin.cgroup_pod[0])
        origin_read_above(&origin);
    pthread_mutex_lock(&local->lock);
    const struct local_pod *pod = belonging_find(local, &origin);
    bool is_its = pod && strcmp(pod->uuid, search->pod_uuid) == 0;
    pthread_mutex_unlock(&local->lock);
    return is_its || (!pod && is_below_keeper(search, &origin));
}

static bool read_number(int folder_fd, const char *name, uint32_t *out_number)
{
    char link[LINK_SIZE];
    ssize_t length = readlinkat(folder_fd, name, link, sizeof(link) - 1);
    if (length <= 0)
        return false;
    link[length] = '\0';
    return sscanf(link, "socket:[%u]", out_number) == 1;
}

// False: it has none of them.
static bool mark(struct search *search, DIR *files)
{
    bool has_some = false;
    for (const struct dirent *entry; (entry = readdir(files)) && timestamp_monotonic_us() < search->until_us;) {
        uint32_t number;
        if (!isdigit((unsigned char)entry->d_name[0]) || !read_number(dirfd(files), entry->d_name, &number))
            continue;
        for (size_t i = 0; i < search->count; i++) {
            bool is_it = search->sockets[i].number == number;
            search->sockets[i].is_held |= is_it;
            has_some |= is_it;
        }
    }
    return has_some;
}

// Its folder is opened first: what is read by it is that process's, and no other's that has its number since.
static bool look_at(struct search *search, pid_t pid)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has_some = false;
    if (fd < 0)
        return false;
    if (is_of_pod(search, pid)) {
        int files_fd = openat(fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *files = files_fd >= 0 ? fdopendir(files_fd) : NULL;
        search->is_blind |= files_fd < 0 && errno == EACCES;
        has_some = files && mark(search, files);
        if (files)
            closedir(files);
        else if (files_fd >= 0)
            close(files_fd);
    }
    close(fd);
    return has_some;
}

static void look_at_all(struct search *search, pid_t *last_holder)
{
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && !is_whole(search) && (entry = readdir(folder));) {
        if (timestamp_monotonic_us() >= search->until_us)
            break;
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && look_at(search, pid))
            *last_holder = pid;
    }
    if (folder)
        closedir(folder);
}

// The container that the pod is in has processes that are none of the supervisor's.
static void find_keeper(struct search *search)
{
    struct local *local = search->local;
    char runtime[sizeof(((struct local_pod *)0)->runtime)] = "";
    pthread_mutex_lock(&local->lock);
    struct local_pod *pod = local_pods_find(&local->pods, search->pod_uuid);
    if (pod && !pod->group) {
        snprintf(runtime, sizeof(runtime), "%s", pod->runtime);
        search->keeper = pod->keeper;
    }
    pthread_mutex_unlock(&local->lock);
    if (!runtime[0] || !container_keeper_find(&search->keeper, runtime, search->pod_uuid))
        search->keeper.pid = 0;
}

bool socket_holders_find(struct local *local, const char *pod_uuid, struct tcp_socket *sockets, size_t count,
                         pid_t *last_holder)
{
    struct search search = {.local = local,
                            .pod_uuid = pod_uuid,
                            .sockets = sockets,
                            .count = count,
                            .until_us = timestamp_monotonic_us() + LOOK_MAX_US};
    for (size_t i = 0; i < count; i++)
        sockets[i].is_held = false;
    find_keeper(&search);
    if (*last_holder > 0)
        (void)look_at(&search, *last_holder);
    if (!is_whole(&search))
        look_at_all(&search, last_holder);
    return is_whole(&search) || (!search.is_blind && timestamp_monotonic_us() < search.until_us);
}
