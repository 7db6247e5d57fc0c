#include "supervisor/rest.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    PROCESSES_MAX = 32768,
    PIDS_MAX = 1 << 22 // the kernel's own bound
};

struct process {
    pid_t pid, parent;
};

struct below { // the processes below this one, each once
    struct process items[PROCESSES_MAX];
    size_t count;
    unsigned char is_listed[PIDS_MAX / 8];
};

static bool write_to_cgroup(const char *cgroup, const char *name)
{
    char path[2048];
    if (!cgroup || snprintf(path, sizeof(path), "%s/%s", cgroup, name) >= (int)sizeof(path))
        return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, "1", 1) == 1;
    if (fd >= 0)
        close(fd);
    return is_written;
}

static void add(struct below *below, pid_t pid, pid_t parent)
{
    unsigned char *byte = &below->is_listed[(pid % PIDS_MAX) / 8], bit = (unsigned char)(1 << pid % 8);
    if (*byte & bit)
        return;
    *byte |= bit;
    below->items[below->count++] = (struct process){pid, parent};
}

static void add_from(struct below *below, const char *path, pid_t parent)
{
    static char text[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    for (char *at = text, *end; below->count < PROCESSES_MAX; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at || pid <= 0)
            break;
        add(below, (pid_t)pid, parent);
    }
}

// Each thread has a list of its own.
static void add_children(struct below *below, pid_t pid)
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, entry->d_name);
        add_from(below, path, pid);
    }
    if (threads)
        closedir(threads);
}

static int parent_of(pid_t pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *after_name = strrchr(text, ')');
    return after_name && sscanf(after_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

// A number may have passed to a stranger meanwhile: the process is held, and its parent looked at, before.
static void send(const struct process *process, int number)
{
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd < 0)
        return;
    int parent = parent_of(process->pid);
    if (parent == process->parent || parent == getpid())
        (void)syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
    close(fd);
}

// What is stopped has all its children already: each process is looked at once, until no new one turns up. One whose
// parent ended in between has become a child of this process.
static void stop_all(struct below *below)
{
    // A thousand processes leave a thousandth of the processor to who stops them; where root allows it, all of one.
    struct sched_param first = {.sched_priority = 1}, usual = {0};
    bool is_first = sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0;
    size_t before, at = 0;
    do {
        before = below->count;
        add_children(below, getpid());
        for (; at < below->count; at++) {
            send(&below->items[at], SIGSTOP);
            add_children(below, below->items[at].pid);
        }
    } while (below->count > before);
    if (is_first)
        (void)sched_setscheduler(0, SCHED_OTHER, &usual);
}

bool rest_kill(const char *cgroup)
{
    static struct below below;
    for (size_t i = 0; i < below.count; i++) // of the last time
        below.is_listed[(below.items[i].pid % PIDS_MAX) / 8] = 0;
    below.count = 0;
    if (!write_to_cgroup(cgroup, "cgroup.kill")) {
        (void)write_to_cgroup(cgroup, "cgroup.freeze"); // SIGKILL reaches what is frozen
        stop_all(&below);
    }
    add_children(&below, getpid());
    for (size_t i = 0; i < below.count; i++)
        send(&below.items[i], SIGKILL);
    return below.count > 0;
}
