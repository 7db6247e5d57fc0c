// Where a process comes from, as the kernel alone tells it: its cgroup, its groups, and the processes above it. None of
// these can a process of a pod change, so they say whose it is; what is in its environment says nothing.
#pragma once
#include "backends/local/users/uid_range.h"
#include "base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    ORIGIN_ABOVE_MAX = 16
};

struct origin_places {
    const char *cgroups;     // the folder of the pods' cgroups (cgroup v2); "": there is none
    struct uid_range groups; // of which each pod has one of its own
};

struct origin {
    pid_t pid;
    bool is_over;                  // gone, or nothing of it runs
    char cgroup_pod[UUID_SIZE];    // whose cgroup it is in; "": no pod's of this server
    gid_t group;                   // of the range; 0: none
    pid_t above[ORIGIN_ABOVE_MAX]; // its parent, that one's parent, ...; of very many the last ones
    size_t above_count;            // 0 until they were asked for
};

// A process that is gone comes from nowhere. Reads two files of /proc; any thread.
void origin_read(const struct origin_places *places, pid_t pid, struct origin *out_origin);
// The processes above it: as many files more.
void origin_read_above(struct origin *origin);
