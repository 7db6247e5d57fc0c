#include "supervisor/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// What failed on the way to exec, as the child tells it.
struct failure {
    int code; // errno
    char what[64];
};

static _Noreturn void fail(int failure_fd, const char *what)
{
    struct failure failure = {.code = errno};
    snprintf(failure.what, sizeof(failure.what), "%s", what);
    (void)!write(failure_fd, &failure, sizeof(failure));
    _exit(127);
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
    const struct rlimit no_core = {0, 0};
    if (setrlimit(RLIMIT_CORE, &no_core) < 0)
        fail(failure_fd, "limit of core files");
    const struct rlimit data = {(rlim_t)options->memory_bytes, (rlim_t)options->memory_bytes};
    if (options->memory_bytes > 0 && setrlimit(RLIMIT_DATA, &data) < 0)
        fail(failure_fd, "limit of memory");
    const struct rlimit processes = {(rlim_t)options->process_count, (rlim_t)options->process_count};
    if (options->process_count > 0 && setrlimit(RLIMIT_NPROC, &processes) < 0)
        fail(failure_fd, "limit of processes");
}

// What the user cannot reach would fail in ways that are hard to read.
static void check_needs(const struct command_options *options, int failure_fd)
{
    for (int i = 0; i < options->need_count; i++)
        if (access(options->needs[i], R_OK) < 0)
            fail(failure_fd, options->needs[i]);
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

// A child of its own finds out: the one that keeps its rights could not tell.
static void check_needs_of_user(const struct command_options *options, int failure_fd)
{
    int status = 0;
    if (!options->changes_user || options->need_count == 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        drop_rights(options, failure_fd);
        check_needs(options, failure_fd);
        _exit(0);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status != 0)
        _exit(127); // it has said why
}

static bool keeps_rights(const struct command_options *options, enum command_part part)
{
    return part == COMMAND_AFTER || (part != COMMAND_BEFORE && options->keeps_rights);
}

static void take_terminal(const struct command_options *options, int fd, int failure_fd)
{
    if (options->changes_user && fchown(fd, options->user, (gid_t)-1) < 0)
        fail(failure_fd, "terminal");
    if (ioctl(fd, TIOCSCTTY, 0) < 0)
        fail(failure_fd, "terminal");
}

// Whatever started the server may ignore some: nohup does, and a shell for what it starts in the background.
static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL); // refused for some: those cannot be ignored
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void run_child(const struct command_options *options, enum command_part part, char *const *argv,
                                const struct command_stdio *stdio, int failure_fd, pid_t supervisor)
{
    setsid();
    if (stdio->is_terminal)
        take_terminal(options, stdio->input, failure_fd);
    if (options->cgroup)
        enter_cgroup(options->cgroup, failure_fd);
    set_limits(options, failure_fd);
    if (keeps_rights(options, part)) {
        if (part == COMMAND_MAIN)
            check_needs_of_user(options, failure_fd);
    } else {
        drop_rights(options, failure_fd);
        if (part == COMMAND_MAIN)
            check_needs(options, failure_fd);
    }
    // After the change of user, which clears it; the supervisor may have died before.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != supervisor)
        fail(failure_fd, "supervisor");
    umask(022); // not that of the server, which keeps secrets
    if (chdir(part == COMMAND_BEFORE || part == COMMAND_AFTER ? "/" : options->folder) < 0)
        fail(failure_fd, "working folder");
    int input = stdio->input >= 0 ? stdio->input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(stdio->output, STDOUT_FILENO) < 0 ||
        dup2(stdio->error, STDERR_FILENO) < 0)
        fail(failure_fd, "output");
    reset_signals();
    execvp(argv[0], argv);
    fail(failure_fd, "command");
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
    ssize_t length = pid < 0 ? 0 : read(ends[0], &failure, sizeof(failure)); // ends with exec
    close(ends[0]);
    if (pid < 0 || length != (ssize_t)sizeof(failure))
        return pid;
    *out_errno = failure.code;
    *out_what = failure.what;
    return -1;
}

pid_t command_start(const struct command_options *options, enum command_part part, int output_fd, int *out_errno,
                    const char **out_what)
{
    const char *const texts[COMMAND_AFTER + 1] = {
        [COMMAND_BEFORE] = options->before, [COMMAND_PRE_STOP] = options->pre_stop, [COMMAND_AFTER] = options->after};
    char shell[] = "/bin/sh", dash_c[] = "-c";
    const struct command_stdio stdio = {-1, output_fd, output_fd, false};
    *out_errno = 0;
    if (part == COMMAND_MAIN)
        return start(options, part, options->argv, &stdio, out_errno, out_what);
    char *text = texts[part] ? strdup(texts[part]) : NULL;
    char *const argv[] = {shell, dash_c, text, NULL};
    pid_t pid = text ? start(options, part, argv, &stdio, out_errno, out_what) : -1;
    free(text);
    return pid;
}

pid_t command_start_session(const struct command_options *options, char *const *argv, const struct command_stdio *stdio,
                            int *out_errno, const char **out_what)
{
    return start(options, COMMAND_SESSION, argv, stdio, out_errno, out_what);
}
