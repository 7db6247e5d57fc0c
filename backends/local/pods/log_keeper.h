// Keeps the logs of all pods within their bounds (log_table.h), and removes those of deleted workloads and those that
// are too old. On a thread of its own: there may be much to remove. Any thread may call.
#pragma once
#include "backends/local/pods/log_table.h"

struct arena;
struct backend_known;
struct backend_storage;
struct log_keeper;

// A log was cut or removed for a bound. For a pod that runs it comes once, for a project's others once an hour.
struct log_told {
    const char *pod; // that runs; NULL: logs of pods that are over
    const char *project;
    enum log_bound bound;
    int64_t bound_bytes;
};
typedef void (*log_tell_fn)(void *context, const struct log_told *told);

// home_fd, of the pods' folders, must stay open.
struct log_keeper *log_keeper_create(int home_fd, const struct log_bounds *bounds, log_tell_fn tell, void *context);
// False: there is no thread to be had.
bool log_keeper_start(struct log_keeper *keeper);
// Ends the thread. The caller holds no lock that the function to tell takes.
void log_keeper_stop(struct log_keeper *keeper);
// NULL is fine.
void log_keeper_destroy(struct log_keeper *keeper);

// A pod that is started, or whose log was found. Nothing where it is known.
void log_keeper_add(struct log_keeper *keeper, const char *pod_uuid, const char *workload_uuid, const char *project);
// Finds the logs in folders that are not known yet, some hundred with each call, of one thread; true: there are more.
// Those of which no row knows, or whose workload is deleted, go, unless keeps_unknown.
bool log_keeper_find(struct log_keeper *keeper, const struct backend_known *known, bool keeps_unknown);
void log_keeper_look(struct log_keeper *keeper, const char *pod_uuid);              // it has grown
void log_keeper_end(struct log_keeper *keeper, const char *pod_uuid, bool has_log); // the pod is forgotten
// Sets what is known of logs. O(projects).
void log_keeper_read(struct log_keeper *keeper, struct arena *arena, struct backend_storage *out_storage);
void log_keeper_delete(struct log_keeper *keeper, const char *workload_uuid); // what it has, or leaves, goes
