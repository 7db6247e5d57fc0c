// Bounds of pods by cgroup v2, where the server may have some: root, or a systemd unit with Delegate=yes. A pod's
// cgroup also names all its processes, whatever became of their parents. (Kernel documentation: admin-guide/cgroup-v2.)
// A controller that v2 lacks is taken from cgroup v1, where it can be had there (cgroups_v1.h).
#pragma once
#include "backends/local/cgroups/cgroups_v1.h"
#include <stdbool.h>

struct cgroups {
    char path[CGROUP_PATH_SIZE]; // the folder of the pods' cgroups; "": there is none
    bool has_memory, has_cpu;    // controllers that bound them
    bool has_pids;               // likewise: processes
    struct cgroups_v1 v1;        // what v2 has no controller for
    char reason[128];            // for people: what is not possible, and why; "": all is
};

// What there is, without changing anything: for people who ask.
struct cgroups_view {
    char path[CGROUP_PATH_SIZE]; // this process's own cgroup; "": cgroup v2 is not mounted
    bool is_writable;            // cgroups can be made below it
    bool has_memory, has_cpu;    // controllers that reach it
    bool has_pids;
    bool has_v1[CGROUPS_V1_COUNT]; // v1's could be used instead
};

void cgroups_look(struct cgroups_view *out_view);
// Makes the folder, named after `name`, with the controllers that are to be had. Never fails: reason says what is
// missing.
void cgroups_open(const char *name, struct cgroups *out_cgroups);
// Removes the folder where no pod is left.
void cgroups_close(const struct cgroups *cgroups);
// Of v2, v1 or nothing: what bounds pods, for people.
const char *cgroups_memory_by(const struct cgroups *cgroups); // NULL: nothing
const char *cgroups_cpu_by(const struct cgroups *cgroups);
const char *cgroups_pids_by(const struct cgroups *cgroups);
// Makes the pod's cgroup of v2 and writes its path; false: without.
bool cgroups_create(const struct cgroups *cgroups, const char *uuid, const struct cgroup_bounds *bounds,
                    char out_path[CGROUP_PATH_SIZE]);
// Kills every process of the pod's cgroup and removes it. Where there is none, nothing happens.
void cgroups_remove(const struct cgroups *cgroups, const char *uuid);
