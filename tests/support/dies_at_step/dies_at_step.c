// Preloaded into a program: it ends by SIGKILL before the step on the disk that $DIES_AT numbers, from 1. Steps are
// what changes a file, its name or what of it is on the disk.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

int fdatasync(int fd);
int ftruncate64(int fd, off64_t length);
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset);

static int steps;

static void *of_library(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static void step(void)
{
    const char *last = getenv("DIES_AT");
    if (last && ++steps == atoi(last))
        kill(getpid(), SIGKILL);
}

#define STEP(type, name, parameters, arguments)                         \
    type name parameters                                                \
    {                                                                   \
        type(*real) parameters = (type(*) parameters)of_library(#name); \
        step();                                                         \
        return real arguments;                                          \
    }

STEP(int, fsync, (int fd), (fd))
STEP(int, fdatasync, (int fd), (fd))
STEP(int, ftruncate64, (int fd, off64_t length), (fd, length))
STEP(int, rename, (const char *from, const char *to), (from, to))
STEP(int, unlink, (const char *path), (path))
STEP(ssize_t, write, (int fd, const void *data, size_t length), (fd, data, length))
STEP(ssize_t, pwrite64, (int fd, const void *data, size_t length, off64_t offset), (fd, data, length, offset))
