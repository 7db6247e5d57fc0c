// CPU and memory that all of this machine uses, as the kernel counts them: of the CPUs that the server may run on,
// which are the node's, and of the memory all that is not available. The parsers take any bytes; a line counts only
// with its end.
#pragma once
#include "backends/local/pods/pod_use.h"

#include <sched.h>

// /proc/stat: ticks since the start in which these CPUs were busy. False: it says nothing of them.
bool machine_use_parse_stat(const char *text, size_t length, const cpu_set_t *cpus, int64_t *out_ticks);
// /proc/meminfo. False: it does not say.
bool machine_use_parse_meminfo(const char *text, size_t length, int64_t *out_bytes);

// Reads both; -1 where it is not known.
void machine_use_read(struct arena *arena, struct pod_use *out_use);
