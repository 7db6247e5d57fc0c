// The process that a container's runtime keeps beside a container, as whose child its first process runs: podman's
// conmon, docker's shim. What is below it are the container's processes.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct container_keeper {
    pid_t pid; // 0: not known
    unsigned long long start;
    int asks; // how often the runtime was asked in vain
};

// Asks the runtime where it is not known, or gone: that takes a moment, and is given up after some times. False: nobody
// knows it.
bool container_keeper_find(struct container_keeper *keeper, const char *runtime, const char *pod_uuid);
