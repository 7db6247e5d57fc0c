// `prorata stop`: the server of a data folder, and with --pods what runs on this machine for it.
#include "backends/local/local_stop.h"
#include "base/arena.h"
#include "base/duration.h"
#include "base/error.h"
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    WAIT_TRIES = 1500, // of 20 ms
    PAUSE_NS = 20 * 1000 * 1000,
    DEFAULT_GRACE_MS = 30000
};

static const char HELP[] =
    "Usage: prorata stop --data DIR [--pods] [--grace DURATION]\n\n"
    "Stops the server of the folder and waits until it is gone. Processes that it runs on this machine\n"
    "(--backend local) run on, and the next server takes them up.\n\n"
    "  --data DIR        the server's data folder\n"
    "  --pods            end these processes too; their workloads start again with the next server\n"
    "  --grace DURATION  how long they may take: 30s\n";

struct stop_options {
    const char *data;
    bool pods;
    int64_t grace_ms;
};

// 0: go on; 1: help was shown; -1: err.
static int read_options(int argc, char **argv, struct stop_options *out, struct error *err)
{
    *out = (struct stop_options){.grace_ms = DEFAULT_GRACE_MS};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(HELP, stdout);
            return 1;
        }
        if (strcmp(argv[i], "--pods") == 0)
            out->pods = true;
        else if (strcmp(argv[i], "--data") == 0 && has_value)
            out->data = argv[++i];
        else if (strcmp(argv[i], "--grace") == 0 && has_value) {
            if (duration_parse(argv[++i], &out->grace_ms, err) < 0 || out->grace_ms < 0)
                return error_set(err, ERROR_INVALID, "--grace: a duration like 30s, got %.60s", argv[i]);
        } else
            return error_set(err, ERROR_INVALID, "%.60s: unknown, or its value is missing", argv[i]);
    }
    return out->data ? 0 : error_set(err, ERROR_INVALID, "--data: the server's folder is missing");
}

// The process that holds the folder's lock; 0: none does.
static int find_server(const char *data, struct arena *arena, pid_t *out_pid, struct error *err)
{
    char holder[32] = "";
    const char *path = arena_printf(arena, "%s/lock", data);
    *out_pid = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 && read(fd, holder, sizeof(holder) - 1) > 0)
        *out_pid = (pid_t)strtol(holder, NULL, 10);
    close(fd);
    return 0;
}

static int stop_server(const char *data, struct arena *arena, bool *out_was_running, struct error *err)
{
    pid_t pid;
    if (find_server(data, arena, &pid, err) < 0)
        return -1;
    *out_was_running = pid > 0;
    if (pid > 0 && kill(pid, SIGTERM) < 0)
        return error_set(err, ERROR_INVALID, "process %d: %s", (int)pid, strerror(errno));
    for (int i = 0; i < WAIT_TRIES && pid > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        if (find_server(data, arena, &pid, err) < 0)
            return -1;
    }
    return pid == 0 ? 0 : error_set(err, ERROR_UNAVAILABLE, "process %d does not end", (int)pid);
}

static int stop_all(const struct stop_options *options, struct arena *arena, struct error *err)
{
    bool was_running;
    size_t stopped;
    if (stop_server(options->data, arena, &was_running, err) < 0)
        return -1;
    puts(was_running ? "the server has stopped" : "no server runs on that folder");
    if (!options->pods)
        return 0;
    char *path = realpath(options->data, NULL);
    if (!path)
        return error_set(err, ERROR_INVALID, "%s: %s", options->data, strerror(errno));
    const char *home = arena_printf(arena, "%s/pods", path);
    free(path);
    if (local_stop_pods(home, options->grace_ms, &stopped, err) < 0)
        return -1;
    printf("%zu pods have ended\n", stopped);
    return 0;
}

int daemon_main_stop(int argc, char **argv)
{
    struct stop_options options;
    struct error err = {0};
    struct arena arena;
    int rc = read_options(argc, argv, &options, &err);
    if (rc != 0) {
        if (rc < 0)
            fprintf(stderr, "prorata stop: %s\n", err.message);
        return rc < 0 ? EXIT_USAGE : 0;
    }
    arena_init(&arena);
    rc = stop_all(&options, &arena, &err);
    arena_done(&arena);
    if (rc < 0)
        fprintf(stderr, "prorata stop: %s\n", err.message);
    return rc < 0 ? err.code == ERROR_INVALID ? EXIT_USAGE : 1 : 0;
}
