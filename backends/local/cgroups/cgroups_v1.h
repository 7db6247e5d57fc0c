// The controllers of cgroup v1, for machines where v2 is mounted without them: each controller has a tree of its own,
// and a pod a folder in each. (Kernel documentation: admin-guide/cgroup-v1.)
#pragma once
#include "backends/local/cgroups/cgroup_files.h"
#include <stddef.h>

enum cgroups_v1_tree {
    CGROUPS_V1_MEMORY,
    CGROUPS_V1_CPU,
    CGROUPS_V1_PIDS,
    CGROUPS_V1_DEVICES, // opened only where v2 cannot hold pods to their GPUs
    CGROUPS_V1_COUNT
};

struct cgroups_v1 {
    char paths[CGROUPS_V1_COUNT][CGROUP_PATH_SIZE]; // the folder of the pods' cgroups in the tree; "": there is none
};

// Makes the folder of the pods' cgroups in a tree, named after `name`. False where it cannot be had.
bool cgroups_v1_open(struct cgroups_v1 *v1, enum cgroups_v1_tree tree, const char *name);
// Whether it could, without changing anything.
bool cgroups_v1_look(enum cgroups_v1_tree tree);
void cgroups_v1_close(const struct cgroups_v1 *v1);
// Makes the pod's cgroups with their bounds; how many.
size_t cgroups_v1_create(const struct cgroups_v1 *v1, const char *uuid, const struct cgroup_bounds *bounds,
                         char out_paths[CGROUPS_V1_COUNT][CGROUP_PATH_SIZE]);
// Kills what is in them, and removes them.
void cgroups_v1_remove(const struct cgroups_v1 *v1, const char *uuid);
