#include "backends/local/cgroups/cgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0755
};

bool cgroups_write(const char *folder, const char *name, const char *text)
{
    char path[CGROUP_PATH_SIZE + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return is_written;
}

bool cgroups_make_folder(const char *path)
{
    return (mkdir(path, FOLDER_MODE) == 0 && chmod(path, FOLDER_MODE) == 0) || errno == EEXIST;
}
