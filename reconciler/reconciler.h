// The reconciler: database -> snapshot -> plan -> database -> backend, on a thread of its own.
//
// It wakes when rows change (waiting at most coalesce_ms for more), when the backend has facts, and every tick. Its
// memory is a cache of rows, kept up by revision, and thrown away and read again after any error. A cycle's outcome is
// one transaction; only after the commit is the backend told.
#pragma once
#include "base/uuid.h"
#include "model/budget.h"
#include "model/pod.h"
#include "reconciler/retention.h"
#include "scheduler/plan.h"
#include "scheduler/snapshot.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct backend;
struct buffer;
struct db;
struct error;
struct journal;
struct reconciler;
struct serving; // model/serving.h

struct reconciler_options {
    int64_t tick_ms;                    // 0: 1000
    int64_t coalesce_ms;                // 0: 10
    int64_t retry_delay_ms;             // before the second attempt of a pod that failed, then doubling; 0: 10 s
    int64_t page_interval_ms;           // between readings of inferences' metrics; 0: 5 s
    int64_t retry_delay_max_ms;         // 0: 6 min
    int64_t staleness_grace_ms;         // of gangs that lost pods; 0: 60 s, negative: for ever
    int64_t search_budget_ms;           // about how long a cycle looks for victims; 0: no bound
    int64_t sample_interval_ms;         // at most one sample of a figure in this time; 0: 1000
    struct retention_options retention; // reconciler/retention.h
    // Plans in place of scheduler_plan; NULL: that. For tests of what is done about a bad plan
    int (*plan)(const struct snapshot *snapshot, struct arena *arena, struct plan **out_plan, struct error *err);
    bool plans_always;          // every turn plans, whether anything has changed or not. For tests
    const char *refused_folder; // where refused plans are written to; NULL: nowhere
    struct place_book *places;  // outlives the reconciler; NULL: there are no figures
    struct journal *journal;    // where cycles are kept; NULL: nowhere. The caller's, closed after reconciler_stop
    int64_t (*now_ms)(void *context); // NULL: the wall clock. For tests and replays
    void *now_context;
};

// Registers its listener at db. options may be NULL. The backend stays the caller's and must outlive the reconciler.
int reconciler_create(struct db *db, struct backend *backend, const struct reconciler_options *options,
                      struct reconciler **out_reconciler, struct error *err);
// Starts the backend and the thread. The first cycle reads all rows and adopts what the backend runs.
int reconciler_start(struct reconciler *reconciler, struct error *err);
// Ends the running cycle and the thread. NULL is fine.
void reconciler_stop(struct reconciler *reconciler);
// Stops, the backend's threads too, and frees. The database must have no writers any more that could call the listener.
// NULL is fine.
void reconciler_destroy(struct reconciler *reconciler);

// For callers with a thread of their own (tests): start the backend, then turns until one finds nothing to do.
int reconciler_begin(struct reconciler *reconciler, struct error *err);
// One turn: facts, rows, plan, commit, orders. *out_busy says whether anything was done. A failed turn (a full disk,
// say) leaves no trace but that the next reads rows again.
int reconciler_turn(struct reconciler *reconciler, bool *out_busy, struct error *err);

// Any thread: something has changed that the database does not tell.
void reconciler_wake(struct reconciler *reconciler);
// True once the first cycle is done. Any thread.
bool reconciler_is_ready(const struct reconciler *reconciler);
// The last turn failed and is tried again. Any thread.
bool reconciler_is_failing(const struct reconciler *reconciler);
// How long after its end a pod starts again that has failed so often, at least 1, in milliseconds. Any thread.
int64_t reconciler_retry_delay_ms(const struct reconciler *reconciler, int64_t failures);
// When the thread last began a turn, or ended one, by the monotonic clock; 0 before the first. Any thread.
int64_t reconciler_moved_us(const struct reconciler *reconciler);

// The latest cycle: unchanging, shared by reference.
struct reconciler_view {
    int64_t cycle; // counts from 1, on from where the journal ends
    const struct snapshot *snapshot;
    const struct plan *plan;
    const int64_t *workload_ids; // row ids, as snapshot.workloads
};
// Row ids of what stands at an index of the view's snapshot.
int64_t reconciler_view_project_id(const struct reconciler_view *view, uint32_t project);
int64_t reconciler_view_department_id(const struct reconciler_view *view, uint32_t department);
int64_t reconciler_view_node_pool_id(const struct reconciler_view *view, uint32_t node_pool);
int64_t reconciler_view_cluster_id(const struct reconciler_view *view);
// The view's; "" where there is none, or view is NULL.
const char *reconciler_view_cluster_uuid(const struct reconciler_view *view);
// NULL before the first cycle. Any thread; give it back.
const struct reconciler_view *reconciler_acquire_view(struct reconciler *reconciler);
void reconciler_release_view(struct reconciler *reconciler, const struct reconciler_view *view);

// A cycle in the journal.
struct reconciler_cycle {
    int64_t cycle;
    int64_t time_ms;
    int64_t plan_us;
    int64_t decision_count;
};
// Cycles of these times, both included, oldest first; the arena's. ERROR_NOT_FOUND where no journal is kept. Reads
// files; any thread.
int reconciler_list_cycles(const struct reconciler *reconciler, int64_t from_ms, int64_t to_ms, struct arena *arena,
                           struct reconciler_cycle **out_cycles, size_t *out_count, struct error *err);

// The last cycle of the journal at a time or before it. Texts are the arena's.
struct reconciler_moment {
    struct reconciler_cycle cycle;
    const char *decisions_json; // as `prorata simulate` prints them
    // Of a workload: what a pod of it is in a word, and why, in the form that is stored beside one that waits. NULL: it
    // was neither waiting nor running then.
    const char *status, *explanation_json;
};
struct reconciler_asked {
    int64_t id;
    const char *name, *project_name;
};
// ERROR_NOT_FOUND says which cycles there are. Reads files; any thread.
int reconciler_read_moment(const struct reconciler *reconciler, int64_t at_ms, struct arena *arena,
                           struct reconciler_moment *out_moment, struct error *err);
// The same, planned again for a workload: as long as the cycle took. One at a time; ERROR_UNAVAILABLE for the next.
int reconciler_explain_moment(struct reconciler *reconciler, int64_t at_ms, const struct reconciler_asked *asked,
                              struct arena *arena, struct reconciler_moment *out_moment, struct error *err);

// What a project and its people have used of its budgets until now; texts are the arena's. False: it has none, or the
// thread has not seen it yet. Any thread.
bool reconciler_read_budget(struct reconciler *reconciler, int64_t project_id, struct arena *arena,
                            struct budget_state *out_state);
// The budget that is used up of who submits to the project, as a clause of the arena's, until when, and whether
// submissions that ask for GPUs are refused for it. NULL: none is used up. Any thread.
const char *reconciler_over_budget(struct reconciler *reconciler, int64_t project_id, const char *person,
                                   struct arena *arena, int64_t *out_until_ms, bool *out_refuses);

struct reconciler_stats {
    int64_t cycles; // that planned
    int64_t turns;  // that had anything to do
    int64_t failures;
    int64_t refused_plans; // that broke an invariant, and were not carried out
    int64_t decisions[4];  // by enum plan_verb
    bool plan_is_refused;  // the latest was: the last good state stands
    char refused_cause[256];
    int64_t refused_ms; // when that began
    int64_t last_plan_us;
    int64_t last_cycle_us; // from reading rows to telling the backend
    size_t workload_count; // in the cache
    size_t pod_count;
};
void reconciler_get_stats(struct reconciler *reconciler, struct reconciler_stats *out_stats);
// Prometheus text, prorata_* names: cycle and actions, queues, pending workloads, evictions, scenarios. Any thread.
void reconciler_write_metrics(struct reconciler *reconciler, struct buffer *out);

// How recent the decisions are that everybody sees.
struct reconciler_pace {
    int64_t decided_ms;  // when the last cycle since the start ended; 0: there was none
    int64_t planning_ms; // since when the next one is being planned; 0: none is
};
// Any thread.
void reconciler_read_pace(const struct reconciler *reconciler, struct reconciler_pace *out_pace);

// How it goes, and what the disk holds of it.
struct reconciler_health {
    const char *backend;       // "simulated", ...: static text
    char backend_problem[256]; // what it depends on and does not have, as a sentence; "": nothing
    bool is_failing;           // reconciler_is_failing
    bool plan_is_refused;      // as of reconciler_stats
    bool is_over_bound;        // the database is larger than it may be, and nothing is left that may go
    bool has_journal, journal_is_stopped;
    char journal_cause[256]; // why it is stopped
    int64_t refused_ms;
    int64_t cycles, last_cycle_us;
    size_t stray_count;                          // pods that no workload asks for
    int64_t database_bytes, database_free_bytes; // in use, and room in its file; as measured last
    int64_t journal_bytes, log_bytes, home_bytes, image_bytes;
};
// Reads memory alone. Any thread.
void reconciler_read_health(struct reconciler *reconciler, struct reconciler_health *out_health);
// A line for each thing that is not well though it serves: a refused plan, a journal that stopped. Names nothing of
// anybody. Any thread.
void reconciler_write_health(struct reconciler *reconciler, struct buffer *out);

struct reconciler_spec {
    const char *project_name;
    int64_t project_number;
    const char *submitted_by;
    const char *machine_user; // NULL: nobody of this machine
    const char *spec_json;    // in the API's form
};
// Whether the backend could ever run a pod of this specification: ERROR_INVALID names the field. Any thread.
int reconciler_check_spec(const struct reconciler *reconciler, const struct reconciler_spec *spec, struct error *err);
// Whether an inference keeps its address while no replica runs, so that it may have none. Any thread.
bool reconciler_may_rest(const struct reconciler *reconciler);
const char *reconciler_backend_name(const struct reconciler *reconciler);
// Whether ports of workloads answer at names of the cluster. Any thread.
bool reconciler_has_services(const struct reconciler *reconciler);
// Where a new inference answers, HOST:PORT, in the arena; NULL where the backend gives no addresses. Any thread.
int reconciler_choose_address(const struct reconciler *reconciler, const char *workload_uuid, struct arena *arena,
                              const char **out_address, struct error *err);

struct reconciler_log_request {
    int64_t workload_id;  // row
    const char *pod_uuid; // this pod; NULL: by name
    const char *pod_name; // NULL: the newest pod
    bool previous;        // the attempt before the last one of that pod
    int64_t position;     // 0, or what the call before left
    int64_t since_ms;     // 0: no bound
    int64_t tail;         // negative: all
    bool timestamps;
    size_t max_bytes; // 0: 1 MiB
};
struct reconciler_log_pod {
    char uuid[UUID_SIZE];
    char name[POD_NAME_SIZE];
    int64_t attempt;
    const char *reason; // of its end, the arena's; "": none
    bool has_started;
};
// The pod of a request; with uuid_before the one that has started in place of that one, or after its end. 1 found, 0
// not. Any thread.
int reconciler_find_log_pod(struct reconciler *reconciler, const struct reconciler_log_request *request,
                            const char *uuid_before, struct arena *arena, struct reconciler_log_pod *out_pod,
                            struct error *err);
// Appends log lines to out. *out_ended: no line will follow. ERROR_NOT_FOUND: no such pod. To follow, call again with
// *out_position each second. Any thread.
int reconciler_read_logs(struct reconciler *reconciler, const struct reconciler_log_request *request,
                         struct buffer *out, int64_t *out_position, bool *out_ended, struct error *err);

// Who asks; machine_user as of reconciler_spec.
struct reconciler_caller {
    const char *name, *machine_user;
    bool is_root;          // of this machine
    const char *uuid;      // whose share of places it takes
    bool is_administrator; // of the tenant
};
// Whether the caller may decide what the workload's pods run: ERROR_FORBIDDEN where they run as a person of the machine
// who is another. Any thread.
int reconciler_check_caller(struct reconciler *reconciler, int64_t workload_id, const struct reconciler_caller *caller,
                            struct error *err);

struct reconciler_session_request {
    int64_t workload_id;      // row
    const char *pod_name;     // NULL: the newest pod
    const char *const *words; // ends with NULL
    bool has_terminal;
    uint16_t rows, columns;
    struct reconciler_caller caller;
};
// The descriptors are the caller's. *out_pod_name is the arena's. ERROR_NOT_FOUND: no such pod; ERROR_FORBIDDEN: it
// runs as a person, and not as the caller; ERROR_CONFLICT: it does not run, or its backend has nothing to run a shell
// in. Any thread; takes seconds where a supervisor does not answer.
struct reconciler_session {
    int input_fd, output_fd, error_fd, control_fd; // as backends/backend.h has them
    const char *pod_name;
};
int reconciler_open_session(struct reconciler *reconciler, const struct reconciler_session_request *request,
                            struct arena *arena, struct reconciler_session *out, struct error *err);

struct reconciler_port_request {
    int64_t workload_id;  // row
    const char *pod_name; // NULL: the newest pod,
    const char *pod_uuid; // or this one
    uint16_t port;
    struct reconciler_caller caller;
};
// fd: a stream of bytes to a port at which the pod listens, as backends/backend.h has it, is the caller's to close.
// *out_pod_name is the arena's. ERROR_NOT_FOUND: no such pod, or nothing of it listens there; others as above. Any
// thread; takes seconds where what listens does not take it.
struct reconciler_port {
    int fd;
    const char *pod_name;
};
int reconciler_open_port(struct reconciler *reconciler, const struct reconciler_port_request *request,
                         struct arena *arena, struct reconciler_port *out, struct error *err);

// What is measured of a node's devices, by index (backends/backend.h); texts are the arena's.
struct reconciler_process {
    int64_t pid;
    int64_t memory_mib;
    const char *user, *command;
    const char *pod_uuid; // "": nobody submitted it
};
struct reconciler_device {
    const char *name;
    bool is_healthy;
    const char *reason;
    int64_t memory_mib, memory_used_mib; // -1: not known
    int utilization, temperature;        // percent, degrees Celsius; -1: not known
    struct reconciler_process *processes;
    size_t process_count;
};
// How many there are; 0 where nothing is measured. Any thread.
size_t reconciler_read_devices(const struct reconciler *reconciler, const char *node_name, struct arena *arena,
                               struct reconciler_device **out_devices);

// The cluster that the backend runs; "" before the first cycle. The arena's. Any thread.
const char *reconciler_cluster_uuid(struct reconciler *reconciler, struct arena *arena);
// The classes that volume claims may name, by name (backends/backend.h); none where claims have no classes. Waits for
// the cluster. Any thread.
struct reconciler_storage_class {
    const char *name, *provisioner;
    bool can_expand, is_default;
};
int reconciler_list_storage_classes(const struct reconciler *reconciler, struct arena *arena,
                                    struct reconciler_storage_class **out_classes, size_t *out_count,
                                    struct error *err);

// What runs though no row asks for it (backends/backend.h); texts are the arena's. Any thread.
struct reconciler_stray {
    const char *uuid, *project_name, *workload_name; // names: "" where they are not known
    uint64_t gpus;                                   // it holds, by index
    int64_t pid, since_ms;
    bool is_ending;
    const char *record;    // what rows can be made of (reconciler/outcome/pod_record.h); NULL: is not there
    const char *node_name; // where it runs
};
size_t reconciler_list_strays(const struct reconciler *reconciler, struct arena *arena,
                              struct reconciler_stray **out_strays);
// Tells it to stop; ERROR_NOT_FOUND: it is none of them.
int reconciler_end_stray(const struct reconciler *reconciler, const char *uuid, struct error *err);
// Such pods have rows now, which are on disk: from here on they are pods like others. Texts and devices end with the
// call.
struct reconciler_adopted {
    const char *uuid, *workload_uuid, *project_name;
    const uint32_t *gpu_indices;
    size_t gpu_index_count;
    int64_t gpu_milli;
    int64_t grace_ms;
};
void reconciler_adopt_strays(struct reconciler *reconciler, const struct reconciler_adopted *pods, size_t count);

// The row of `meta` that holds the state of the simulated clock, for who creates the simulated backend.
#define RECONCILER_CLOCK_META "simulation_clock"

// Simulated lives pass so many times faster than time. ERROR_NOT_FOUND where the backend is real. Any thread; durable
// when it returns.
int reconciler_get_speed(struct reconciler *reconciler, double *out_speed, struct error *err);
int reconciler_set_speed(struct reconciler *reconciler, double speed, struct error *err);
