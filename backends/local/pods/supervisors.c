#include "backends/local/pods/supervisors.h"

#include "backends/local/pods/pod_state.h"
#include "base/arena.h"
#include "supervisor/pod_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WORDS_SIZE = 256,
    PATH_SIZE = 2048
};

static const char GONE[] = " (deleted)";

// `prorata-supervisor --uuid UUID ...`, as launch.c starts it.
static bool read_words(const char *pid, char uuid[UUID_SIZE])
{
    static const char FIRST[] = "prorata-supervisor\0--uuid";
    char path[64], words[WORDS_SIZE];
    struct stat about;
    snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = fstat(fd, &about) == 0 && about.st_uid == geteuid() ? read(fd, words, sizeof(words) - 1) : -1;
    close(fd);
    if (length < (ssize_t)(sizeof(FIRST) + UUID_SIZE) || memcmp(words, FIRST, sizeof(FIRST)) != 0)
        return false;
    words[length] = '\0';
    snprintf(uuid, UUID_SIZE, "%.36s", words + sizeof(FIRST));
    return words[sizeof(FIRST) + UUID_SIZE - 1] == '\0' && uuid_is_valid(uuid);
}

// Whether its pods' folder is, or was, this server's.
static bool is_of_home(const char *own_home, const char *pid)
{
    char path[64], home[PATH_SIZE];
    snprintf(path, sizeof(path), "/proc/%.20s/fd/%d", pid, POD_HOME_FD);
    ssize_t length = readlink(path, home, sizeof(home) - 1);
    if (length <= 0)
        return false;
    home[length] = '\0';
    size_t own = strlen(own_home);
    return strncmp(home, own_home, own) == 0 && (!home[own] || strcmp(home + own, GONE) == 0);
}

void supervisors_find(const char *home, struct arena *arena, struct supervisors *out)
{
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        struct found_supervisor found = {0};
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || !read_words(entry->d_name, found.uuid))
            continue;
        found.is_here = is_of_home(home, entry->d_name);
        found.pid = (pid_t)strtol(entry->d_name, NULL, 10);
        found.started = pod_state_start_time(found.pid);
        out->items = arena_grow(arena, out->items, &out->capacity, out->count + 1, sizeof(*out->items));
        out->items[out->count++] = found;
    }
    if (folder)
        closedir(folder);
}
