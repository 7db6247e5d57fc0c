#include "daemon/socket_file.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 256,
    PATH_SIZE = sizeof(((struct sockaddr_un *)0)->sun_path)
};

// Of a folder above, others may write into it where they cannot take away what is root's (/tmp).
static int check_folder(const char *path, bool is_above, struct error *err)
{
    struct stat about;
    if (lstat(path, &about) < 0)
        return error_set(err, ERROR_INVALID, "socket: %s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return error_set(err, ERROR_INVALID, "socket: %s is not a folder", path);
    bool is_open = (about.st_mode & 0022) && !(is_above && (about.st_mode & S_ISVTX));
    if (about.st_uid != 0 || is_open)
        return error_set(err, ERROR_INVALID, "socket: others than root can write to %s, and put a socket there", path);
    return 0;
}

static int check_length(const char *path, struct error *err)
{
    if (path[0] != '/')
        return error_set(err, ERROR_INVALID, "socket: expected a path from the root, got %.100s", path);
    if (strlen(path) >= PATH_SIZE)
        return error_set(err, ERROR_INVALID, "socket: at most %d characters, got %zu", (int)PATH_SIZE - 1,
                         strlen(path));
    return 0;
}

// "/run/prorata" of "/run/prorata/prorata.sock"; "/" of "/run".
static void folder_of(const char *path, char out_folder[PATH_SIZE])
{
    size_t length = (size_t)(strrchr(path, '/') - path);
    snprintf(out_folder, PATH_SIZE, "%.*s", length ? (int)length : 1, path);
}

static int check_above(const char *folder, struct error *err)
{
    char at[PATH_SIZE], above[PATH_SIZE];
    snprintf(at, sizeof(at), "%s", folder);
    while (strcmp(at, "/") != 0) {
        folder_of(at, above);
        if (check_folder(above, true, err) < 0)
            return -1;
        memcpy(at, above, sizeof(at));
    }
    return 0;
}

int socket_file_check(const char *path, struct error *err)
{
    char folder[PATH_SIZE];
    if (check_length(path, err) < 0)
        return -1;
    folder_of(path, folder);
    if (check_above(folder, err) < 0)
        return -1;
    return access(folder, F_OK) == 0 ? check_folder(folder, false, err) : 0;
}

// The server's umask keeps others out of what it makes.
static int make_folder(const char *path, struct error *err)
{
    char folder[PATH_SIZE];
    if (socket_file_check(path, err) < 0)
        return -1;
    folder_of(path, folder);
    if (mkdir(folder, 0755) == 0 && chmod(folder, 0755) == 0)
        return 0;
    return errno == EEXIST ? 0 : error_set(err, ERROR_INVALID, "socket: %s: %s", folder, strerror(errno));
}

static int lock(const char *path, struct arena *arena, struct socket_file *file, struct error *err)
{
    const char *name = arena_printf(arena, "%s.lock", path);
    file->lock_fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file->lock_fd < 0)
        return error_set(err, ERROR_INVALID, "socket: %s: %s", name, strerror(errno));
    if (flock(file->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    error_set(err, ERROR_INVALID, "socket: another server has %s", path);
    return error_details(err, "--socket takes another path");
}

static int remove_stale(const char *path, struct error *err)
{
    struct stat about;
    if (lstat(path, &about) < 0)
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "socket: %s: %s", path, strerror(errno));
    if (!S_ISSOCK(about.st_mode))
        return error_set(err, ERROR_INVALID, "socket: %s is there, and no socket", path);
    return unlink(path) == 0 ? 0 : error_set(err, ERROR_INVALID, "socket: %s: %s", path, strerror(errno));
}

static int make_socket(const char *path, struct socket_file *file, struct error *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct stat about;
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0 && listen(fd, BACKLOG) == 0 &&
        chmod(path, 0666) == 0 && lstat(path, &about) == 0) {
        file->device = about.st_dev;
        file->inode = about.st_ino;
        return fd;
    }
    error_set(err, ERROR_INVALID, "socket: %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int socket_file_open(const char *path, struct arena *arena, struct socket_file *out_file, struct error *err)
{
    struct socket_file file = {.path = path, .lock_fd = -1};
    int fd = -1;
    if (make_folder(path, err) == 0 && lock(path, arena, &file, err) == 0 && remove_stale(path, err) == 0)
        fd = make_socket(path, &file, err);
    if (fd < 0 && file.lock_fd >= 0)
        close(file.lock_fd);
    if (fd >= 0)
        *out_file = file;
    return fd;
}

void socket_file_close(struct socket_file *file)
{
    struct stat about;
    if (file->lock_fd < 0)
        return;
    if (lstat(file->path, &about) == 0 && about.st_dev == file->device && about.st_ino == file->inode)
        unlink(file->path);
    close(file->lock_fd);
    file->lock_fd = -1;
}
