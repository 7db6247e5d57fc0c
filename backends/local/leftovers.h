// Processes of pods whose supervisor was killed: they are found by the pod's uuid in their environment.
#pragma once
#include <stddef.h>
#include <sys/types.h>

// Sends SIGKILL to the process group of `leader` (0: none), and to every process that carries PRORATA_POD=uuid, until
// none is left. Returns how many were found.
size_t leftovers_kill(const char *uuid, pid_t leader);
