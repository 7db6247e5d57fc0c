// What a pod has to itself though it is no container, where the supervisor is root: shared memory (/dev/shm, System V's
// and POSIX's), which ends with the pod, and /tmp and /var/tmp. By namespaces of mounts and of IPC, into which the
// supervisor goes before it starts anything; what the host mounts later is seen, and nothing of it leaks to the host.
// Pods of one workload share their memory, as their processes do where there are no pods: NCCL takes processes with
// another /dev/shm for another machine's, and goes by the network.
#pragma once
#include "supervisor/command.h"

struct isolation {
    int64_t shm_bytes;  // of /dev/shm, with an IPC of its own; 0: the host's
    pid_t join;         // the supervisor of another pod of the workload, whose shared memory it is; 0: none
    int64_t join_start; // its start time
    const char *place;  // a folder of the pod's own, below which tmp and var-tmp are; NULL: the host's
    int host_fd;        // set: the host's namespace of mounts; -1: the pod has no other
};

// Makes this process's namespaces; what is to be kept of the host's /tmp and /var/tmp is handed over, beside the
// command's own folder and its needs. False: *out_errno and *out_what say why not. Nothing holds it up for longer than
// options->await says.
bool isolate(struct isolation *isolation, const struct command_options *options, int *out_errno, const char **out_what);
// Goes back to the host's mounts.
void isolate_leave(const struct isolation *isolation);
