#include "backends/local/images/program.h"

#include "base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_SIZE = 4096,
    SIGNALLED = 128
};

extern char **environ;

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *program_find(const char *name, char *out_path, size_t size)
{
    const char *at = getenv("PATH");
    struct stat about;
    for (size_t length; at && *at; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        int written = snprintf(out_path, size, "%.*s/%s", (int)length, at, name);
        if (length > 0 && written > 0 && (size_t)written < size && stat(out_path, &about) == 0 &&
            S_ISREG(about.st_mode) && access(out_path, X_OK) == 0)
            return out_path;
    }
    return NULL;
}

static pid_t start(const char *const *argv, int output_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    pid_t pid = -1;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    if (posix_spawn(&pid, argv[0], &actions, &attributes, (char *const *)argv, environ) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return pid;
}

// False at the end of the output.
static bool take(int fd, struct buffer *out)
{
    char text[READ_SIZE];
    ssize_t length = read(fd, text, sizeof(text));
    if (length > 0 && out)
        buffer_append(out, text, (size_t)length);
    return length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN));
}

// Until the program itself is over: what it left behind may hold the pipe open. False: out of time, or cancelled.
static bool wait_for_end(int pidfd, int output_fd, int cancel_fd, int64_t end_ms, struct buffer *out)
{
    struct pollfd fds[] = {
        {.fd = output_fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};
    for (int64_t left; (left = end_ms - monotonic_ms()) > 0;) {
        if (poll(fds, 3, (int)left) < 0)
            continue;
        if (fds[2].revents)
            return false;
        if (fds[0].revents && !take(output_fd, out))
            fds[0].fd = -1;
        else if (!fds[0].revents && fds[1].revents)
            return true;
    }
    return false;
}

int program_run(const char *const *argv, int timeout_ms, int cancel_fd, struct buffer *out)
{
    int ends[2];
    siginfo_t end = {0};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return PROGRAM_NOT_STARTED;
    pid_t pid = start(argv, ends[1]);
    close(ends[1]);
    int pidfd = pid < 0 ? -1 : pidfd_open(pid, 0);
    bool in_time = pidfd >= 0 && wait_for_end(pidfd, ends[0], cancel_fd, monotonic_ms() + timeout_ms, out);
    if (pid > 0 && !in_time)
        (void)kill(-pid, SIGKILL);
    if (pid > 0)
        (void)waitid(P_PID, (id_t)pid, &end, WEXITED);
    close(ends[0]);
    if (pidfd >= 0)
        close(pidfd);
    if (pid < 0)
        return PROGRAM_NOT_STARTED;
    if (!in_time)
        return PROGRAM_TIMED_OUT;
    return end.si_code == CLD_EXITED ? end.si_status : SIGNALLED + end.si_status;
}
