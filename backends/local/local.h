// The local backend: pods are processes of this machine, each hung on a supervisor (supervisor/README.md) that outlives
// the server. The machine is one node.
#pragma once
#include "backends/backend.h"
#include "backends/local/cgroups/memory_bound.h"
#include "backends/local/images/images.h"
#include "backends/local/pods/log_table.h"
#include "backends/local/specification/mig.h"
#include "backends/local/users/users.h"

struct nvml;
struct place_book; // base/places.h

enum local_stray {
    LOCAL_STRAY_AUTO, // ended where devices cannot be held, else warned of
    LOCAL_STRAY_WARN,
    LOCAL_STRAY_KILL
};

struct local_options {
    const char *home;        // the folder of the pods' folders; absolute; created where it is missing
    const char *cgroup_name; // of the folder of the pods' cgroups, and in that of host places; one server's own
    const char *supervisor;  // the supervisor's path
    const char *mpi_agent;   // beside it: what mpirun calls in place of ssh
    const char *node_name;   // of this machine
    struct nvml *nvml;       // watches the devices; NULL: there is nothing to watch. The backend closes it
    bool avoids_foreign;     // nothing is placed on a device with processes that nobody submitted
    bool kills_over_memory;  // a pod that uses more of a shared device than its part is ended, not only warned of
    enum local_stray strays; // what becomes of a pod that uses a device which it does not hold
    int64_t gpu_memory_mib;  // of one device
    const char *const *gpus; // CUDA's names of the devices, by index
    size_t gpu_count;
    const struct mig_instance *mig; // instances of GPUs that are divided; these GPUs are not among the devices
    size_t mig_count;
    int64_t memory_bytes;                 // that pods get, all together
    struct memory_default memory_default; // of a pod that names no limit
    bool has_private_tmp;                 // pods have a /tmp of their own, where it is possible
    bool isolates;                        // it is: found out by local_create
    struct user_rules users;              // the users that pods run as
    const char *data;                     // the data folder: its secrets and config maps
    const struct backend_vault *vault;    // other secrets; NULL: none
    const char *scratch_above;            // the folder that the next one is in
    const char *scratch;                  // the folder of the pods' own volumes, this server's alone
    const char *homes;                    // beside it: the folder of workloads' homes
    const char *images_folder;            // where images are kept as files
    int64_t image_bytes;                  // they may take together; 0: any amount
    enum image_policy images;
    struct log_bounds logs;
    int64_t home_project;          // bytes that a project's homes may take before it gets nothing new; 0: any
    const char *inference_address; // HOST:FIRST-LAST, of inferences
    const char *app_path;          // what browsers reach a port by, before ID/PORT/; NULL: by /
    struct place_book *places;     // outlives the backend; NULL: there are no figures
    int64_t unkillable_ms;         // how long beyond the grace a process may take to end
    int64_t disk_reserve;          // bytes that logs leave free, or a twentieth of the disk where that is less
};

// ERROR_INVALID: the folder cannot be used, or the supervisor is not there. All texts must outlive the backend.
int local_create(const struct local_options *options, struct backend *out_backend, struct error *err);
