// The Kubernetes backend's inside, for its own files. One lock guards all of it; watches and the client call in on
// threads of their own, and no call waits for an answer while it is held.
#pragma once
#include "backends/facts.h"
#include "backends/kubernetes/client/kube_call.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/kube_index.h"
#include "backends/kubernetes/kubernetes.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/objects/kube_node.h"
#include "backends/kubernetes/objects/kube_pod.h"
#include "backends/kubernetes/watch/kube_watch.h"
#include "base/arena.h"

#include <pthread.h>
#include <stdatomic.h>

enum pod_step {
    POD_ADOPTED,  // rows have it; what the cluster has of it is not known yet
    POD_LACKING,  // it is as rows say but for one thing: its order has to be given again
    POD_PREPARES, // what it needs is being made, or it itself is
    POD_CLAIMS,   // it exists without a node, and its claims wait for volumes
    POD_CREATED,  // likewise; they have them, and it waits for its gang
    POD_BINDS,
    POD_BOUND, // it has its node: the cluster tells how it lives
    POD_ENDED  // its end is told
};

// What rows want of a pod.
enum pod_wish {
    WISH_RUN,
    WISH_STOP,
    WISH_FORGET // it is lost to them: what it holds until it is gone no row counts
};

// What is known of its object.
enum pod_object {
    OBJECT_NONE,
    OBJECT_UNSURE, // a create of it was sent, and may have been done
    OBJECT_THERE,
    OBJECT_GOING // the server took its deletion
};

enum pod_refusal {
    REFUSAL_NONE,
    REFUSAL_OF_BINDING, // by the server: unless the object says that it was done all the same
    REFUSAL_FOR_NOW,
    REFUSAL_FOR_GOOD
};

// What was told of it once: bits.
enum pod_told {
    TOLD_UNKNOWN = 1, // its order is to be given again: POD_LACKING
    TOLD_RUNNING = 2,
    TOLD_WAITING = 4, // for its gang
    TOLD_HELD = 8,    // by a budget
    TOLD_STUCK = 16
};

// Pods that are bound together: those of one workload that one call of apply starts.
struct gang {
    int members; // that refer to it
    int wanted;  // that are to be bound
    int created;
};

// Something to be made before a pod: a service, a claim, a secret.
struct preparation {
    char *path, *body;
    char *own_path, *change; // a patch of what is there already; NULL: it stays as it is
    bool is_there;           // it is to be brought up to date
};

// What was told last of the CPU and memory that something uses.
struct told_load {
    bool is_told;
    int64_t decision; // the order of the pod that it was of
    int64_t cpu_milli, memory_bytes;
};

struct pod_volumes; // pod_volumes.c

// A pod that was ordered, or that rows know. Which step, object and refusal go together says ordered_pod_is_legal.
struct ordered_pod {
    char uuid[UUID_SIZE];
    char *workload_uuid, *project_name, *namespace, *name, *node_name;
    enum pod_step step;
    enum pod_wish wish;
    enum pod_object object; // set with uid, by pod_state.h
    enum pod_refusal refusal;
    char *uid;       // of the object; NULL: it is not known to exist
    unsigned told;   // enum pod_told
    bool is_looking; // after an answer that left it open, the object is asked for
    bool gives_way;  // others need its place, and budgets may hold it
    int64_t decision;
    int64_t grace_ms;
    struct gang *gang;    // NULL: it is bound alone
    int64_t call;         // the number of the one that is in flight; 0: none is
    char stop_reason[64]; // why it is to stop, until the cluster is told; "": nobody says
    int64_t deleted_us;   // OBJECT_GOING: since then
    int64_t created_us;   // since then it waits for its gang
    struct told_load load;
    char told_reason[64];
    int64_t again_us;              // a call failed: not before this; 0: at once
    int64_t failures;              // in a row
    int64_t refused_until_us;      // a refusal is told then; 0: none
    struct pod_volumes *volumes;   // NULL: not looked at
    char *node_terms;              // of the refusal: nodes that would do; NULL: any other
    int64_t avoid_ms;              // it stays off its node so long; 0: the refusal has nothing to do with the node
    char reason[64], message[240]; // of the refusal
    char *body;                    // the Pod; NULL: it was not ordered in this run
    char **secrets;                // names of those that it reads
    size_t secret_count;
    struct preparation *preparations;
    size_t preparation_count, prepared;
};

// What the watch keeps of a pod of ours.
struct own_object {
    struct arena arena;
    const char *uuid; // of its row; "": it does not say
    struct kube_pod pod;
};

struct kube_machine;  // kube_machines.c
struct kube_lease;    // kube_lease.h
struct kube_sessions; // streams/kube_sessions.h

struct kube_leftover; // kube_leftovers.c
struct kube_report;   // kube_reports.c

// Events that wait to be written.
struct kube_reports {
    struct kube_report *first, *last; // NULL: there is none
    size_t count;
    int64_t serial, sent_us;
    atomic_llong dropped; // for want of room
};

// How often a workload's pods were refused in a row.
struct refusals {
    char workload_uuid[UUID_SIZE];
    int64_t count;
};

struct kubernetes {
    struct kube_site site;
    char *instance;
    const struct backend_vault *vault; // NULL: the server keeps no credentials
    struct kube_access *access;
    struct kube_client *client;
    struct kube_sessions *sessions;   // shells in pods
    struct kube_lease *_Atomic lease; // NULL: not started
    char *holder;
    int64_t finished_ms; // how long a pod that has ended stays
    bool respects_budgets;
    atomic_int clearings;     // calls under way that take away what is left of deleted workloads
    atomic_int secrets_going; // secrets of deleted credentials that are being taken away
    int64_t secrets_us;       // they are looked for again then
    int64_t cleared_us;       // when pods that have were looked for last
    bool is_looking_for_leftovers;
    int64_t leftovers_us;            // they are looked for again then
    struct kube_leftover *leftovers; // NULL: there are none to compare with rows
    size_t leftover_count;
    struct kube_gpu_reader *gpu_reader;
    struct kube_usage_reader *usage_reader;
    struct kube_watch *own_watch, *others_watch, *nodes_watch, *events_watch;
    int64_t started_ms;   // wall clock
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, stopping;
    backend_wake_fn wake;
    void *wake_context;
    struct backend_facts facts;
    bool has_news;                       // facts that nobody was woken for
    bool has_rows;                       // what rows know of pods was adopted
    bool has_own, has_others, has_nodes; // whole pictures
    bool nodes_changed;
    bool is_node_news;         // a node itself has: that is told at once
    bool must_attend;          // a pod has to be looked after soon
    int64_t calls;             // submitted so far
    struct kube_index pods;    // ordered_pod by uuid
    struct kube_index objects; // own_object by uuid
    struct kube_index objects_by_uid;
    struct kube_index machines;         // kube_machine by name
    struct kube_index refusals;         // by workload
    struct kube_index gpus;             // gpu_usage.c: by node
    size_t loads_next, node_loads_next; // load_usage.c: where in objects and nodes the next round begins
    struct kube_reports reports;
};

// kubernetes_run.c. All with the lock held.
struct backend_fact *kubernetes_tell(struct kubernetes *kubernetes, enum backend_fact_kind kind, const char *pod_uuid,
                                     int64_t decision);

// Whether this server is the one that acts. Needs no lock.
bool kubernetes_may_write(struct kubernetes *kubernetes);

// kube_machines.c: nodes, and what pods of others hold on them.
int machines_watch(struct kubernetes *kubernetes, struct error *err);
bool machines_read(void *backend, struct arena *arena, struct backend_machine **out_machines, size_t *out_count);
// As the cluster shows it; NULL: it has no such node. Good until the lock is let go.
const struct kube_node *machines_find(const struct kubernetes *kubernetes, const char *name);
// What load_usage.c told of a node; NULL: it is not there.
struct told_load *machines_find_load(struct kubernetes *kubernetes, const char *name);
// Whether the cluster has no such node any more.
bool machines_is_gone(const struct kubernetes *kubernetes, const char *name);
void machines_done(struct kubernetes *kubernetes);

// own_objects.c: pods of ours as the cluster shows them.
int own_objects_watch(struct kubernetes *kubernetes, struct error *err);
// What the pod's object says, into steps and facts. object: of this pod's row.
void own_objects_take(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object);
// It exists no more.
void own_objects_take_gone(struct kubernetes *kubernetes, struct ordered_pod *pod);

// pod_events.c: what the cluster says of them.
int pod_events_watch(struct kubernetes *kubernetes, struct error *err);

// kube_reports.c: what was done with a pod that has an object, as events and conditions. With the lock held.
void kube_reports_bound(struct kubernetes *kubernetes, const struct ordered_pod *pod);
void kube_reports_stopped(struct kubernetes *kubernetes, const struct ordered_pod *pod);
// It exists and cannot be bound yet.
void kube_reports_waits(struct kubernetes *kubernetes, const struct ordered_pod *pod, const char *message);
// Writes some of those that wait.
void kube_reports_send(struct kubernetes *kubernetes);
void kube_reports_done(struct kubernetes *kubernetes);

// kube_figures.c: of backend_ops. Needs no lock.
void kube_figures_write(void *backend, struct buffer *out);
bool kube_figures_find_problem(void *backend, char *out, size_t size);

// kube_strays.c: pods with our label that no row asks for.
size_t kube_strays_list(void *backend, struct arena *arena, struct backend_stray **out_strays);

// ordered_pods.c: the table, and what orders say.
void ordered_pods_apply(void *backend, const struct backend_order *orders, size_t count);
int ordered_pods_adopt(void *backend, const struct backend_rows *rows, struct error *err);
// The first whole picture is there: what was adopted is compared with it.
void ordered_pods_compare(struct kubernetes *kubernetes);
// Its order is to be given again, and is asked for once.
void ordered_pods_ask_again(struct kubernetes *kubernetes, struct ordered_pod *pod);
void ordered_pods_remove(struct kubernetes *kubernetes, struct ordered_pod *pod);
void ordered_pods_done(struct kubernetes *kubernetes);
// It does not wait for its gang any more.
void ordered_pods_leave_gang(struct ordered_pod *pod);

// gpu_usage.c: what exporters on the nodes say. Its reader ends with the client.
int gpu_usage_start(struct kubernetes *kubernetes, struct error *err);
size_t gpu_usage_read(void *backend, const char *node_name, struct arena *arena, struct backend_device **out_devices);
void gpu_usage_done(struct kubernetes *kubernetes);

// load_usage.c: what metrics.k8s.io says of pods and nodes. Its reader ends with the client.
int load_usage_start(struct kubernetes *kubernetes, struct error *err);

// pod_notes.c: what of the specification the cluster does not keep, as warnings. With the lock held.
void pod_notes_tell(struct kubernetes *kubernetes, const struct backend_pod *row, int64_t decision);

// pod_streams.c. Both wait for the cluster, and need no lock.
int pod_streams_logs(void *backend, const struct backend_log_request *request, struct buffer *out,
                     int64_t *out_position, bool *out_ended, struct error *err);
int pod_streams_open(void *backend, const struct backend_session_request *request, struct backend_session *out,
                     struct error *err);
int pod_streams_open_port(void *backend, const struct backend_port_request *request, int *out_fd, struct error *err);

// storage_classes.c: waits for the cluster, and needs no lock.
int storage_classes_list(void *backend, struct arena *arena, struct backend_storage_class **out_classes,
                         size_t *out_count, struct error *err);

// pod_steps.c: the next call for a pod, and what comes of it.
void pod_steps_go_on(struct kubernetes *kubernetes, struct ordered_pod *pod);
// The kubelet did not take it: it is tried elsewhere, and its gang goes on meanwhile.
void pod_steps_reject(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason, const char *message);
// It has its node.
void pod_steps_note_bound(struct kubernetes *kubernetes, struct ordered_pod *pod);
// It runs: the next refusal of its workload counts as the first.
void pod_steps_forget_refusals(struct kubernetes *kubernetes, const struct ordered_pod *pod);
// What was kept of a workload goes: objects of finished pods, services.
void pod_steps_clear(struct kubernetes *kubernetes, const char *workload_uuid);
// Pods that have ended long ago go from the cluster.
void kube_clearing_expire(struct kubernetes *kubernetes);
// One object, of that uid: the next workload of that name may have one of the same name by now.
void kube_clearing_delete(struct kubernetes *kubernetes, const char *path, const char *uid, kube_done_fn done,
                          void *context);
// The same of what is left of a workload, counted in clearings until it is answered.
void kube_clearing_remove(struct kubernetes *kubernetes, const char *path, const char *uid);

// kube_leftovers.c: services of deleted workloads that were not cleared. With the lock held.
void kube_leftovers_look(struct kubernetes *kubernetes);
// clear_unknown of backend_ops.
bool kube_leftovers_clear(void *backend, const struct backend_known *known);
void kube_leftovers_done(struct kubernetes *kubernetes);

// kube_secrets_left.c: secrets of deleted credentials. With the lock held, which is given up meanwhile.
void kube_secrets_left_look(struct kubernetes *kubernetes);

// Those that wait for a time.
void pod_steps_attend(struct kubernetes *kubernetes);
// The cluster does not take it: what there is of it goes, and then, after a while that grows, it is told.
void pod_steps_refuse(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason, const char *message,
                      bool is_for_good);
