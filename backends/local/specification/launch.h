// A pod's specification as a command to start: words, environment, folder, volumes, user; and its start.
#pragma once
#include "backends/local/cgroups/cgroups.h"
#include "backends/local/images/images.h"
#include "backends/local/local.h"
#include "backends/local/specification/ports.h"
#include "backends/local/specification/volumes.h"
#include "backends/local/users/users.h"

struct arena;
struct isolation;
struct local_pods;

struct launch {
    struct local_user user;
    const char *home;            // a folder of the workload's own, to be made; NULL: the user's
    char **command, **arguments; // the specification's words; ends with NULL
    char **argv;                 // what is started
    char **environment;          // of the pod's processes
    char **rights_environment;   // of what keeps rights: the server's own; NULL: nothing does
    size_t machine_variables;    // so many of it, in front, are about this machine and mean nothing in an image
    const char *devices;         // their names, parted by commas
    const char *folder;          // working folder on the machine
    const char *image_folder;    // working folder in an image; NULL: the image's own
    char **before;               // further words; NULL: none
    char **pre_stop;
    int64_t grace_ms; // to stop, where the order's own cannot be read
    char **after;
    const char *container;        // the runtime's program; NULL: runs on the machine itself
    const char *environment_file; // its text, for a container; NULL: none
    bool keeps_rights;            // argv drops them itself
    bool holds_host_paths;        // its supervisor opens them for a container's runtime
    gid_t group;                  // the pod's own, among the user's; 0: none
    uint64_t gpus;                // it holds, by index
    const char *project, *workload;
    const char *record; // to be kept beside it; NULL: nothing
    struct ports ports; // of a distributed workload; of an inference, its own: one to serve at, one for metrics
    uint64_t mig_instances;
    int64_t pod_count; // of its workload
    pid_t join;        // the supervisor of another pod of it, whose shared memory it is to have; 0: none
    unsigned long long join_start;
    bool reaches_workload; // its processes run with the devices of all pods of its workload
    struct cgroup_bounds bounds;
    struct volumes volumes;
    const char *image;
    enum image_pull pull;
    bool has_large_shm, is_read_only, is_unconfined, shares_ipc; // in an image
    bool needs_machine;                                          // an image cannot be used
    const uint16_t *listens;                                     // ports that it says it listens on
    size_t listen_count;
    const char *spec_json;
    const char *runtime;      // the name of the program that runs the image; NULL: it is not used
    const char *image_note;   // why it is not; NULL: nothing to say
    const char *const *notes; // what is not as the specification has it
    size_t note_count;
};

// launch_check.c: what no pod on this machine could be given. ERROR_INVALID names the field.
int launch_check(const struct local_options *options, const struct backend_pod *pod, struct error *err);
// launch_read.c. Everything in *out lives in the arena. ERROR_INVALID: cannot be started here; the message says why.
// The other pods are asked which ports are theirs.
int launch_read(const struct local_options *options, const struct local_pods *pods, const struct backend_pod *pod,
                struct arena *arena, struct launch *out_launch, struct error *err);
// container.c: decides how it starts: with the runtime that the answer names, or on the machine itself.
// ERROR_INVALID: neither is possible.
int launch_decide(const struct local_options *options, const char *uuid, const struct image_answer *answer,
                  unsigned unbounded, struct arena *arena, struct launch *launch, struct error *err);
// launch_handover.c: what is said of it, as its supervisor reads it (supervisor/handover.h): a sealed file without a
// name, which the caller closes. ERROR_INVALID: there is too much of it.
int launch_hand_over(const struct launch *launch, const struct isolation *isolation, int *out_fd, struct error *err);
// launch.c. Starts the supervisor in the pod's folder, which must be open and hold nothing yet. Returns its process;
// -1: err.
pid_t launch_start(const struct local_options *options, const struct cgroups *cgroups, const char *uuid, int home_fd,
                   int folder_fd, const struct launch *launch, struct error *err);
