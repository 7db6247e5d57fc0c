// What a command has started and left: ended whole, however fast it forks.
#pragma once
#include <stdbool.h>

// Kills every process below this one, and those of the cgroup (NULL: none): by cgroup.kill where the kernel has it
// (5.14), else what is there is frozen (cgroup.freeze, 5.2) or stopped one by one first, for then it starts nothing.
// False where no child is left.
bool rest_kill(const char *cgroup);
