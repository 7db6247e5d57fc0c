// The local backend's inside, for its own files: local.c (orders), report.c (facts), attend.c (the thread), gpus.c,
// holding.c, belonging.c, strays.c.
#pragma once
#include "backends/facts.h"
#include "backends/local/devices/gpu_watch.h"
#include "backends/local/disk_watch.h"
#include "backends/local/pods/local_pods.h"
#include "backends/local/pods/log_keeper.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/session_calls.h"
#include "backends/local/specification/homes.h"
#include "backends/local/start_marks.h"

#include <pthread.h>

struct loads;
struct pod_state;
struct relay;
struct supervisors;

// Whether the kernel holds pods to their GPUs, or these are only asked for.
struct holding {
    bool is_kept;
    bool is_v1; // by the folders of cgroup v1
};

struct local {
    struct local_options options;
    struct cgroups cgroups;
    struct images *images;
    struct homes *homes;
    struct log_keeper *logs;
    struct disk_watch *disks;
    struct loads *loads;
    struct relay *relay;
    int home_fd;
    pthread_mutex_t lock; // of all below
    pthread_t thread;
    bool has_thread, stopping;
    int epoll_fd, wake_fd, socket_fd;
    struct session_calls session_calls;
    backend_wake_fn wake;
    void *wake_context;
    struct local_pods pods;
    struct pod_spares spares;
    struct start_marks start_marks;
    struct backend_facts facts;
    struct gpu_watch *gpus; // NULL: none to watch
    bool has_adopted;       // rows were compared with what runs
    bool has_reported_devices;
    struct gpu_state *seen; // what was seen of the GPUs last
    size_t seen_count;
    bool had_strays;
    bool has_lost; // or had: a process did not end
    int64_t swept_ms;
    struct holding holding;
    int64_t next_group; // of pods' own, counted from the first
    uint64_t unusable;  // devices that must take nothing new, as last reported
};

// local.c: its thread looks for what is to be done.
void local_wake(struct local *local);

// report.c: what has come up, as facts. All under the lock.
struct backend_fact *report_fact(struct local *local, enum backend_fact_kind kind, const char *pod_uuid,
                                 int64_t decision, int64_t time_ms);
void report_running(struct local *local, struct local_pod *pod, const struct pod_state *state);
// The pod could not be started.
void report_not_started(struct local *local, struct local_pod *pod, const char *message);
// Neither could any other of its workload: that fails.
void report_never_started(struct local *local, struct local_pod *pod, const char *message);
// The pod's supervisor is gone.
void report_end(struct local *local, struct local_pod *pod, const struct pod_state *state);

// Its end is told, though a process of it is left.
void report_lost(struct local *local, struct local_pod *pod);

// It was ended from outside while there was no server (`prorata stop --pods`): not a failure of its own.
void report_stopped(struct local *local, struct local_pod *pod);
// The pod's folder goes; its log stays for a while.
void report_forgotten(struct local *local, const char *pod_uuid);
// Its log was cut. Not under the lock.
void report_log(void *local, const struct log_told *told);
void report_disk(void *local, const struct disk_told *told); // likewise
// The driver has let go of its devices.
void report_left(struct local *local, struct local_pod *pod);

// decide.c: whether a pod's image is used, and so how it is started.
void decide_ask(struct local *local, struct local_pod *pod);                            // under the lock
void decide_take(void *local, const char *pod_uuid, const struct image_answer *answer); // not under it

// attend.c. All under the lock.
void attend_start(struct local *local, struct local_pod *pod);
// Takes up the pod whose folder already exists: after a restart of the server, or an order given twice.
void attend_take_up(struct local *local, struct local_pod *pod, int folder_fd);
void attend_stop(struct local *local, struct local_pod *pod);
void *attend_main(void *local); // the thread

// The same of a supervisor that is known otherwise: it is to be watched. False: it is over.
bool attend_watch(struct local *local, struct local_pod *pod, unsigned long long started);

// strays.c: what runs though its folder is gone, or no row asks for it. All under the lock.
const struct supervisors *strays_find_supervisors(const struct local *local, struct arena *arena);
// The pod of a row whose folder is gone goes on; or, where its supervisor is gone too, what is left of it ends
// (is_forced). NULL: nothing of it runs.
struct local_pod *strays_keep_without_folder(struct local *local, const struct supervisors *supervisors,
                                             const char *uuid);
// Everything that rows have said nothing of so far.
void strays_take_up(struct local *local, const struct supervisors *supervisors, const struct backend_rows *rows);
// Whether it is one, and runs.
bool strays_is_one(const struct local_pod *pod);
// One has ended by itself; it is forgotten a little later, for somebody may be about to adopt it.
void strays_end(struct local *local, struct local_pod *pod);
void strays_forget_ended(struct local *local);
// It has a row now, and what it holds was noted: what it does, or how it ended, is reported.
void strays_adopt(struct local *local, struct local_pod *pod);
// One that is over.
void strays_forget(struct local *local, struct local_pod *pod);
size_t strays_list(void *local, struct arena *arena, struct backend_stray **out_strays); // any thread

// addresses.c: where inferences and their replicas answer. Any thread, and not under the lock.
int addresses_open(struct local *local, struct error *err);
int addresses_choose(void *local, const char *workload_uuid, char *out, size_t size, struct error *err);
bool addresses_find(void *local, const char *pod_uuid, bool is_page, char *out, size_t size);
void addresses_serve(void *local, const struct backend_service *services, size_t count);
bool addresses_read(void *local, const char *workload_uuid, struct backend_service_state *out);

// holding.c: which device nodes pods may open. Under the lock, but for the first.
void holding_open(struct local *local); // tells the log
// Before the pod starts, and when what it may open has changed. -1: it cannot be held to it.
int holding_keep(struct local *local, const struct local_pod *pod, struct error *err);
void holding_keep_all(struct local *local); // after a restart
// The pod begins or ends to hold devices: others of its workload may reach these.
void holding_follow(struct local *local, const struct local_pod *pod);
// GPUs that its processes may use, by index.
uint64_t holding_gpus(const struct local *local, const struct local_pod *pod);

// belonging.c: the pod that a process belongs to; NULL: nobody submitted it. Under the lock.
const struct local_pod *belonging_find(const struct local *local, const struct origin *origin);
// A group for a new pod that no other has; 0: there is none.
gid_t belonging_take_group(struct local *local);

// unkilled.c: what does not end. All under the lock.
// Sends SIGKILL to what is left of it; a process that lives, 0: none. Waits for nothing.
pid_t unkilled_kill(const struct local *local, const struct local_pod *pod, const struct pod_state *state);
// Sends a signal to each living process of the pod's cgroup (0: to none); one of them, 0: there is none.
pid_t unkilled_signal(const struct local *local, const char *uuid, int number);
// This process is left, though its supervisor is gone: it is waited for.
void unkilled_keep(struct local *local, struct local_pod *pod, pid_t process);
// The same of one whose end is told already: of a server before this one. These devices are its.
void unkilled_lose(struct local *local, struct local_pod *pod, uint64_t gpus);
void unkilled_sweep(struct local *local);

// loads.c: CPU and memory that the pods use, looked at again and again on a thread of its own.
bool loads_start(struct local *local); // false: there is no thread to be had
void loads_stop(struct local *local);  // not under the lock; fine where it was not started

// gpus.c: what the watch has seen. Any thread.
void gpus_take(void *local, const struct gpu_state *states, size_t count);
// Which devices must take nothing new may have changed. Under the lock.
void gpus_report(struct local *local);
size_t gpus_read(void *local, const char *node_name, struct arena *arena, struct backend_device **out_devices);
