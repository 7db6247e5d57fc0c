// The folder above the places of all pods' volumes: made with care, since it may lie in a folder that everybody can
// write to, and emptied with care, since what is in it belongs to users.
#include "backends/local/volumes.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SCRATCH_MODE = 0711,
    DEPTH_MAX = 200
};

int volumes_open_scratch(const char *path, struct error *err)
{
    struct stat about;
    if (mkdir(path, SCRATCH_MODE) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (lstat(path, &about) < 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & 0022))
        return error_set(err, ERROR_INVALID, "%s: must be a folder that only the server's user can write to", path);
    if (chmod(path, SCRATCH_MODE) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    return 0;
}

// Never follows a link: a name is looked up in the folder that is open.
static void remove_below(int at_fd, const char *name, int depth)
{
    int fd = depth < DEPTH_MAX ? openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM))
            remove_below(fd, entry->d_name, depth + 1);
    }
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    (void)unlinkat(at_fd, name, AT_REMOVEDIR);
}

void volumes_remove(const char *scratch, const char *pod_uuid)
{
    int fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    remove_below(fd, pod_uuid, 0);
    close(fd);
}

void volumes_sweep(const char *scratch, bool (*is_living)(const char *pod_uuid, void *context), void *context)
{
    int fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && !is_living(entry->d_name, context))
            remove_below(fd, entry->d_name, 0);
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
}
