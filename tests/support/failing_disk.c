// Preloaded into a server: while the file named by $FAILING_DISK is there, reading prorata.db and its log fails with EIO
// where that file says "read", and writing where it says "write".
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

static int fails(int fd, const char *what)
{
    char link[64], path[512] = "", wish[16] = "";
    const char *order = getenv("FAILING_DISK");
    int order_fd = order ? open(order, O_RDONLY | O_CLOEXEC) : -1;
    if (order_fd < 0)
        return 0;
    ssize_t length = read(order_fd, wish, sizeof(wish) - 1);
    close(order_fd);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (length <= 0 || strcmp(wish, what) != 0 || readlink(link, path, sizeof(path) - 1) < 0 || !strstr(path, "/prorata.db"))
        return 0;
    errno = EIO;
    return 1;
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset)
{
    ssize_t (*real)(int, void *, size_t, off64_t) = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
    return fails(fd, "read") ? -1 : real(fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return fails(fd, "write") ? -1 : real(fd, data, length, offset);
}
