#include "daemon/data_folder.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_folder(const char *path, struct error *err)
{
    struct stat info;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode))
        return error_set(err, ERROR_INVALID, "%s: not a folder", path);
    if (access(path, R_OK | W_OK | X_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if ((info.st_mode & 0077) != 0 && chmod(path, 0700) < 0)
        return error_set(err, ERROR_INVALID, "%s: others can read it, and its mode cannot be changed: %s", path,
                         strerror(errno));
    return 0;
}

// Makes path and what leads to it; only the last folder is ours alone.
static int make_parents(const char *path, struct arena *arena, struct error *err)
{
    char *copy = arena_strdup(arena, path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0755) < 0 && errno != EEXIST)
            return error_set(err, ERROR_INVALID, "%s: %s", copy, strerror(errno));
        *slash = '/';
    }
    return make_folder(path, err);
}

static int take_lock(const char *path, int *out_fd, struct error *err)
{
    char holder[32] = "";
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        ssize_t length = read(fd, holder, sizeof(holder) - 1);
        holder[length > 0 ? strcspn(holder, "\n") : 0] = '\0';
        close(fd);
        return error_set(err, ERROR_INVALID, "%s: held by another server, process %s", path,
                         *holder ? holder : "unknown");
    }
    int length = snprintf(holder, sizeof(holder), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || write(fd, holder, (size_t)length) != length) {
        error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    *out_fd = fd;
    return 0;
}

int data_folder_open(const char *path, struct arena *arena, struct data_folder *out_folder, struct error *err)
{
    int fd = -1;
    if (make_parents(path, arena, err) < 0 || take_lock(arena_printf(arena, "%s/lock", path), &fd, err) < 0)
        return -1;
    *out_folder = (struct data_folder){
        .path = path,
        .database = arena_printf(arena, "%s/prorata.db", path),
        .keys = arena_printf(arena, "%s/keys", path),
        .journal = arena_printf(arena, "%s/journal", path),
        .refused = arena_printf(arena, "%s/refused", path),
        .lock_fd = fd,
    };
    return 0;
}

void data_folder_close(struct data_folder *folder)
{
    close(folder->lock_fd);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void data_folder_remove(const struct data_folder *folder)
{
    nftw(folder->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
