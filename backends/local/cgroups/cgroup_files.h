// What cgroups of v2 and of v1 have in common: a pod's bounds, and how a folder and a file of one are written.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
    CGROUP_PATH_SIZE = 512,
    CGROUP_PROCESSES_MAX = 4096 // of a pod, threads among them
};

struct cgroup_bounds {
    int64_t memory_bytes;   // 0: none
    bool is_memory_default; // the site's, and not asked for
    int64_t cpu_milli;      // at most; 0: none
    int64_t cpu_weight;     // share when cores are short: 1 to 10000
};

// Makes a folder below which, whatever this process's umask, pods find their own bounds. False: there is none.
bool cgroups_make_folder(const char *path);
// A bound in a file of a cgroup's folder. False where it was not taken.
bool cgroups_write(const char *folder, const char *name, const char *text);
