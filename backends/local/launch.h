// A pod's specification as a command to start: words, environment, folder.
#pragma once
#include "backends/local/cgroups.h"
#include "backends/local/local.h"
#include "backends/local/ports.h"

struct arena;
struct local_pods;

struct launch {
    char **argv;
    char **environment;
    const char *folder;   // working folder
    const char *pre_stop; // NULL: none
    int64_t grace_ms;     // to stop, where the order's own cannot be read
    struct ports ports;   // of a distributed workload
    uint64_t mig_instances;
    struct cgroup_bounds bounds;
};

// Everything in *out lives in the arena. ERROR_INVALID: cannot be started on a machine without containers; the message
// says why. The other pods are asked which ports are theirs.
int launch_read(const struct local_options *options, const struct local_pods *pods, const struct backend_pod *pod,
                struct arena *arena, struct launch *out_launch, struct error *err);
// Starts the supervisor in the pod's folder, which must be open and hold nothing yet. Returns its process; -1: err.
pid_t launch_start(const struct local_options *options, const struct cgroups *cgroups, const char *uuid, int home_fd,
                   int folder_fd, const struct launch *launch, struct error *err);
