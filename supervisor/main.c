// One command, from its start to the end of its last process. Started by the server, without any variable:
//
//   prorata-supervisor --uuid UUID [OPTION VALUE]...
//
// and the descriptors of pod_folder.h. The options are numbers and paths of the server's own; all that a submission
// says, the command too, comes by a descriptor (handover.h). SIGTERM asks it to stop the command.
#include "supervisor/command.h"
#include "supervisor/isolate.h"
#include "supervisor/log_writer.h"
#include "supervisor/memory.h"
#include "supervisor/pod_folder.h"
#include "supervisor/rest.h"
#include "supervisor/segments.h"
#include "supervisor/sessions.h"
#include "supervisor/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 * 1024,
    EXIT_USAGE = 2,
    DEFAULT_GRACE_MS = 30000,
    START_MS = 120000,
    TELL_MS = 10000,
    AFTER_MS = 20000
};

struct supervisor {
    const char *uuid;
    bool is_understood; // what it was started with
    struct command_options command;
    struct isolation isolation;
    int64_t log_file_max, log_total_max;
    int64_t disk_reserve;
    struct log_writer log;
    struct sessions sessions;
    struct segments segments;
    int output[2]; // a pipe: the command's end is kept open for what it starts last, until the end
    int signals;
    int memory; // tells that the pod is out of it; -1: nothing does
    pid_t pid, pre_stop;
    bool is_running; // the main command, not the one before it
    bool is_over;    // the command's own process is
    int status;
    bool is_stopping, is_told; // asked to stop; and the command was told
    int64_t grace_ms;          // where the order to stop says nothing else
    int64_t kill_at_ms;        // monotonic; INT64_MAX: not stopping
    int64_t start_ms;          // how long a start may take
    int64_t tell_ms;           // after how long the server is told what it waits for
};

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool read_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && *out >= 0;
}

// UID:GID[,GID]...
static bool read_user(const char *text, struct command_options *command)
{
    char *end;
    command->changes_user = true;
    command->user = (uid_t)strtoul(text, &end, 10);
    if (end == text || *end != ':')
        return false;
    command->group = (gid_t)strtoul(end + 1, &end, 10);
    while (*end == ',' && command->group_count < COMMAND_GROUPS_MAX)
        command->groups[command->group_count++] = (gid_t)strtoul(end + 1, &end, 10);
    return *end == '\0' && command->user != 0;
}

// PID:START
static bool read_process(const char *text, struct isolation *isolation)
{
    char *end;
    isolation->join = (pid_t)strtol(text, &end, 10);
    return *end == ':' && isolation->join > 0 && read_number(end + 1, &isolation->join_start);
}

static bool read_option(struct supervisor *supervisor, const char *name, const char *value)
{
    if (strcmp(name, "--uuid") == 0)
        supervisor->uuid = supervisor->command.uuid = value;
    else if (strcmp(name, "--cgroup") == 0)
        supervisor->command.cgroup = value;
    else if (strcmp(name, "--cgroup-v1") == 0 && supervisor->command.cgroup_v1_count < COMMAND_CGROUPS_V1_MAX)
        supervisor->command.cgroups_v1[supervisor->command.cgroup_v1_count++] = value;
    else if (strcmp(name, "--shm") == 0)
        return read_number(value, &supervisor->isolation.shm_bytes);
    else if (strcmp(name, "--join") == 0)
        return read_process(value, &supervisor->isolation);
    else if (strcmp(name, "--place") == 0)
        supervisor->isolation.place = value;
    else if (strcmp(name, "--scratch") == 0)
        supervisor->command.scratch = value;
    else if (strcmp(name, "--keeps-rights") == 0)
        supervisor->command.keeps_rights = strcmp(value, "yes") == 0;
    else if (strcmp(name, "--host-places") == 0)
        supervisor->command.host_places = value;
    else if (strcmp(name, "--user") == 0)
        return read_user(value, &supervisor->command);
    else if (strcmp(name, "--grace") == 0)
        return read_number(value, &supervisor->grace_ms);
    else if (strcmp(name, "--start") == 0)
        return read_number(value, &supervisor->start_ms);
    else if (strcmp(name, "--tell") == 0)
        return read_number(value, &supervisor->tell_ms);
    else if (strcmp(name, "--memory") == 0)
        return read_number(value, &supervisor->command.memory_bytes);
    else if (strcmp(name, "--processes") == 0)
        return read_number(value, &supervisor->command.process_count);
    else if (strcmp(name, "--log-file-max") == 0)
        return read_number(value, &supervisor->log_file_max);
    else if (strcmp(name, "--disk-reserve") == 0)
        return read_number(value, &supervisor->disk_reserve);
    else if (strcmp(name, "--log-total-max") == 0)
        return read_number(value, &supervisor->log_total_max);
    else
        return false;
    return true;
}

static bool read_options(struct supervisor *supervisor, int argc, char **argv)
{
    bool is_known = argc % 2 == 1;
    for (int at = 1; at + 1 < argc; at += 2)
        is_known = read_option(supervisor, argv[at], argv[at + 1]) && is_known;
    return is_known && supervisor->uuid;
}

static void read_boot(char boot[64])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, boot, 63);
    if (fd >= 0)
        close(fd);
    boot[length > 0 ? length : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}

static bool open_all(struct supervisor *supervisor)
{
    sigset_t signals;
    char boot[64];
    close_range(POD_HANDOVER_FD + 1, UINT_MAX, 0);
    log_writer_init(&supervisor->log, POD_FOLDER_FD, supervisor->log_file_max, supervisor->log_total_max,
                    supervisor->disk_reserve);
    for (int fd = POD_STATE_FD; fd <= POD_HOME_FD; fd++)
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
            return false;
    setsid();
    command_reset_signals(); // an ignored SIGCHLD would leave nobody to wait for
    signal(SIGPIPE, SIG_IGN);
    sigfillset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    supervisor->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    supervisor->memory = memory_watch(&supervisor->command);
    read_boot(boot);
    return supervisor->signals >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 &&
           pipe2(supervisor->output, O_CLOEXEC) == 0 && fcntl(supervisor->output[0], F_SETFL, O_NONBLOCK) == 0 &&
           state_write("supervisor %d %llu %s", (int)getpid(), state_start_time(getpid()), boot);
}

// Takes what there is of output. False where there was none.
static bool take_output(struct supervisor *supervisor)
{
    static char text[READ_SIZE];
    ssize_t length = read(supervisor->output[0], text, sizeof(text));
    int64_t file_start = supervisor->log.file_start;
    if (length > 0)
        log_writer_add(&supervisor->log, text, (size_t)length);
    if (supervisor->log.file_start > file_start) // the server bounds all logs together
        state_wake(supervisor->uuid);
    return length > 0;
}

static void tell_command(struct supervisor *supervisor)
{
    supervisor->is_told = true;
    if (!supervisor->is_over && supervisor->pid > 0 && kill(-supervisor->pid, SIGTERM) < 0)
        kill(supervisor->pid, SIGTERM); // it has just been made, and leads no group yet
}

static void begin_stop(struct supervisor *supervisor)
{
    char text[32] = "";
    int64_t grace_ms;
    int fd = openat(POD_FOLDER_FD, POD_STOP_FILE, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? strcspn(text, "\n") : 0] = '\0';
    if (!read_number(text, &grace_ms))
        grace_ms = supervisor->grace_ms;
    int64_t kill_at_ms = monotonic_ms() + grace_ms;
    if (!supervisor->is_stopping || kill_at_ms < supervisor->kill_at_ms) // a second order may only shorten it
        supervisor->kill_at_ms = kill_at_ms;
    if (supervisor->is_stopping)
        return;
    supervisor->is_stopping = true;
    int code;
    const char *what;
    supervisor->pre_stop = supervisor->is_running ? command_start(&supervisor->command, COMMAND_PRE_STOP,
                                                                  supervisor->output[1], &code, &what)
                                                  : -1;
    if (supervisor->pre_stop < 0)
        tell_command(supervisor);
}

// As waitpid. What is over and has the machine's shared memory is looked at before it goes.
static pid_t wait_for_any(struct supervisor *supervisor, int *out_status)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return -1;
    if (info.si_pid && !supervisor->isolation.shm_bytes)
        segments_note(&supervisor->segments, info.si_pid);
    return info.si_pid ? waitpid(info.si_pid, out_status, WNOHANG) : 0;
}

static void reap(struct supervisor *supervisor)
{
    int status;
    for (pid_t pid; (pid = wait_for_any(supervisor, &status)) > 0;) {
        if (pid == supervisor->pid) {
            supervisor->is_over = true;
            supervisor->status = status;
        } else if (pid == supervisor->pre_stop && !supervisor->is_told) {
            tell_command(supervisor);
        } else {
            sessions_reap(&supervisor->sessions, pid, status);
        }
    }
}

static void take_signals(struct supervisor *supervisor)
{
    struct signalfd_siginfo info;
    while (read(supervisor->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM)
            begin_stop(supervisor);
        else if (info.ssi_signo == SIGUSR1)
            sessions_connect(&supervisor->sessions, supervisor->uuid, supervisor->is_running);
        else
            reap(supervisor);
    }
}

// Whether a further descriptor (-1: none) can be read.
static bool wait_for_something(struct supervisor *supervisor, int timeout_ms, int further_fd)
{
    enum {
        OWN_COUNT = 4
    };
    struct pollfd fds[OWN_COUNT + POD_SESSIONS_MAX] = {{.fd = supervisor->output[0], .events = POLLIN},
                                                       {.fd = supervisor->signals, .events = POLLIN},
                                                       {.fd = further_fd, .events = POLLIN},
                                                       {.fd = supervisor->memory, .events = POLLIN}};
    int sessions = sessions_poll(&supervisor->sessions, fds + OWN_COUNT);
    if (poll(fds, OWN_COUNT + (nfds_t)sessions, timeout_ms) <= 0)
        return false;
    if (fds[3].revents && memory_take(&supervisor->command, supervisor->memory))
        (void)rest_kill(supervisor->command.cgroup);
    if (sessions > 0)
        sessions_take(&supervisor->sessions, &supervisor->command);
    if (fds[0].revents)
        (void)take_output(supervisor);
    if (fds[1].revents)
        take_signals(supervisor);
    return fds[2].revents != 0;
}

static int left_until(int64_t end_ms)
{
    int64_t left = end_ms == INT64_MAX ? INT_MAX : end_ms - monotonic_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

// A part is being started: an order to stop is taken, and neither it nor the limit waits for a file system.
static bool await_start(void *context, pid_t pid, int fd, const char *what)
{
    struct supervisor *supervisor = context;
    int64_t late_at_ms = monotonic_ms() + supervisor->start_ms, tell_at_ms = monotonic_ms() + supervisor->tell_ms;
    supervisor->pid = pid;
    for (;;) {
        bool stops_first = supervisor->is_stopping && supervisor->kill_at_ms < late_at_ms;
        int64_t until_ms = stops_first ? supervisor->kill_at_ms : late_at_ms;
        bool tells_first = tell_at_ms < until_ms;
        int left = left_until(tells_first ? tell_at_ms : until_ms);
        if (left > 0 && wait_for_something(supervisor, left, fd))
            return true;
        if (left > 0)
            continue;
        if (tells_first) {
            state_write("waits %" PRId64 " %s", state_now_ms(), what);
            state_wake(supervisor->uuid);
            tell_at_ms = INT64_MAX;
            continue;
        }
        kill(pid, SIGKILL);
        (void)rest_kill(supervisor->command.cgroup);
        if (!stops_first)
            return false;
        supervisor->kill_at_ms = INT64_MAX;
        late_at_ms = monotonic_ms() + supervisor->start_ms;
    }
}

static void live(struct supervisor *supervisor)
{
    while (!supervisor->is_over) {
        int64_t left = supervisor->is_stopping ? supervisor->kill_at_ms - monotonic_ms() : -1;
        if (supervisor->is_stopping && left <= 0) {
            kill(-supervisor->pid, SIGKILL);
            if (supervisor->pre_stop > 0)
                kill(-supervisor->pre_stop, SIGKILL);
            (void)rest_kill(supervisor->command.cgroup);
            supervisor->kill_at_ms = INT64_MAX;
            continue;
        }
        (void)wait_for_something(supervisor, left < 0 ? -1 : left > INT_MAX ? INT_MAX : (int)left, -1);
    }
}

// The command is over: nothing that it started may stay.
static void clear(struct supervisor *supervisor)
{
    int status;
    kill(-supervisor->pid, SIGKILL);
    for (;;) {
        while (take_output(supervisor)) {
        }
        (void)rest_kill(supervisor->command.cgroup);
        pid_t pid = wait_for_any(supervisor, &status);
        if (pid < 0 && errno == ECHILD)
            break;
        if (pid > 0)
            sessions_reap(&supervisor->sessions, pid, status);
        (void)wait_for_something(supervisor, 10, -1); // a process in the kernel's hands may take its time
    }
    while (take_output(supervisor)) {
    }
}

// Runs a part to its end with all it has started.
static bool run_part(struct supervisor *supervisor, enum command_part part, int *out_errno, const char **out_what)
{
    supervisor->is_over = false;
    supervisor->pid = command_start(&supervisor->command, part, supervisor->output[1], out_errno, out_what);
    if (supervisor->pid < 0)
        return false;
    if (part == COMMAND_MAIN) {
        supervisor->is_running = true;
        state_write("running %d %llu %" PRId64, (int)supervisor->pid, state_start_time(supervisor->pid),
                    state_now_ms());
        state_wake(supervisor->uuid);
    }
    live(supervisor);
    supervisor->is_running = false; // no further session
    clear(supervisor);
    return true;
}

static void write_end(const struct supervisor *supervisor)
{
    bool exited = WIFEXITED(supervisor->status);
    state_write("ended %" PRId64 " %d %d %d", state_now_ms(), exited ? WEXITSTATUS(supervisor->status) : -1,
                exited ? 0 : WTERMSIG(supervisor->status), (int)memory_end(&supervisor->command));
}

// What has to be done before: a storage that is fetched. False: it could not, or everything was stopped meanwhile.
static bool prepare(struct supervisor *supervisor, int *out_errno, const char **out_what)
{
    size_t count;
    (void)handover_list(&supervisor->command.said, HANDOVER_BEFORE, &count);
    if (count == 0)
        return true;
    if (!run_part(supervisor, COMMAND_BEFORE, out_errno, out_what))
        return false;
    if (!supervisor->is_stopping && supervisor->status == 0)
        return true;
    *out_errno = 0;
    *out_what = "the storage could not be prepared: the log says why";
    return false;
}

// An order to stop that came earlier told nobody: the command would run through its whole grace. It ends as one that
// the order reaches in its first instant.
static bool run_main(struct supervisor *supervisor, int *out_errno, const char **out_what)
{
    if (!supervisor->is_stopping)
        return run_part(supervisor, COMMAND_MAIN, out_errno, out_what);
    supervisor->status = SIGTERM; // as waitpid() tells it
    return true;
}

// Puts away what the command leaves elsewhere: a container, the pod's own folders. Nothing may hold it up for long.
static void put_away(struct supervisor *supervisor)
{
    int code, status = supervisor->status;
    const char *what;
    isolate_leave(&supervisor->isolation);
    supervisor->is_stopping = supervisor->is_told = true;
    for (enum command_part part = COMMAND_AFTER; part <= COMMAND_CLEAR; part++) {
        supervisor->kill_at_ms = monotonic_ms() + AFTER_MS;
        (void)run_part(supervisor, part, &code, &what);
    }
    supervisor->status = status;
}

// Nothing is done with a part of it. A server of before has a runtime look its host paths up again.
static bool take_over(struct supervisor *supervisor, int *out_errno, const char **out_what)
{
    const struct command_options *command = &supervisor->command;
    size_t needs = 0;
    bool is_whole = handover_read(POD_HANDOVER_FD, &supervisor->command.said);
    if (is_whole && command->keeps_rights && command->changes_user && !command->host_places)
        (void)handover_list(&command->said, HANDOVER_NEED, &needs);
    close(POD_HANDOVER_FD);
    *out_errno = 0;
    *out_what = "its supervisor is of another version: restart the server";
    return is_whole && supervisor->is_understood && needs == 0;
}

static int run(struct supervisor *supervisor)
{
    int code = errno;
    const char *what = "folder";
    supervisor->pid = supervisor->isolation.host_fd = -1;
    supervisor->command.await = await_start;
    supervisor->command.context = supervisor;
    bool is_open = open_all(supervisor), was_run = false;
    if (!is_open)
        code = errno;
    else if (take_over(supervisor, &code, &what) &&
             isolate(&supervisor->isolation, &supervisor->command, &code, &what) && prepare(supervisor, &code, &what))
        was_run = run_main(supervisor, &code, &what);
    segments_remove(&supervisor->segments);
    char why[64];
    snprintf(why, sizeof(why), "%s", what); // of this start, and not of the next one
    if (is_open)
        put_away(supervisor);
    if (was_run)
        write_end(supervisor);
    else
        state_write("refused %" PRId64 " %d %s", state_now_ms(), code, why);
    handover_done(&supervisor->command.said);
    for (int i = 0; i < supervisor->command.cgroup_v1_count; i++)
        (void)rmdir(supervisor->command.cgroups_v1[i]); // a server started elsewhere would not find it
    return was_run ? 0 : 1;                             // the server sees the end of this process
}

int main(int argc, char **argv)
{
    static struct supervisor supervisor = {.log_file_max = 16 << 20,
                                           .log_total_max = 128 << 20,
                                           .pre_stop = -1,
                                           .grace_ms = DEFAULT_GRACE_MS,
                                           .start_ms = START_MS,
                                           .tell_ms = TELL_MS,
                                           .kill_at_ms = INT64_MAX};
    supervisor.is_understood = read_options(&supervisor, argc, argv);
    if (!supervisor.uuid) {
        static const char USAGE[] = "prorata-supervisor is started by prorata, one for each pod; see its README\n";
        (void)!write(STDERR_FILENO, USAGE, sizeof(USAGE) - 1);
        return EXIT_USAGE;
    }
    return run(&supervisor);
}
