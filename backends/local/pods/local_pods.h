// The local backend's pods: by uuid, and in the order in which they wait to be started.
#pragma once
#include "backends/local/pods/container_keeper.h"
#include "backends/local/specification/launch.h"
#include "backends/local/specification/ports.h"
#include "base/arena.h"

enum local_phase {
    LOCAL_ASKING,   // whether its image is used is not known yet
    LOCAL_QUEUED,   // to be started by the thread
    LOCAL_STARTING, // its supervisor was started
    LOCAL_RUNNING,
    LOCAL_STUCK,   // its supervisor is gone, and a process of it does not end
    LOCAL_LEAVING, // its processes are over; the driver has not let go of its devices
    LOCAL_LOST,    // its end was told, though a process of it does not end: its devices go to nobody
    LOCAL_OVER     // reported; kept until it is forgotten
};

// What it uses, as it was looked at and told last.
struct local_load {
    int64_t looked_us;               // monotonic; 0: not yet
    int64_t cpu_us;                  // then
    int64_t cpu_milli, memory_bytes; // as told; -1: not
};

struct local_pod {
    char uuid[UUID_SIZE];
    char workload_uuid[UUID_SIZE]; // "": it was not started by this server
    enum local_phase phase;
    int64_t decision;  // the latest order about it
    bool is_stopping;  // was told to
    bool is_forgotten; // nobody waits for its end
    bool is_stray;     // no row asks for it
    int64_t grace_ms;
    int64_t told_ms;           // when it was told to stop, or its supervisor was found gone; 0: it was not
    bool is_forced;            // the server kills it, for its supervisor does not
    pid_t unkilled;            // a process of it that does not end; 0: none is known
    pid_t unkilled_supervisor; // where even that one does not
    bool is_late;              // what its start waits for was told
    char name[96];             // "": not known any more
    pid_t supervisor;
    int pidfd;                    // of the supervisor; -1: none
    gid_t group;                  // its own, which all its processes have; 0: none
    int64_t user;                 // that it runs as, where the server is root; -1: not known
    uint64_t gpus;                // it holds, by index
    uint64_t mig_instances;       // likewise
    int64_t gpu_memory_limit_mib; // of each of them; 0: none
    bool reaches_workload;        // the launcher of an MPI workload: its processes run with the devices of all its pods
    int64_t memory_bytes;         // its bound of the machine's; 0: none
    bool is_memory_default;       // the site's, and not asked for
    bool has_own_shm;             // its shared memory is not the host's
    struct ports ports;           // of a distributed workload
    double utilization;           // as told last; -1: not
    int32_t gpu_memory_mib[BACKEND_DEVICES_MAX]; // that it uses of each device, likewise
    struct local_load load;
    char runtime[256]; // runs it in a container, in cgroups of its own; "": none does
    struct container_keeper keeper;
    pid_t port_holder; // the process that a stream to a port of it went to last; 0: none did
    bool is_warned;
    uint64_t warned_gpus;       // that its processes use though it does not hold them, by index
    char about[112];            // its user and runtime; "": unknown now
    const char *failure_reason; // why it is being ended by this backend; NULL: it is not
    char failure_message[128];
    struct backend_fact end;        // held back while it is leaving
    struct arena arena;             // of launch; empty once it was started. Of a stray: of whose it is
    const char *project, *workload; // of a stray; "": not known
    int64_t since_ms;               // likewise; 0: not known
    const char *record;             // likewise: what its rows can be made from; NULL: is not there
    int64_t over_ms;                // when one of them ended
    struct launch launch;
    struct local_pod *next_in_slot;
    struct local_pod *next_queued;
    struct local_pod *next_removed;
};

struct local_pods {
    struct local_pod **slots;
    size_t slot_count; // a power of two
    size_t count;
    struct local_pod *first_queued, *last_queued;
    struct local_pod *removed; // not freed yet
};

void local_pods_init(struct local_pods *pods);
void local_pods_done(struct local_pods *pods); // closes what they hold; processes go on
struct local_pod *local_pods_find(const struct local_pods *pods, const char *uuid);
struct local_pod *local_pods_add(struct local_pods *pods, const char *uuid);
// Takes it out and closes its descriptor. Its memory stays until local_pods_free_removed: an event about it may have
// been fetched already.
void local_pods_remove(struct local_pods *pods, struct local_pod *pod);
void local_pods_free_removed(struct local_pods *pods);
// What it keeps of its launch, which goes when it has started.
void local_pod_follow_launch(struct local_pod *pod);
void local_pods_queue(struct local_pods *pods, struct local_pod *pod);
struct local_pod *local_pods_take_queued(struct local_pods *pods); // NULL: none waits
// All, in any order: NULL starts, NULL ends. The one returned may be removed by the caller after asking for the next.
struct local_pod *local_pods_next(const struct local_pods *pods, const struct local_pod *pod);
