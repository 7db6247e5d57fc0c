#include "supervisor/host_places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OWN_MODE = 0700,
    FILE_MODE = 0600,
    UUID_LENGTH = 36
};

// Below the folder of all.
static void name_of(const char *server, const char *uuid, char out[HOST_PLACE_SIZE])
{
    snprintf(out, HOST_PLACE_SIZE, "%s.%s", server, uuid);
}

// A path that begins at a descriptor: system calls about mounts take no other.
static void path_at(int fd, const char *name, char out[HOST_PLACE_SIZE])
{
    snprintf(out, HOST_PLACE_SIZE, "/proc/self/fd/%d/%s", fd, name);
}

void host_places_path(const char *server, const char *uuid, size_t number, char out[HOST_PLACE_SIZE])
{
    snprintf(out, HOST_PLACE_SIZE, HOST_PLACES "/%s.%s/paths/%zu", server, uuid, number);
}

// The folder of all; -1: it is not there, or others can enter it.
static int open_all(void)
{
    struct stat about;
    int run = open("/run", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int all = openat(run, HOST_PLACES + sizeof("/run"), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = errno;
    if (run >= 0)
        close(run);
    if (all >= 0 && fstat(all, &about) == 0 && about.st_uid == 0 && (about.st_mode & 077) == 0)
        return all;
    if (all >= 0)
        close(all);
    errno = all >= 0 ? EPERM : code;
    return -1;
}

static bool mount_own(int at_fd, const char *name, unsigned long propagation)
{
    char path[HOST_PLACE_SIZE];
    path_at(at_fd, name, path);
    return mkdirat(at_fd, name, OWN_MODE) == 0 &&
           mount("prorata", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700,size=64k") == 0 &&
           mount("", path, NULL, propagation, NULL) == 0;
}

int host_places_make(const char *server, const char *uuid)
{
    char name[HOST_PLACE_SIZE];
    name_of(server, uuid, name);
    if (mkdir(HOST_PLACES, OWN_MODE) < 0 && errno != EEXIST)
        return -1;
    int all = open_all();
    if (all < 0)
        return -1;
    bool is_made = mount_own(all, name, MS_UNBINDABLE);
    int fd = is_made ? openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int code = errno;
    close(all);
    errno = code;
    if (fd < 0 || (mkdirat(fd, "folder", OWN_MODE) == 0 && mknodat(fd, "file", S_IFREG | FILE_MODE, 0) == 0 &&
                   mount_own(fd, "paths", MS_SHARED)))
        return fd;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}

// What is mounted or unmounted below the new mount may never reach the one that it is a copy of: so it becomes a slave
// before it goes to its place. There it is shared, too: then what is below it goes from all namespaces with it.
bool host_places_put(int pod_fd, int fd, size_t number)
{
    char from[HOST_PLACE_SIZE], first[HOST_PLACE_SIZE], place[HOST_PLACE_SIZE], name[32];
    struct stat about;
    if (fstat(fd, &about) < 0)
        return false;
    snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
    snprintf(name, sizeof(name), "paths/%zu", number);
    path_at(pod_fd, S_ISDIR(about.st_mode) ? "folder" : "file", first);
    path_at(pod_fd, name, place);
    return (S_ISDIR(about.st_mode) ? mkdirat(pod_fd, name, OWN_MODE) : mknodat(pod_fd, name, S_IFREG | FILE_MODE, 0)) ==
               0 &&
           mount(from, first, NULL, MS_BIND | MS_REC, NULL) == 0 &&
           mount("", first, NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("", first, NULL, MS_REC | MS_SHARED, NULL) == 0 && mount(first, place, NULL, MS_MOVE, NULL) == 0;
}

// Asked without a look at what is mounted there, which may not answer.
static bool is_mounted_on(int at_fd, const char *pod, const char *name, int flags)
{
    char path[HOST_PLACE_SIZE];
    snprintf(path, sizeof(path), "%s/%s", pod, name);
    return unlinkat(at_fd, path, flags) < 0 && errno == EBUSY;
}

static void remove_at(int all, const char *name)
{
    char path[HOST_PLACE_SIZE];
    path_at(all, name, path);
    // Who made it was killed on the way: what is still one with the mount of the machine would go from there, too.
    if (is_mounted_on(all, name, "folder", AT_REMOVEDIR) || is_mounted_on(all, name, "file", 0))
        (void)mount("", path, NULL, MS_REC | MS_PRIVATE, NULL);
    (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    (void)unlinkat(all, name, AT_REMOVEDIR); // refused while it is mounted on
}

void host_places_remove(const char *server, const char *uuid)
{
    char name[HOST_PLACE_SIZE];
    int all = open_all();
    name_of(server, uuid, name);
    if (all < 0)
        return;
    remove_at(all, name);
    close(all);
}

void host_places_sweep(const char *server, bool (*is_living)(const char *uuid, void *context), void *context)
{
    int all = open_all();
    DIR *folder = all < 0 ? NULL : fdopendir(all);
    size_t length = strlen(server);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, server, length) == 0 && entry->d_name[length] == '.' &&
            strlen(entry->d_name + length + 1) == UUID_LENGTH && !is_living(entry->d_name + length + 1, context))
            remove_at(all, entry->d_name);
    if (folder)
        closedir(folder);
    else if (all >= 0)
        close(all);
}
