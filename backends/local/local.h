// The local backend: pods are processes of this machine, each hung on a supervisor (supervisor/README.md) that outlives
// the server. The machine is one node.
#pragma once
#include "backends/backend.h"
#include "backends/local/mig.h"
#include <sys/types.h>

struct nvml;

enum {
    LOCAL_GROUPS_MAX = 64
};

struct local_options {
    const char *home;        // the folder of the pods' folders; absolute; created where it is missing
    const char *cgroup_name; // of the folder of the pods' cgroups; one server's own
    const char *supervisor;  // the supervisor's path
    const char *mpi_agent;   // beside it: what mpirun calls in place of ssh
    const char *node_name;   // of this machine
    struct nvml *nvml;       // watches the devices; NULL: there is nothing to watch. The backend closes it
    bool avoids_foreign;     // nothing is placed on a device with processes that nobody submitted
    bool kills_over_memory;  // a pod that uses more of a shared device than its part is ended, not only warned of
    int64_t gpu_memory_mib;  // of one device
    const char *const *gpus; // CUDA's names of the devices, by index
    size_t gpu_count;
    const struct mig_instance *mig; // instances of GPUs that are divided; these GPUs are not among the devices
    size_t mig_count;
    // Whom commands run as; the server's own user where it is not root.
    bool changes_user;
    uid_t user;
    gid_t groups[LOCAL_GROUPS_MAX]; // the first is the user's own
    int group_count;
    const char *user_name;
    const char *user_home;
    int64_t log_file_max, log_total_max; // bytes, of one pod
    int64_t log_kept_ms;                 // after a pod's end
};

// ERROR_INVALID: the folder cannot be used, or the supervisor is not there. All texts must outlive the backend.
int local_create(const struct local_options *options, struct backend *out_backend, struct error *err);
