#include "backends/local/pods/pod_use.h"

#include "base/arena.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_MAX = 3000, // lines of memory.stat that count are in its first 2 KB
    STAT_MAX = 1024,
    NUMBER_BASE = 10,
    US_IN_S = 1000 * 1000,
    NS_IN_US = 1000,
    // Numbers behind the name in /proc/PID/stat, from 0: the state, the parent, ...
    FIELD_PARENT = 1,
    FIELD_USER = 11,
    FIELD_SYSTEM = 12,
    FIELD_CHILDREN_USER = 13,
    FIELD_CHILDREN_SYSTEM = 14,
    FIELD_RESIDENT = 21,
    FIELD_COUNT = 22
};
static const int64_t NUMBER_MAX = INT64_MAX / 16; // sums of some stay in range

// Digits from at on; *out_next stands behind them. False: there are none, or the number is too large.
static bool read_digits(const char *at, const char *end, int64_t *out_number, const char **out_next)
{
    int64_t number = 0;
    const char *begin = at;
    for (; at < end && isdigit((unsigned char)*at); at++) {
        number = number * NUMBER_BASE + (*at - '0');
        if (number > NUMBER_MAX)
            return false;
    }
    *out_number = number;
    *out_next = at;
    return at > begin;
}

static bool read_line_of_digits(const char *at, const char *end, int64_t *out_number)
{
    int64_t number;
    const char *next;
    if (!read_digits(at, end, &number, &next) || next == end || *next != '\n')
        return false;
    *out_number = number;
    return true;
}

bool pod_use_parse_number(const char *text, size_t length, int64_t *out_number)
{
    return read_line_of_digits(text, text + length, out_number);
}

bool pod_use_parse_word(const char *text, size_t length, const char *word, int64_t *out_number)
{
    size_t word_length = strlen(word);
    for (const char *at = text, *end = text + length; at < end;) {
        if ((size_t)(end - at) > word_length && memcmp(at, word, word_length) == 0 && at[word_length] == ' ')
            return read_line_of_digits(at + word_length + 1, end, out_number);
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    return false;
}

// The name in brackets is the process's own choice, and may hold anything: what counts stands behind its last bracket.
bool pod_use_parse_process(const char *text, size_t length, struct process_use *out_process)
{
    int64_t fields[FIELD_COUNT] = {0}, pid;
    const char *end = text + length, *next, *at = memrchr(text, ')', length);
    if (!at || length == 0 || end[-1] != '\n' || !read_digits(text, end, &pid, &next) || pid > INT32_MAX)
        return false;
    at++;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (at >= end || *at != ' ')
            return false;
        at++;
        const char *stop = at;
        while (stop < end && *stop != ' ' && *stop != '\n')
            stop++;
        bool is_number = read_digits(at, stop, &fields[i], &next) && next == stop;
        fields[i] = is_number ? fields[i] : -1; // the state is a letter, and some numbers are negative
        at = stop;
    }
    static const int WANTED[] = {FIELD_PARENT,          FIELD_USER,    FIELD_SYSTEM, FIELD_CHILDREN_USER,
                                 FIELD_CHILDREN_SYSTEM, FIELD_RESIDENT};
    for (size_t i = 0; i < sizeof(WANTED) / sizeof(WANTED[0]); i++)
        if (fields[WANTED[i]] < 0)
            return false;
    if (fields[FIELD_PARENT] > INT32_MAX)
        return false;
    *out_process = (struct process_use){.pid = (pid_t)pid,
                                        .parent = (pid_t)fields[FIELD_PARENT],
                                        .cpu_ticks = fields[FIELD_USER] + fields[FIELD_SYSTEM],
                                        .children_ticks = fields[FIELD_CHILDREN_USER] + fields[FIELD_CHILDREN_SYSTEM],
                                        .resident_pages = fields[FIELD_RESIDENT]};
    return true;
}

static size_t read_file(int folder_fd, const char *path, char *text, size_t size)
{
    int fd = openat(folder_fd, path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got; fd >= 0 && length < size && (got = read(fd, text + length, size - length)) > 0;)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    return length;
}

// A number of a file of the pod's cgroup: the file's only one, or the one behind a word. -1: there is none.
static int64_t read_cgroup(const char *folder, const char *uuid, const char *name, const char *word)
{
    char path[CGROUP_PATH_SIZE + 128], text[FILE_MAX];
    int64_t number;
    if (!folder[0])
        return -1;
    snprintf(path, sizeof(path), "%s/%s/%s", folder, uuid, name);
    size_t length = read_file(AT_FDCWD, path, text, word ? sizeof(text) : STAT_MAX);
    bool is_there =
        word ? pod_use_parse_word(text, length, word, &number) : pod_use_parse_number(text, length, &number);
    return is_there ? number : -1;
}

static int64_t working_set(int64_t used, int64_t inactive_file)
{
    if (used < 0 || inactive_file < 0)
        return -1;
    return used > inactive_file ? used - inactive_file : 0;
}

void pod_use_read_cgroups(const struct cgroups *cgroups, const char *uuid, struct pod_use *out_use)
{
    const char *v1_cpu = cgroups->v1.paths[CGROUPS_V1_CPU], *v1_memory = cgroups->v1.paths[CGROUPS_V1_MEMORY];
    out_use->cpu_us = read_cgroup(cgroups->path, uuid, "cpu.stat", "usage_usec");
    out_use->memory_bytes = -1;
    if (out_use->cpu_us < 0) {
        int64_t cpu_ns = read_cgroup(v1_cpu, uuid, "cpuacct.usage", NULL);
        out_use->cpu_us = cpu_ns < 0 ? -1 : cpu_ns / NS_IN_US;
    }
    if (cgroups->has_memory)
        out_use->memory_bytes = working_set(read_cgroup(cgroups->path, uuid, "memory.current", NULL),
                                            read_cgroup(cgroups->path, uuid, "memory.stat", "inactive_file"));
    if (out_use->memory_bytes < 0)
        out_use->memory_bytes = working_set(read_cgroup(v1_memory, uuid, "memory.usage_in_bytes", NULL),
                                            read_cgroup(v1_memory, uuid, "memory.stat", "total_inactive_file"));
}

// A process, and which root it is below.
struct placed {
    struct process_use process;
    ssize_t root; // by place in the list of roots; ROOT_NONE: below none; ROOT_UNKNOWN: not looked for yet
};

enum {
    ROOT_NONE = -1,
    ROOT_UNKNOWN = -2
};

struct tree {
    struct placed *placed; // by pid
    size_t count;
    const pid_t *roots;
    size_t root_count;
};

static int compare_processes(const void *a, const void *b)
{
    const struct process_use *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

static struct placed *find(const struct tree *tree, pid_t pid)
{
    size_t low = 0, high = tree->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tree->placed[middle].process.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tree->count && tree->placed[low].process.pid == pid ? &tree->placed[low] : NULL;
}

static ssize_t find_root(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->root_count; i++)
        if (tree->roots[i] == pid)
            return (ssize_t)i;
    return ROOT_NONE;
}

// Goes up until something is known; then all on the way know it, too. A ring, which only torn reading can show, ends.
static ssize_t place(const struct tree *tree, struct placed *from)
{
    struct placed *top = from;
    ssize_t root = ROOT_NONE;
    for (size_t steps = 0; top && steps <= tree->count; steps++) {
        if (top->root != ROOT_UNKNOWN) {
            root = top->root;
            break;
        }
        root = find_root(tree, top->process.parent);
        if (root != ROOT_NONE)
            break;
        top = find(tree, top->process.parent);
    }
    for (struct placed *at = from; at && at->root == ROOT_UNKNOWN; at = find(tree, at->process.parent)) {
        at->root = root;
        if (at == top)
            break;
    }
    return root;
}

void pod_use_sum_processes(struct process_use *processes, size_t process_count, const pid_t *roots, size_t count,
                           struct arena *arena, struct pod_use *out_uses)
{
    struct tree tree = {arena_array(arena, process_count, sizeof(*tree.placed)), process_count, roots, count};
    int64_t ticks_in_s = sysconf(_SC_CLK_TCK), page_bytes = sysconf(_SC_PAGESIZE);
    if (process_count)
        qsort(processes, process_count, sizeof(*processes), compare_processes);
    for (size_t i = 0; i < process_count; i++)
        tree.placed[i] = (struct placed){processes[i], ROOT_UNKNOWN};
    for (size_t i = 0; i < count; i++)
        out_uses[i] = (struct pod_use){-1, -1};
    for (size_t i = 0; i < process_count; i++) {
        const struct process_use *process = &tree.placed[i].process;
        ssize_t own = find_root(&tree, process->pid);
        ssize_t root = own != ROOT_NONE ? own : place(&tree, &tree.placed[i]);
        if (root == ROOT_NONE)
            continue;
        struct pod_use *use = &out_uses[root];
        if (use->cpu_us < 0)
            *use = (struct pod_use){0};
        use->cpu_us += ((own == ROOT_NONE ? process->cpu_ticks : 0) + process->children_ticks) * (US_IN_S / ticks_in_s);
        use->memory_bytes += own == ROOT_NONE ? process->resident_pages * page_bytes : 0;
    }
}

void pod_use_read_processes(const pid_t *roots, size_t count, struct arena *arena, struct pod_use *out_uses)
{
    struct process_use *processes = NULL;
    size_t process_count = 0, capacity = 0;
    char path[300], text[STAT_MAX];
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "%s/stat", entry->d_name);
        size_t length = read_file(dirfd(folder), path, text, sizeof(text));
        processes = arena_grow(arena, processes, &capacity, process_count + 1, sizeof(*processes));
        process_count += pod_use_parse_process(text, length, &processes[process_count]);
    }
    if (folder)
        closedir(folder);
    pod_use_sum_processes(processes, process_count, roots, count, arena, out_uses);
}
