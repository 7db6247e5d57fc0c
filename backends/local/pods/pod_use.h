// CPU and memory that pods use, as the kernel counts them: by the pod's cgroup (v2, else v1), else by the processes
// below its supervisor. Memory is what Kubernetes calls the working set: without pages of files that nothing has
// touched for long. The parsers take any bytes; a number counts only with the end of its line, so that nothing torn is
// believed.
#pragma once
#include "backends/local/cgroups/cgroups.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;

struct pod_use {
    int64_t cpu_us;       // since it began; -1: not known
    int64_t memory_bytes; // now; -1: not known
};

// A file that is one number. False: it is none.
bool pod_use_parse_number(const char *text, size_t length, int64_t *out_number);
// The number behind a word of a file of lines `WORD NUMBER`. False: there is none.
bool pod_use_parse_word(const char *text, size_t length, const char *word, int64_t *out_number);

// A process, by /proc/PID/stat.
struct process_use {
    pid_t pid, parent;
    int64_t cpu_ticks;      // its own
    int64_t children_ticks; // of its children that are over
    int64_t resident_pages;
};
bool pod_use_parse_process(const char *text, size_t length, struct process_use *out_process);

// Reads the pod's cgroups: at most five files.
void pod_use_read_cgroups(const struct cgroups *cgroups, const char *uuid, struct pod_use *out_use);

// What the processes below each of these use, in one pass over /proc: a file for each process of the machine. What
// several share counts in each. A root itself does not count.
void pod_use_read_processes(const pid_t *roots, size_t count, struct arena *arena, struct pod_use *out_uses);
// The same of processes that are told. Sorts them.
void pod_use_sum_processes(struct process_use *processes, size_t process_count, const pid_t *roots, size_t count,
                           struct arena *arena, struct pod_use *out_uses);
