// What is known of the pods' logs: whose they are and how large; and which of them go where they are too large
// together. Not thread-safe.
#pragma once
#include "backends/local/pods/log_files.h"
#include "base/uuid.h"

struct kept_project {
    char *name;
    int64_t bytes;
    size_t log_count;
    int64_t told_ms; // when it was told that logs went; 0: not yet
    bool is_stuck;   // nothing of it can be cut, as it was seen last
    struct kept_project *next;
};

struct kept_log {
    char pod[UUID_SIZE];
    char workload[UUID_SIZE];
    struct kept_project *project;
    size_t place; // in the table's items
    struct log_size size;
    bool is_over;    // its pod is forgotten
    bool is_deleted; // its workload is
    bool was_told;   // that it was cut
    bool is_marked;
    struct kept_log *next_marked, *next_in_slot;
};

struct log_table {
    struct kept_log **items;
    size_t count, capacity;
    struct kept_log **slots; // by the pod
    size_t slot_count;       // a power of two; 0: none yet
    struct kept_project *projects;
    struct kept_log *marked; // to be looked at
    int64_t bytes;
};

struct log_bounds {
    int64_t pod_bytes;                  // the supervisors hold it
    int64_t project_bytes, total_bytes; // 0: none
    int64_t kept_ms;                    // after the last output
};

enum log_verb {
    LOG_CUT_OLDEST, // the oldest file of a pod that runs
    LOG_REMOVE,     // all of it, and a note stays
    LOG_FORGET      // the note too
};

struct log_order {
    char pod[UUID_SIZE];
    enum log_verb verb;
    enum log_bound bound;
    int64_t bound_bytes;
};

void log_table_done(struct log_table *table);
struct kept_log *log_table_find(const struct log_table *table, const char *pod_uuid);
// Adds it where it is missing.
struct kept_log *log_table_add(struct log_table *table, const char *pod_uuid, const char *workload_uuid,
                               const char *project);
void log_table_remove(struct log_table *table, struct kept_log *log);
void log_table_resize(struct log_table *table, struct kept_log *log, const struct log_size *size);
void log_table_mark(struct log_table *table, struct kept_log *log);
struct kept_log *log_table_take_marked(struct log_table *table); // NULL: none
// Marks the logs of these workloads as theirs who are deleted. O(logs * log(count)).
void log_table_delete(struct log_table *table, char (*workload_uuids)[UUID_SIZE], size_t count);
// What is to go so that the bounds hold; called again when it has been carried out, until it says 0. Of a project with
// too much the logs of pods that are over go, the oldest first, then the oldest part of the largest of those that run.
// Where all together are too much, the project with the most gives.
size_t log_table_plan(struct log_table *table, const struct log_bounds *bounds, struct log_order *orders, size_t max);
