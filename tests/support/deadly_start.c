// Preloaded into a server: while the file named by $DEADLY is there, opening a file of the name "deadly", and starting
// a program with the word "deadly" in its arguments, ends the process.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                char *const[]) =
        (int (*)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                 char *const[]))dlsym(RTLD_NEXT, "posix_spawn");
    for (size_t i = 0; argv[i]; i++)
        die_if(strstr(argv[i], "deadly") != NULL);
    return real(pid, path, actions, attributes, argv, environment);
}
