// What a pod's folder says of it (supervisor/pod_folder.h).
#pragma once
#include "backends/local/specification/ports.h"
#include "supervisor/pod_folder.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pod_state {
    pid_t supervisor; // 0: has not written
    unsigned long long supervisor_start;
    char boot[64];
    pid_t pid; // 0: not running yet
    unsigned long long start;
    int64_t running_ms;
    char container[256]; // the runtime that runs it in a container; "": none does
    char waits_for[64];  // a start that takes long; "": it does not
    bool is_refused, is_ended;
    int64_t over_ms;
    int refused_errno;
    char refused_what[64];
    int exit_code; // -1: by a signal
    int signal;
    bool was_out_of_memory;
    bool was_machine_out; // of memory, and not the pod of its bound
    bool has_holdings;    // what follows was written down
    uint64_t gpus;        // by index
    char project[128], workload[128];
    struct ports ports;
    gid_t group;              // the pod's own
    int64_t user;             // that it runs as, where the server was root; -1: not known
    bool is_launcher;         // of an MPI workload
    bool has_own_shm;         // its shared memory is not the host's
    int64_t memory_bytes;     // its bound; 0: none
    bool is_memory_default;   // the site's, and not asked for
    char mig[POD_RECORD_MAX]; // UUIDs of MIG instances, with commas
};

// Reads the records; what is not there stays 0, or -1. False where there is no such file.
bool pod_state_read(int folder_fd, struct pod_state *out_state);
// Whether the supervisor's lock is held, that is: whether it lives.
bool pod_state_is_locked(int folder_fd);
// The start time of a process in clock ticks since boot; 0 where there is none.
unsigned long long pod_state_start_time(pid_t pid);
// The id of the present boot.
void pod_state_boot(char boot[64]);
