// Preloaded into a server: while the file named by $DEADLY is there, opening a file of the name "deadly", and starting
// a supervisor with the word "deadly" in what it is handed over, ends the process.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int handover = -1; // the memfd that was made last

static void die_if(int is_deadly)
{
    const char *order = getenv("DEADLY");
    if (is_deadly && order && access(order, F_OK) == 0)
        abort();
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    const char *name = strrchr(path, '/');
    va_list rest;
    va_start(rest, flags);
    unsigned mode = va_arg(rest, unsigned);
    va_end(rest);
    die_if(strcmp(name ? name + 1 : path, "deadly") == 0);
    return real(path, flags, mode);
}

int memfd_create(const char *name, unsigned flags)
{
    int (*real)(const char *, unsigned) = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
    handover = real(name, flags);
    return handover;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                char *const[]) =
        (int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                 char *const[]))dlsym(RTLD_NEXT, "posix_spawn");
    static char text[1 << 20];
    ssize_t length = pread(handover, text, sizeof(text), 0);
    die_if(length > 0 && memmem(text, (size_t)length, "deadly", 6) != NULL);
    return real(pid, path, actions, attributes, argv, environment);
}
