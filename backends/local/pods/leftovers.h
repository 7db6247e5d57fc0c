// What is left of a pod whose supervisor was killed, where no cgroup holds it together. Two marks, which no process of
// a pod can take off: the group that each pod has of its own (a supplementary one, as Grid Engine's gid_range gives to
// jobs); and, where the server may give none, the session of its command, which a process can leave.
#pragma once
#include <stddef.h>
#include <sys/types.h>

struct leftovers {
    gid_t group;                   // the pod's own; 0: none
    pid_t session;                 // its command's; 0: not known
    unsigned long long started_at; // of its command, in clock ticks since boot
};

// Sends SIGKILL to all of them until none is left. Who has the group and lives below a supervisor is another server's,
// and goes on. Returns how many were found.
size_t leftovers_kill(const struct leftovers *leftovers);
// The same once, without waiting for anything; *out_first is one of them where it was 0.
size_t leftovers_kill_once(const struct leftovers *leftovers, pid_t *out_first);
