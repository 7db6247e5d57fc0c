// A backend makes pods real. The reconciler knows nothing else of it.
//
// Facts and orders pass each other: an order may be answered late, twice or never, and things change behind our back.
// So orders are idempotent and carry the decision's number, facts say what is the case (not what was asked), and
// whoever reads a fact that no longer matters ignores it. What rows say and what the backend really runs are compared
// once, by adopt, after every start.
//
// An implementation embeds nothing of the database: what it must know of a pod is handed over with each call, and what
// it learns goes out as facts.
#pragma once
#include "base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct error;

// A pod as rows know it. Texts belong to the caller and end with the call.
struct backend_pod {
    const char *uuid;
    const char *name;
    const char *role; // worker, master
    int64_t index;
    int64_t attempt;
    const char *workload_uuid;
    const char *workload_name;
    const char *workload_type;
    const char *submitted_by; // who submitted it
    const char *machine_user; // and which user of this machine he is: NAME:NUMBER; NULL or "": none
    int64_t workload_pods;    // how many it wants at once, the master among them
    const char *project_name;
    int64_t project_number; // that no other project ever has
    const char *namespace;
    const char *spec_json;          // the workload's (the master's for a master), in the API's form
    const char *workload_spec_json; // of a master with a specification of its own: the workload's; NULL: it is the same
    const char *record;    // with BACKEND_START: to be kept beside the pod, and given back with a stray; NULL: nothing
    const char *node_name; // NULL: it has no place
    const uint32_t *gpu_indices;
    size_t gpu_index_count;
    int64_t gpu_milli;
    int64_t gpu_memory_mib;  // of a device of its node; 0: not known
    int64_t grace_ms;        // how long it may take to stop
    int64_t scheduled_ms;    // when it was given its place
    int64_t started_ms;      // 0: not yet
    int64_t stopping_ms;     // when it was told to stop; 0: it was not
    const char *stop_reason; // with BACKEND_STOP: one word, Preempted; NULL: nobody says
    int64_t completed_ms;    // 0: lives
};

// An address that answers for an inference, and the pods behind it.
struct backend_service {
    const char *workload_uuid;
    const char *address;          // HOST:PORT, as choose_address gave it
    const char *const *pod_uuids; // that run; none: who connects waits, and wakes the owner
    size_t pod_count;
    int64_t wait_ms; // the longest that who connects waits for a pod
};

struct backend_service_state {
    int64_t open;     // connections that are handed on
    int64_t waiting;  // for a pod
    int64_t quiet_ms; // since the last one came or ended; 0 while there is any
};

struct backend_node {
    const char *name;
    bool ready;
    bool removed;
    const char *reason; // of not being ready; may be empty
};

// A node as a backend finds it, where nodes are the cluster's to make. Texts are the arena's.
struct backend_machine {
    const char *name;
    bool is_ready, is_cordoned;
    const char *reason;      // of not being ready, or of GPUs that are not counted; "": none
    const char *labels_json; // {"key": "value"}, by key
    const char *taints_json; // [{"key", "value", "effect"}]
    int64_t gpu_count;
    int64_t gpus_withheld; // so many of them take no pod of ours: others hold them, or they are sick
    int64_t gpu_memory_mib;
    const char *gpu_type;
    const char *mig_strategy;
    const char *mig_instances_json; // those that others hold are left out
    int64_t cpu_milli, memory_bytes, max_pods;
    int64_t others_cpu_milli, others_memory_bytes, others_pods; // of these others hold so much
    const char *address, *version;
};

// What rows say, at a start.
struct backend_rows {
    const struct backend_pod *pods; // that have a place
    size_t pod_count;
    const struct backend_node *nodes;
    size_t node_count;
    // Whether a pod that is not among these has a row that wants it to be over. NULL: none has.
    bool (*is_over)(const char *pod_uuid, void *context);
    void *context;
};

// A key of a secret. name and value are the arena's.
struct backend_secret_key {
    const char *name;
    const char *value; // ends in a NUL that length does not count
    size_t length;
};

// A secret that a backend puts into its cluster for a credential.
struct backend_made_secret {
    const char *namespace, *name, *project_name;
};

// The credentials that the server keeps, for the secrets that pods name. Called from any thread of the backend.
struct backend_vault {
    // The keys, by name, of the credential that stands for a secret in a project: the one of that id, or the nearest
    // one of that name. ERROR_NOT_FOUND: none does; ERROR_UNAVAILABLE: it cannot be opened. Never log a value.
    int (*read)(void *context, const char *project_name, const char *name, struct arena *arena,
                struct backend_secret_key **out_keys, size_t *out_count, struct error *err);
    // Before one is made; said again it changes nothing.
    int (*note)(void *context, const struct backend_made_secret *secret, struct error *err);
    // Those noted for which no credential stands any more. Texts are the arena's.
    int (*list_left)(void *context, struct arena *arena, struct backend_made_secret **out_secrets, size_t *out_count,
                     struct error *err);
    // It is gone, or somebody else's. Where a credential stands for it again it stays noted.
    void (*forget)(void *context, const struct backend_made_secret *secret);
    void *context;
};

// Whose a pod is, or was. Texts are the arena's.
struct backend_owner {
    const char *workload_uuid;
    const char *project_name;
};

// What rows know, for what is kept of pods that are over.
struct backend_known {
    // The name of its project; NULL: it is deleted, or there is none. Where rows cannot be read: "".
    const char *(*find_project)(const char *workload_uuid, struct arena *arena, void *context);
    // False: no row, or its workload is deleted. Where rows cannot be read: true, and the texts are empty.
    bool (*find_owner)(const char *pod_uuid, struct arena *arena, struct backend_owner *out_owner, void *context);
    void *context;
};

// A pod that runs and that no row asks for: of a server before whose backup was put back. Texts are the arena's.
struct backend_stray {
    char uuid[UUID_SIZE];
    const char *project_name, *workload_name; // "": not known
    uint64_t gpus;                            // it holds, by index
    int64_t pid;
    int64_t since_ms; // 0: not known
    bool is_ending;
    const char *record;    // as it was handed over at its start; NULL: is not there
    const char *node_name; // where it runs
};

enum backend_verb {
    BACKEND_START,  // start the pod on its node, with its devices
    BACKEND_STOP,   // stop it within grace_ms
    BACKEND_FORGET, // its end is known and recorded: what is kept of it may go
    BACKEND_ADOPT,  // a stray has a row now: what it does is reported as of any pod. BACKEND_POD_UNKNOWN: it is gone
    BACKEND_CLEAR   // its workload, of which alone the uuid is told, is deleted: what is kept for a next pod may go
};

struct backend_order {
    int64_t decision; // a later decision about a pod has a higher number; the same number again changes nothing
    enum backend_verb verb;
    struct backend_pod pod;
};

enum backend_fact_kind {
    BACKEND_POD_STARTING,   // accepted; pulls its image
    BACKEND_POD_RUNNING,    // since time_ms
    BACKEND_POD_ENDED,      // by itself, at time_ms, with exit_code and reason: holds nothing any more
    BACKEND_POD_GONE,       // after having been told to stop: holds nothing any more
    BACKEND_POD_REFUSED,    // could not be started there (is_final: nor anywhere): never held anything
    BACKEND_POD_LOST,       // it is gone with its node, or as reason and message say
    BACKEND_POD_UNKNOWN,    // (after adopt) rows say it should be there, and it is not: the order must be given again
    BACKEND_POD_WARNING,    // something about it that people should know: reason and message
    BACKEND_POD_USAGE,      // gpu_utilization, and gpu_memory_mib where has_gpu_memory, from time_ms on
    BACKEND_POD_LOAD,       // it uses cpu_milli and memory_bytes from time_ms on
    BACKEND_SERVICE_CALLED, // somebody waits at an inference's address
    BACKEND_NODE_STATE,     // node_name is ready, or not, with reason
    BACKEND_NODE_LOAD,      // all that runs on node_name uses cpu_milli and memory_bytes from time_ms on
    BACKEND_NODE_WARNING,   // something about node_name that people should know: reason and message
    BACKEND_NODE_DEVICES,   // of node_name's devices those of unusable_gpus must take nothing new
    BACKEND_NODES_CHANGED,  // read_machines has something new
    BACKEND_LEFTOVERS       // clear_unknown has something to compare
};

#define BACKEND_NODE_TERMS_SIZE 256

enum {
    BACKEND_DEVICES_MAX = 64 // of a node that a fact tells of
};

struct backend_fact {
    enum backend_fact_kind kind;
    char pod_uuid[UUID_SIZE];
    int64_t decision; // the order it answers; 0: none
    int64_t time_ms;  // wall clock
    int64_t exit_code;
    int64_t avoid_ms;       // BACKEND_POD_REFUSED: so long its workload stays off that node; 0: it may come back
    bool is_final;          // BACKEND_POD_ENDED, _REFUSED: no other pod of its workload would do better
    double gpu_utilization; // percent of the devices it holds; negative: not known
    bool has_gpu_memory;    // something is known of it
    int64_t cpu_milli, memory_bytes; // BACKEND_POD_LOAD, BACKEND_NODE_LOAD
    bool ready;
    uint64_t unusable_gpus; // by index
    union {
        char node_name[256];
        // BACKEND_POD_REFUSED: what nodes its workload needs, as core/v1 nodeSelectorTerms; "": nothing is known of it.
        char node_terms[BACKEND_NODE_TERMS_SIZE];
        int32_t gpu_memory_mib[BACKEND_DEVICES_MAX]; // that it uses of each device, by index; -1: none, or not known
    };
    char reason[64];   // Completed, Error, NodeLost, OOMKilled, ...: one word
    char message[240]; // for people; may be empty
};

// Lines of a pod's log. A position counts from 0 and stays good across restarts; only the backend knows its unit.
struct backend_log_request {
    struct backend_pod pod;
    int64_t position; // of the first line wanted: 0 from the beginning, or out_position of the call before
    int64_t since_ms; // nothing older; 0: no bound
    int64_t tail;     // only the last lines of what there is; negative: all
    int64_t now_ms;   // lines that are not older than this exist
    bool timestamps;  // each line begins with its time
    size_t max_bytes;
};

// A further process in a pod that runs: a shell. Texts belong to the caller and end with the call.
// Who asks; named as submitted_by and machine_user of a pod are.
struct backend_caller {
    const char *name, *machine_user;
    bool is_root;          // of this machine
    const char *uuid;      // whose share of places it takes
    bool is_administrator; // of the tenant
};

struct backend_session_request {
    struct backend_pod pod;
    struct backend_caller caller;
    const char *const *words; // ends with NULL
    bool has_terminal;
    uint16_t rows, columns; // of it
};

// Its ends, all the caller's to close; -1: there is none. With a terminal input and output are its other side. On
// control comes one message, `STATUS TEXT`, when the process has ended or could not be started; closing it hangs it up.
struct backend_session {
    int input_fd, output_fd, error_fd, control_fd;
};

struct backend_port_request {
    struct backend_pod pod;
    struct backend_caller caller;
    uint16_t port;
};

// A device of a node as it was seen last. Texts are the arena's.
struct backend_process {
    int64_t pid;
    int64_t memory_mib;
    const char *user, *command;
    const char *pod_uuid; // "": nobody submitted it
};

struct backend_device {
    const char *name; // what CUDA calls it
    bool is_healthy;
    const char *reason;                  // of not being healthy
    int64_t memory_mib, memory_used_mib; // -1: not known
    int utilization;                     // percent; -1: not known
    int temperature;                     // degrees Celsius; -1: not known
    struct backend_process *processes;
    size_t process_count;
};

// What pods keep on a disk that the server needs too. Texts are the arena's.
struct backend_store {
    const char *project_name; // "": not known any more
    int64_t log_bytes;
    int64_t home_bytes; // of its workloads' homes
};

struct backend_storage {
    struct backend_store *projects; // in any order
    size_t project_count;
    int64_t log_bytes_removed; // for a bound, since the start
    int64_t image_bytes;       // of images that are kept as files
};

// Set once by the owner before start: called from any thread of the backend when there are facts, must only wake
// somebody.
typedef void (*backend_wake_fn)(void *context);

// How fast simulated lives pass. Absent (NULL) where a backend is real.
struct backend_clock_ops {
    double (*speed)(void *backend);
    // From now on; what has been lived is lived. The caller keeps the state (a text) and gives it back at the next
    // start.
    void (*set_speed)(void *backend, double speed, struct buffer *out_state);
};

// A class of volumes that a claim may name. Texts are the arena's.
struct backend_storage_class {
    const char *name, *provisioner;
    bool can_expand, is_default;
};

struct backend_ops {
    const char *name;  // "simulated", ...
    bool has_services; // ports of workloads answer at names of the cluster (model/service_names.h)
    // Starts its threads. Facts may come from here on.
    int (*start)(void *backend, backend_wake_fn wake, void *wake_context, struct error *err);
    // What should be there: called once after start, before any order. The backend takes up what it has and reports its
    // state as facts, reports the rest as BACKEND_POD_UNKNOWN or, where its node is lost, BACKEND_POD_LOST, and stops
    // what it runs that is to be over. What else it runs goes on, as a stray, with its devices.
    int (*adopt)(void *backend, const struct backend_rows *rows, struct error *err);
    // What runs though no row asks for it; BACKEND_STOP ends one, BACKEND_ADOPT makes it a pod like others. NULL:
    // nothing ever does. Any thread.
    size_t (*list_strays)(void *backend, struct arena *arena, struct backend_stray **out_strays);
    // Called after adopt and after BACKEND_LEFTOVERS, turn by turn while it says that there is more: what is kept of
    // workloads that rows do not know may go. NULL: nothing is.
    bool (*clear_unknown)(void *backend, const struct backend_known *known);
    // Takes orders over; returns without waiting for their effect. The pods of a gang that are to start together come
    // in one call.
    void (*apply)(void *backend, const struct backend_order *orders, size_t count);
    // Whether a pod could ever be run here, of which project, submitter and specification are told: ERROR_INVALID names
    // the field. NULL where anything is taken. Any thread.
    int (*check)(void *backend, const struct backend_pod *pod, struct error *err);
    // Whether the caller may decide what the pod runs, by the rules of whose user that is: ERROR_FORBIDDEN. NULL:
    // anybody may who has the rights. Any thread.
    int (*check_caller)(void *backend, const struct backend_pod *pod, const struct backend_caller *caller,
                        struct error *err);
    // What rows say of nodes has changed, for a backend whose nodes live in rows. May be NULL.
    void (*nodes_changed)(void *backend, const struct backend_node *nodes, size_t count);
    // All nodes of the cluster as they are now, by name: rows follow them. False: not known yet. NULL: nodes are not
    // the backend's to find.
    bool (*read_machines)(void *backend, struct arena *arena, struct backend_machine **out_machines, size_t *out_count);
    // Where a pod of an inference answers, as a number of port and host: "127.0.0.1:20001"; is_page: where its metrics
    // are. False: nowhere. NULL: pods have no addresses. Any thread.
    bool (*find_address)(void *backend, const char *pod_uuid, bool is_page, char *out, size_t size);
    // An address for a new inference, HOST:PORT, that no other has. NULL: there are none.
    int (*choose_address)(void *backend, const char *workload_uuid, char *out, size_t size, struct error *err);
    // These services from now on, and no others. NULL with choose_address.
    void (*serve)(void *backend, const struct backend_service *services, size_t count);
    // False: it is not one of them. Any thread.
    bool (*read_service)(void *backend, const char *workload_uuid, struct backend_service_state *out);
    // Moves the facts that have come up since the last call into arena, in their order.
    size_t (*take_facts)(void *backend, struct arena *arena, struct backend_fact **out_facts);
    // Appends lines; *out_position is where the next call goes on, *out_ended says that no line will follow. Any
    // thread.
    int (*logs)(void *backend, const struct backend_log_request *request, struct buffer *out, int64_t *out_position,
                bool *out_ended, struct error *err);
    // Opens a session. ERROR_CONFLICT: the pod does not run; ERROR_FORBIDDEN: it runs as a person of the machine who is
    // another than the caller. NULL where there is nothing to run a shell in. Any thread.
    int (*open_session)(void *backend, const struct backend_session_request *request, struct backend_session *out,
                        struct error *err);
    // Opens a stream of bytes to a TCP port at which a process of the pod listens; *out_fd, a connected non-blocking
    // socket with CLOEXEC, is the caller's to close. ERROR_CONFLICT: the pod does not run; ERROR_NOT_FOUND: nothing of
    // the pod listens there (yet); ERROR_FORBIDDEN: as open_session. NULL: pods have no ports. Any thread.
    int (*open_port)(void *backend, const struct backend_port_request *request, int *out_fd, struct error *err);
    // What is known of a node's devices, by index; none where nothing is measured. NULL: never is. Any thread.
    size_t (*read_devices)(void *backend, const char *node_name, struct arena *arena,
                           struct backend_device **out_devices);
    // What is kept on the disk, as it was measured last. NULL: nothing is. Any thread.
    void (*read_storage)(void *backend, struct arena *arena, struct backend_storage *out_storage);
    // The classes that volume claims may name, by name; asked of the cluster. ERROR_UNAVAILABLE: it does not answer.
    // NULL: claims have no classes. Any thread.
    int (*list_storage_classes)(void *backend, struct arena *arena, struct backend_storage_class **out_classes,
                                size_t *out_count, struct error *err);
    // Whether something that it depends on fails: a sentence of what, without whose it is. NULL: nothing can. Any
    // thread.
    bool (*find_problem)(void *backend, char *out, size_t size);
    // Appends its own figures, as Prometheus text. NULL: it has none. Any thread.
    void (*write_metrics)(void *backend, struct buffer *out);
    void (*stop)(void *backend); // ends its threads; pods go on
    void (*destroy)(void *backend);
    const struct backend_clock_ops *clock;
};

// What is passed around: the functions and what they act on.
struct backend {
    const struct backend_ops *ops;
    void *self;
};

// Ends its threads: nothing of what it was given is used after. An empty one, and one that is stopped, are fine.
void backend_stop(struct backend *backend);
// Stops and destroys; an empty one is fine.
void backend_destroy(struct backend *backend);
