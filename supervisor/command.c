#include "supervisor/command.h"

#include "supervisor/host_places.h"
#include "supervisor/removal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SESSION_START_MS = 2000,
    GROUPS_MAX = 256
};

// What failed on the way to exec, as the child tells it; before that what it may have to wait for.
struct failure {
    int code; // errno; 0: has not failed yet
    char what[64];
};

static _Noreturn void fail(int failure_fd, const char *what)
{
    struct failure failure = {.code = errno};
    snprintf(failure.what, sizeof(failure.what), "%s", what);
    (void)!write(failure_fd, &failure, sizeof(failure));
    _exit(127);
}

// Names the program; its name is the user's, and goes into a line of text.
static _Noreturn void fail_command(int failure_fd, const char *name)
{
    struct failure failure = {.code = errno};
    snprintf(failure.what, sizeof(failure.what), "command %s", name);
    for (char *at = failure.what; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    (void)!write(failure_fd, &failure, sizeof(failure));
    _exit(127);
}

static void tell_stage(int failure_fd, const char *what)
{
    struct failure stage = {.code = 0};
    snprintf(stage.what, sizeof(stage.what), "%s", what);
    (void)!write(failure_fd, &stage, sizeof(stage));
}

static void enter_cgroup(const char *cgroup, int failure_fd)
{
    char path[2048];
    snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        fail(failure_fd, "cgroup");
    close(fd);
}

static void set_limits(const struct command_options *options, int failure_fd)
{
    struct rlimit no_core = {0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core) < 0)
        fail(failure_fd, "limit of core files");
    struct rlimit data = {(rlim_t)options->memory_bytes, (rlim_t)options->memory_bytes};
    if (options->memory_bytes > 0 && setrlimit(RLIMIT_DATA, &data) < 0)
        fail(failure_fd, "limit of memory");
    struct rlimit processes = {(rlim_t)options->process_count, (rlim_t)options->process_count};
    if (options->process_count > 0 && setrlimit(RLIMIT_NPROC, &processes) < 0)
        fail(failure_fd, "limit of processes");
}

// What the user cannot reach would fail in ways that are hard to read.
static void check_needs(const struct command_options *options, int failure_fd)
{
    size_t count;
    for (char *const *need = handover_list(&options->said, HANDOVER_NEED, &count); *need; need++) {
        tell_stage(failure_fd, *need);
        if (access(*need, R_OK) < 0)
            fail(failure_fd, *need);
    }
}

static void drop_rights(const struct command_options *options, int failure_fd)
{
    if (options->changes_user) {
        if (setgroups((size_t)options->group_count, options->groups) < 0 || setgid(options->group) < 0 ||
            setuid(options->user) < 0)
            fail(failure_fd, "user");
        if (setuid(0) == 0) { // the way back must be shut
            errno = EPERM;
            fail(failure_fd, "user");
        }
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        fail(failure_fd, "rights");
}

// With the rights of whoever asks. A folder that is mounted when it is used is mounted by this.
static int open_need(const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR)
        fd = open(path, O_PATH | O_CLOEXEC);
    // Kernels before 5.8 cannot tell whether it can be read: in the container it is the user who tries.
    if (fd < 0 || faccessat(fd, "", R_OK, AT_EMPTY_PATH | AT_EACCESS) == 0 || errno == ENOSYS || errno == EINVAL)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

// Opens what a container is given of the machine, with the rights of the pod's user and none beside them, and has all
// rights again. A capability would lead through another's /proc/PID/cwd, and /proc/self/cwd to where the server is.
static size_t open_needs_of_user(const struct command_options *options, int needs[HANDOVER_NEEDS_MAX], int failure_fd)
{
    gid_t groups[GROUPS_MAX], group = getegid();
    size_t count, opened = 0;
    int group_count = getgroups(GROUPS_MAX, groups);
    if (group_count < 0 || chdir("/") < 0 || setgroups((size_t)options->group_count, options->groups) < 0 ||
        setegid(options->group) < 0 || seteuid(options->user) < 0)
        fail(failure_fd, "user");
    for (char *const *need = handover_list(&options->said, HANDOVER_NEED, &count); *need; need++) {
        tell_stage(failure_fd, *need);
        needs[opened] = open_need(*need);
        if (needs[opened++] < 0)
            fail(failure_fd, *need);
    }
    if (seteuid(0) < 0 || setegid(group) < 0 || setgroups((size_t)group_count, groups) < 0)
        fail(failure_fd, "user");
    return opened;
}

// Where the runtime is told to find it.
static void put_needs(const struct command_options *options, const int needs[], size_t opened, int failure_fd)
{
    size_t count;
    char *const *paths = handover_list(&options->said, HANDOVER_NEED, &count);
    int places = host_places_make(options->host_places, options->uuid);
    if (places < 0)
        fail(failure_fd, "host paths in an image need mounts (CAP_SYS_ADMIN)");
    for (size_t i = 0; i < opened; i++) {
        tell_stage(failure_fd, paths[i]);
        if (!host_places_put(places, needs[i], i + 1))
            fail(failure_fd, paths[i]);
    }
}

static bool keeps_rights(const struct command_options *options, enum command_part part)
{
    return part == COMMAND_AFTER || part == COMMAND_CLEAR || (part != COMMAND_BEFORE && options->keeps_rights);
}

// What has rights gets the variables that the server chose for it, else two that are always the same.
static char *const *environment_of(const struct command_options *options, enum command_part part)
{
    static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", language[] = "LC_ALL=C";
    static char *const FIXED[] = {path, language, NULL};
    size_t count;
    if (!keeps_rights(options, part))
        return handover_list(&options->said, HANDOVER_VARIABLE, &count);
    char *const *chosen = handover_list(&options->said, HANDOVER_RIGHTS_VARIABLE, &count);
    return count > 0 ? chosen : FIXED;
}

// A child of its own: there may be much to remove, on a file system that does not answer.
static _Noreturn void clear_folder(const struct command_options *options)
{
    struct stat about;
    if (options->host_places)
        host_places_remove(options->host_places, options->uuid);
    int fd = options->scratch ? open(options->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &about) == 0)
        removal_remove(fd, about.st_dev, options->uuid);
    _exit(0);
}

static void take_terminal(const struct command_options *options, int fd, int failure_fd)
{
    if (options->changes_user && fchown(fd, options->user, (gid_t)-1) < 0)
        fail(failure_fd, "terminal");
    if (ioctl(fd, TIOCSCTTY, 0) < 0)
        fail(failure_fd, "terminal");
}

void command_reset_signals(void)
{
    static const char usual[64]; // the kernel's struct: SIG_DFL, no flags, an empty mask
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)syscall(SYS_rt_sigaction, number, usual, NULL,
                      sizeof(uint64_t)); // refused for two that cannot be ignored
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *folder_of(const struct command_options *options, enum command_part part)
{
    size_t count;
    bool is_users = part == COMMAND_MAIN || part == COMMAND_PRE_STOP || part == COMMAND_SESSION;
    return is_users ? handover_list(&options->said, HANDOVER_FOLDER, &count)[0] : "/";
}

static _Noreturn void run_child(const struct command_options *options, enum command_part part, char *const *argv,
                                const struct command_stdio *stdio, int failure_fd, pid_t supervisor)
{
    int needs[HANDOVER_NEEDS_MAX];
    size_t need_count = 0;
    setsid();
    if (stdio->is_terminal)
        take_terminal(options, stdio->input, failure_fd);
    tell_stage(failure_fd, "cgroup");
    if (options->cgroup)
        enter_cgroup(options->cgroup, failure_fd);
    for (int i = 0; i < options->cgroup_v1_count; i++)
        enter_cgroup(options->cgroups_v1[i], failure_fd);
    set_limits(options, failure_fd);
    if (keeps_rights(options, part)) {
        if (part == COMMAND_MAIN && options->host_places)
            need_count = open_needs_of_user(options, needs, failure_fd);
    } else {
        drop_rights(options, failure_fd);
        if (part == COMMAND_MAIN)
            check_needs(options, failure_fd);
    }
    // After the change of user, which clears it; the supervisor may have died before.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != supervisor)
        fail(failure_fd, "supervisor");
    if (need_count > 0)
        put_needs(options, needs, need_count, failure_fd);
    umask(022); // not that of the server, which keeps secrets
    tell_stage(failure_fd, "working folder");
    if (chdir(folder_of(options, part)) < 0)
        fail(failure_fd, "working folder");
    if (part == COMMAND_CLEAR) {
        close(failure_fd); // as exec does
        clear_folder(options);
    }
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(stdio->input >= 0 ? stdio->input : nothing, STDIN_FILENO) < 0 ||
        dup2(stdio->output >= 0 ? stdio->output : nothing, STDOUT_FILENO) < 0 ||
        dup2(stdio->error >= 0 ? stdio->error : nothing, STDERR_FILENO) < 0)
        fail(failure_fd, "output");
    tell_stage(failure_fd, "command");
    command_reset_signals();
    environ = (char **)environment_of(options, part); // also where the command is looked for
    execvp(argv[0], argv);
    fail_command(failure_fd, argv[0]);
}

// A file system that does not answer may hold up the child for ever, with whatever it looks at. False: it was killed.
static bool await(const struct command_options *options, enum command_part part, pid_t pid, int fd, const char *what)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    if (part != COMMAND_SESSION)
        return options->await(options->context, pid, fd, what);
    if (poll(&wanted, 1, SESSION_START_MS) != 0)
        return true;
    kill(pid, SIGKILL);
    return false;
}

// Whether it was started; else out_failure says why not.
static bool has_started(const struct command_options *options, enum command_part part, pid_t pid, int fd,
                        struct failure *out_failure)
{
    struct failure told = {.code = 0};
    *out_failure = told;
    for (;;) {
        bool is_late = !await(options, part, pid, fd, out_failure->what);
        if (!is_late && read(fd, &told, sizeof(told)) != (ssize_t)sizeof(told)) // ends with exec
            return true;
        *out_failure = is_late ? *out_failure : told;
        if (is_late)
            out_failure->code = ETIMEDOUT;
        if (out_failure->code)
            return false;
    }
}

static pid_t start(const struct command_options *options, enum command_part part, char *const *argv,
                   const struct command_stdio *stdio, int *out_errno, const char **out_what)
{
    static struct failure failure;
    int ends[2];
    *out_what = "process";
    if (pipe2(ends, O_CLOEXEC) < 0) {
        *out_errno = errno;
        return -1;
    }
    pid_t supervisor = getpid();
    pid_t pid = fork();
    if (pid == 0)
        run_child(options, part, argv, stdio, ends[1], supervisor);
    *out_errno = errno;
    close(ends[1]);
    // The one before the stop has nothing to say: when it is over, the command is told.
    bool is_good = pid < 0 || part == COMMAND_PRE_STOP || has_started(options, part, pid, ends[0], &failure);
    close(ends[0]);
    if (is_good)
        return pid;
    *out_errno = failure.code;
    *out_what = failure.what;
    return -1;
}

pid_t command_start(const struct command_options *options, enum command_part part, int output_fd, int *out_errno,
                    const char **out_what)
{
    static const enum handover_kind WORDS[] = {[COMMAND_BEFORE] = HANDOVER_BEFORE,
                                               [COMMAND_MAIN] = HANDOVER_COMMAND,
                                               [COMMAND_PRE_STOP] = HANDOVER_PRE_STOP,
                                               [COMMAND_AFTER] = HANDOVER_AFTER};
    bool is_silent = part == COMMAND_AFTER; // a runtime says which container it has removed
    struct command_stdio stdio = {-1, is_silent ? -1 : output_fd, is_silent ? -1 : output_fd, false};
    size_t count;
    *out_errno = 0;
    if (part == COMMAND_CLEAR)
        return options->scratch || options->host_places ? start(options, part, NULL, &stdio, out_errno, out_what) : -1;
    char *const *words = handover_list(&options->said, WORDS[part], &count);
    return count > 0 ? start(options, part, words, &stdio, out_errno, out_what) : -1;
}

pid_t command_start_session(const struct command_options *options, char *const *argv, const struct command_stdio *stdio,
                            int *out_errno, const char **out_what)
{
    return start(options, COMMAND_SESSION, argv, stdio, out_errno, out_what);
}
