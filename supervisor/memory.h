// Memory that a pod's cgroups bound: whether it ran out of it. Under cgroup v2 the kernel ends such a pod whole
// (memory.oom.group); under v1 it ends one process, and the supervisor does the rest.
#pragma once
#include "supervisor/command.h"

// A descriptor that can be read when v1 finds the pod out of memory; -1: none.
int memory_watch(const struct command_options *options);
// It could be read: whether a process of the pod was killed, and not one of a cgroup beside it. Takes a moment.
bool memory_take(const struct command_options *options, int fd);
// Why the kernel killed a process of the pod for memory.
enum memory_end {
    MEMORY_END_NONE, // it did not
    MEMORY_END_BOUND,
    MEMORY_END_MACHINE // the bound was not reached: the whole machine, or what is around it, had none left
};
enum memory_end memory_end(const struct command_options *options);
