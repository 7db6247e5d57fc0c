#include "backends/local/specification/isolation.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0711,
    OWN_MODE = 0700,
    PATH_SIZE = 2048
};

// A copy of a process with threads: system calls alone.
static int try_it(void)
{
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC) < 0 || mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return errno;
    int tree = open_tree(AT_FDCWD, "/tmp", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 || move_mount(tree, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
        (mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=4k") < 0 && errno != ENOENT))
        return errno;
    return 0;
}

bool isolation_is_possible(char out_reason[ISOLATION_REASON_SIZE])
{
    int status = -1;
    out_reason[0] = '\0';
    if (geteuid() != 0) {
        snprintf(out_reason, ISOLATION_REASON_SIZE, "the server is not root");
        return false;
    }
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_it());
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(out_reason, ISOLATION_REASON_SIZE, "namespaces cannot be made: %s",
             strerror(pid < 0             ? errno
                      : WIFEXITED(status) ? WEXITSTATUS(status)
                                          : EIO));
    return false;
}

const char *isolation_mps_folder(void)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    return folder ? folder : "/tmp/nvidia-mps";
}

int64_t isolation_shm_bytes(int64_t machine_bytes, int64_t bound_bytes, int64_t pod_count)
{
    int64_t half = machine_bytes / 2, count = pod_count > 0 ? pod_count : 1;
    return !bound_bytes || bound_bytes > half / count ? half : bound_bytes * count;
}

int isolation_make(const struct isolation *isolation, struct error *err)
{
    static const char *const NAMES[] = {"", "/tmp", "/var-tmp"};
    char path[PATH_SIZE];
    for (size_t i = 0; isolation->place && i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", isolation->place, NAMES[i]);
        if (mkdir(path, i == 0 ? FOLDER_MODE : OWN_MODE) == 0 ? chmod(path, i == 0 ? FOLDER_MODE : OWN_MODE) < 0
                                                              : i > 0 || errno != EEXIST)
            return error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    }
    return 0;
}
