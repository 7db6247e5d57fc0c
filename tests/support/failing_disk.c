// Preloaded into a server: while the file named by $FAILING_DISK is there, reading prorata.db and its log fails with
// EIO where that file says "read", and writing where it says "write". Where it says "hold END" a write waits, a minute
// at most, to files of prorata.db whose names end so.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pread64(int fd, void *data, size_t length, off64_t offset);
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset);

static int reads_wish(int fd, char path[512], char wish[64])
{
    char link[64];
    const char *order = getenv("FAILING_DISK");
    int order_fd = order ? open(order, O_RDONLY | O_CLOEXEC) : -1;
    if (order_fd < 0)
        return 0;
    ssize_t length = read(order_fd, wish, 63), path_length;
    close(order_fd);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (length <= 0 || (path_length = readlink(link, path, 511)) < 0)
        return 0;
    wish[length] = path[path_length] = '\0';
    return strstr(path, "/prorata.db") != NULL;
}

static int fails(int fd, const char *what)
{
    char path[512], wish[64];
    if (!reads_wish(fd, path, wish) || strcmp(wish, what) != 0)
        return 0;
    errno = EIO;
    return 1;
}

static void wait_while_held(int fd)
{
    char path[512], wish[64];
    for (int tries = 0; tries < 6000 && reads_wish(fd, path, wish) && strncmp(wish, "hold ", 5) == 0; tries++) {
        size_t end = strlen(wish + 5), length = strlen(path);
        if (length < end || strcmp(path + length - end, wish + 5) != 0)
            return;
        usleep(10000);
    }
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset)
{
    ssize_t (*real)(int, void *, size_t, off64_t) =
        (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    return fails(fd, "read") ? -1 : real(fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    wait_while_held(fd);
    return fails(fd, "write") ? -1 : real(fd, data, length, offset);
}
