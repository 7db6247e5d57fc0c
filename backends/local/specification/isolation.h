// Whether pods can have shared memory, /tmp and /var/tmp of their own (supervisor/isolate.h), and what of it a pod
// gets.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;

enum {
    ISOLATION_REASON_SIZE = 128
};

// How large /dev/shm of a workload's pods is, all together: what bounds their memory, and never more than half the
// machine's: then a file does not fit, and nobody is killed. 0 for the bound: there is none.
int64_t isolation_shm_bytes(int64_t machine_bytes, int64_t bound_bytes, int64_t pod_count);
// Where the daemon of NVIDIA's MPS listens.
const char *isolation_mps_folder(void);

// Tries it in a process of its own: false, and why not, for people.
bool isolation_is_possible(char out_reason[ISOLATION_REASON_SIZE]);

// What a supervisor is told.
struct isolation {
    int64_t shm_bytes;   // 0: the host's shared memory
    const char *place;   // NULL: the host's /tmp
    const char *kept[4]; // folders that stay the host's; NULL: none there
};
// Makes the pod's own folders, root's until the supervisor hands them over.
int isolation_make(const struct isolation *isolation, struct error *err);
