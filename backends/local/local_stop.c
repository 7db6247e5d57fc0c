#include "backends/local/local_stop.h"

#include "backends/local/pod_folder.h"
#include "backends/local/pod_state.h"
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

int local_stop_pods(const char *home, int64_t grace_ms, size_t *out_stopped, struct error *err)
{
    struct stopping stopping = {.grace_ms = grace_ms, .tells = true};
    *out_stopped = 0;
    stopping.home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (stopping.home_fd < 0)
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "%s: %s", home, strerror(errno));
    pod_folder_list(stopping.home_fd, look_at, &stopping);
    *out_stopped = stopping.told;
    stopping.tells = false;
    int64_t tries = grace_ms * 1000000 / PAUSE_NS + BEYOND_GRACE_TRIES;
    for (int64_t i = 0; i < tries && stopping.living > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        stopping.living = 0;
        pod_folder_list(stopping.home_fd, look_at, &stopping);
    }
    close(stopping.home_fd);
    return stopping.living == 0 ? 0 : error_set(err, ERROR_UNAVAILABLE, "%zu pods do not end", stopping.living);
}
