// The folder above the places of all pods' volumes: made with care, since it may lie in a folder that others use too,
// and emptied with care, since what is in it belongs to users. Nothing is removed that is not a pod's folder in a
// folder with our mark, on the same file system.
#include "backends/local/specification/volumes.h"

#include "base/error.h"
#include "base/folder.h"
#include "base/uuid.h"
#include "supervisor/removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".prorata-scratch"

enum {
    SCRATCH_MODE = 0711,
    MARK_MODE = 0600
};

// Others may not be able to put another folder in the place of ours.
static int check_above(const char *above, struct error *err)
{
    struct stat about;
    if (stat(above, &about) < 0)
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "%s: %s", above, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return error_set(err, ERROR_INVALID, "%s: must be a folder", above);
    if (about.st_uid != 0 && about.st_uid != geteuid())
        return error_set(err, ERROR_INVALID, "%s: belongs to user %u: must be root's or the server's own", above,
                         (unsigned)about.st_uid);
    if ((about.st_mode & 0022) && !(about.st_mode & S_ISVTX))
        return error_set(err, ERROR_INVALID, "%s: others can write to it: must be a folder of the server's own", above);
    if (!(about.st_mode & 0001) && geteuid() == 0)
        return error_set(err, ERROR_INVALID, "%s: users of pods cannot enter it (chmod o+x)", above);
    return 0;
}

// A folder from before has no mark and holds pods' folders alone.
static int check_names(int fd, const char *path, struct error *err)
{
    DIR *folder = folder_read(fd);
    int failed = folder ? 0 : error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    for (const struct dirent *entry; !failed && folder && (entry = readdir(folder));)
        if (!folder_is_dots(entry->d_name) && strcmp(entry->d_name, MARK) != 0 && !uuid_is_valid(entry->d_name))
            failed = error_set(err, ERROR_INVALID, "%s: holds %.64s, which is no pod's: prorata empties this folder",
                               path, entry->d_name);
    if (folder)
        closedir(folder);
    return failed;
}

int volumes_check_scratch(const char *above, const char *path, struct error *err)
{
    struct stat about;
    if (check_above(above, err) < 0)
        return -1;
    if (lstat(path, &about) < 0)
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & 0022))
        return error_set(err, ERROR_INVALID, "%s: must be a folder that only the server's user can write to", path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    int failed = check_names(fd, path, err);
    close(fd);
    return failed;
}

int volumes_open_scratch(const char *above, const char *path, struct error *err)
{
    bool is_made = mkdir(above, SCRATCH_MODE) == 0;
    if (is_made ? chmod(above, SCRATCH_MODE) < 0 : errno != EEXIST) // whatever the umask is
        return error_set(err, ERROR_INVALID, "%s: %s", above, strerror(errno));
    if (volumes_check_scratch(above, path, err) < 0)
        return -1;
    if ((mkdir(path, SCRATCH_MODE) < 0 && errno != EEXIST) || chmod(path, SCRATCH_MODE) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int mark = fd < 0 ? -1 : openat(fd, MARK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MARK_MODE);
    if (mark < 0)
        error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    else
        close(mark);
    if (fd >= 0)
        close(fd);
    return mark < 0 ? -1 : 0;
}

// The folder where it carries our mark, else -1; its file system in out_device.
static int open_marked(const char *scratch, dev_t *out_device)
{
    struct stat about, mark;
    int fd = open(scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &about) == 0 && fstatat(fd, MARK, &mark, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(mark.st_mode) && mark.st_uid == geteuid()) {
        *out_device = about.st_dev;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

void volumes_remove(const char *scratch, const char *pod_uuid)
{
    dev_t device;
    int fd = open_marked(scratch, &device);
    if (fd < 0)
        return;
    removal_remove(fd, device, pod_uuid);
    close(fd);
}

void volumes_sweep(const char *scratch, bool (*is_living)(const char *pod_uuid, void *context), void *context)
{
    dev_t device;
    int fd = open_marked(scratch, &device);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (uuid_is_valid(entry->d_name) && !is_living(entry->d_name, context))
            removal_remove(fd, device, entry->d_name);
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
}
