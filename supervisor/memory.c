#include "supervisor/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_SIZE = 2048,
    NEAR_BYTES = 1 << 20, // the kernel charges in batches, and failcnt counts nothing any more in newer ones
    TAKE_TRIES = 20,      // the kernel tells before it kills
    TAKE_PAUSE_NS = 10 * 1000 * 1000
};

// The number behind a word of a file of the cgroup; where no word is given, the file's.
static long read_number(const char *cgroup, const char *file, const char *word)
{
    char path[PATH_SIZE], text[1024];
    if (!cgroup || snprintf(path, sizeof(path), "%s/%s", cgroup, file) >= PATH_SIZE)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    text[0] = '\n';
    ssize_t length = fd < 0 ? 0 : read(fd, text + 1, sizeof(text) - 2);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length + 1 : 1] = '\0';
    const char *at = strstr(text, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

enum memory_end memory_end(const struct command_options *options)
{
    long kills = read_number(options->cgroup, "memory.events", "\noom_kill ");
    long at_bound = read_number(options->cgroup, "memory.events", "\noom ");
    for (int i = 0; i < options->cgroup_v1_count; i++) {
        long before = kills;
        kills += read_number(options->cgroups_v1[i], "memory.oom_control", "\noom_kill ");
        at_bound +=
            kills > before && read_number(options->cgroups_v1[i], "memory.max_usage_in_bytes", "\n") >
                                  read_number(options->cgroups_v1[i], "memory.limit_in_bytes", "\n") - NEAR_BYTES;
    }
    return kills <= 0 ? MEMORY_END_NONE : at_bound > 0 ? MEMORY_END_BOUND : MEMORY_END_MACHINE;
}

static bool subscribe(const char *cgroup, int event_fd)
{
    char path[PATH_SIZE], text[64];
    snprintf(path, sizeof(path), "%s/memory.oom_control", cgroup);
    int about_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (about_fd < 0)
        return false; // another controller's
    snprintf(path, sizeof(path), "%s/cgroup.event_control", cgroup);
    int fd = open(path, O_WRONLY | O_CLOEXEC), length = snprintf(text, sizeof(text), "%d %d", event_fd, about_fd);
    bool is_told = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    close(about_fd);
    return is_told;
}

int memory_watch(const struct command_options *options)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (int i = 0; fd >= 0 && i < options->cgroup_v1_count; i++)
        if (subscribe(options->cgroups_v1[i], fd))
            return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool memory_take(const struct command_options *options, int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof(count));
    for (int i = 0; i < TAKE_TRIES && memory_end(options) == MEMORY_END_NONE; i++)
        nanosleep(&(struct timespec){.tv_nsec = TAKE_PAUSE_NS}, NULL);
    return memory_end(options) != MEMORY_END_NONE;
}
