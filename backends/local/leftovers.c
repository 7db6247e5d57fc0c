#include "backends/local/leftovers.h"

#include "base/arena.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ENVIRONMENT_MAX = 1 << 20,
    ROUNDS_MAX = 500,
    PAUSE_NS = 10 * 1000 * 1000
};

static bool is_of_pod(const char *pid, const char *variable, char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t length = 0;
    for (ssize_t got;
         length < ENVIRONMENT_MAX - 1 && (got = read(fd, text + length, ENVIRONMENT_MAX - 1 - length)) > 0;)
        length += (size_t)got;
    close(fd);
    text[length] = '\0';
    for (const char *at = text; at < text + length; at += strlen(at) + 1)
        if (strcmp(at, variable) == 0)
            return true;
    return false;
}

static size_t kill_once(const char *variable, char *text)
{
    size_t found = 0;
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || !is_of_pod(entry->d_name, variable, text))
            continue;
        found += kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL) == 0;
    }
    if (folder)
        closedir(folder);
    return found;
}

size_t leftovers_kill(const char *uuid, pid_t leader)
{
    char variable[80];
    size_t all = 0;
    char *text = memory_alloc(ENVIRONMENT_MAX);
    snprintf(variable, sizeof(variable), "PRORATA_POD=%.60s", uuid);
    if (leader > 0)
        (void)kill(-leader, SIGKILL);
    // What was killed takes a moment to go, and may have started another meanwhile.
    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t found = kill_once(variable, text);
        if (found == 0)
            break;
        all += found;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    free(text);
    return all;
}
