#include "backends/local/local_stop.h"

#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/supervisors.h"
#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_NS = 20 * 1000 * 1000,
    BEYOND_GRACE_TRIES = 500 // pauses: ten seconds for what is killed to go
};

struct stopping {
    int home_fd;
    int64_t grace_ms;
    size_t told;
    size_t living;
    bool tells; // else it only counts
};

static void look_at(const char *uuid, void *context)
{
    struct stopping *stopping = context;
    struct pod_state state;
    int folder_fd = pod_folder_find(stopping->home_fd, uuid);
    bool lives = folder_fd >= 0 && pod_folder_wait(folder_fd, &state);
    if (folder_fd >= 0)
        close(folder_fd);
    stopping->living += lives;
    if (!lives || !stopping->tells)
        return;
    int pidfd = pidfd_open(state.supervisor, 0);
    if (pidfd >= 0 && pod_state_start_time(state.supervisor) == state.supervisor_start &&
        pod_folder_write_grace(stopping->home_fd, uuid, stopping->grace_ms, NULL) == 0)
        stopping->told += pidfd_send_signal(pidfd, SIGTERM, NULL, 0) == 0;
    if (pidfd >= 0)
        close(pidfd);
}

// Supervisors of the folder whose own pod's folder is lost: they stop with the grace that they were started with.
static void look_at_folderless(const char *home, struct stopping *stopping, int number)
{
    struct arena arena;
    struct supervisors supervisors = {0};
    arena_init(&arena);
    supervisors_find(home, &arena, &supervisors);
    for (size_t i = 0; i < supervisors.count; i++) {
        const struct found_supervisor *found = &supervisors.items[i];
        int folder_fd = found->is_here ? pod_folder_find(stopping->home_fd, found->uuid) : -1;
        if (folder_fd >= 0)
            close(folder_fd);
        if (!found->is_here || folder_fd >= 0)
            continue;
        stopping->living++;
        int pidfd = number ? pidfd_open(found->pid, 0) : -1;
        if (pidfd >= 0 && pod_state_start_time(found->pid) == found->started &&
            pidfd_send_signal(pidfd, number, NULL, 0) == 0)
            stopping->told += stopping->tells;
        if (pidfd >= 0)
            close(pidfd);
    }
    arena_done(&arena);
}

int local_stop_pods(const char *home, int64_t grace_ms, size_t *out_stopped, struct error *err)
{
    struct stopping stopping = {.grace_ms = grace_ms, .tells = true};
    *out_stopped = 0;
    stopping.home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (stopping.home_fd < 0 && errno != ENOENT)
        return error_set(err, ERROR_INVALID, "%s: %s", home, strerror(errno));
    pod_folder_list(stopping.home_fd, look_at, &stopping);
    look_at_folderless(home, &stopping, SIGTERM);
    *out_stopped = stopping.told;
    stopping.tells = false;
    int64_t tries = grace_ms * 1000000 / PAUSE_NS + BEYOND_GRACE_TRIES;
    for (int64_t i = 0; i < tries && stopping.living > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        stopping.living = 0;
        pod_folder_list(stopping.home_fd, look_at, &stopping);
        if (stopping.living == 0)
            look_at_folderless(home, &stopping, i * 2 > tries ? SIGKILL : 0);
    }
    if (stopping.home_fd >= 0)
        close(stopping.home_fd);
    return stopping.living == 0 ? 0 : error_set(err, ERROR_UNAVAILABLE, "%zu pods do not end", stopping.living);
}
