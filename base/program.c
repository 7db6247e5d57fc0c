#include "base/program.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BY_SIGNAL = 128
};

const char *program_path(struct arena *arena, struct error *err)
{
    char *path = arena_alloc(arena, PATH_MAX);
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0) {
        error_set(err, ERROR_INTERNAL, "cannot find this program's own path: %s", strerrordesc_np(errno));
        return NULL;
    }
    path[length] = '\0';
    return path;
}

int program_wait(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}
