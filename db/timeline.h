// What the timeline is made of: who held which devices of which node from when to when, evictions, and figures of the
// same time. Names of projects and workloads that the caller may not read do not leave the database.
#pragma once
#include "model/scope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

struct timeline_query {
    int64_t start_ms, end_ms;             // end_ms excluded
    const char *node_pool;                // by name; NULL: all
    const char *node;                     // by name; NULL: all
    const struct scope_filter *nodes;     // whose nodes are told
    const struct scope_filter *workloads; // whose names are told
};

struct timeline_lane {
    const char *node, *node_pool;
    int64_t gpu_count;
};
// The nodes with GPUs that there are; the arena's. By node pool and name.
int db_list_timeline_lanes(struct db_conn *conn, const struct timeline_query *query, struct arena *arena,
                           struct timeline_lane **out_lanes, size_t *out_count, struct error *err);

enum held_end {
    HELD_STILL,
    HELD_FINISHED,
    HELD_FAILED,    // also: its node was lost
    HELD_PREEMPTED, // gave way by a decision of the scheduler
    HELD_STOPPED,   // by a person or a rule
    HELD_END_COUNT
};
// "finished", "failed", ...; NULL for HELD_STILL. Static text.
const char *held_end_text(enum held_end end);

// One pod's place from start to end.
struct held_place {
    int64_t id;           // of its row
    const char *node;     // until the callback returns
    int64_t node_pool_id; // at its start
    uint64_t devices;     // a bit for each; those beyond 63 are left out
    int64_t gpu_milli;
    int64_t project_id, workload_id; // 0: the caller may not know whose it is
    int64_t started_ms, ended_ms;    // ended_ms 0: still held
    enum held_end end;
};
typedef void (*db_held_fn)(void *context, const struct held_place *place);
// Calls fn for each place that was held in the period, in the order of their starts. One pass over the allocations.
int db_read_held(struct db_conn *conn, const struct timeline_query *query, struct arena *arena, db_held_fn fn,
                 void *context, struct error *err);

// From when on the places are complete, because older ones have been removed; 0: none has.
int db_find_held_since(struct db_conn *conn, int64_t *out_since_ms, struct error *err);

struct held_name {
    int64_t id;                     // of a place
    const char *workload_uuid;      // NULL: its row has gone
    const char *workload, *project; // as they were called when it was held
};
// Of these places (ids ascending, as JSON for json_each), by id; the arena's. The caller asks only for what may be
// told.
int db_read_held_names(struct db_conn *conn, const char *ids_json, struct arena *arena, struct held_name **out_names,
                       size_t *out_count, struct error *err);

struct timeline_eviction {
    int64_t time_ms;
    const char *action; // reclaim, preempt, ...
    const char *node;
    uint64_t devices;
    int64_t gpu_milli;
    bool is_victim_shown, is_beneficiary_shown; // where not, the names below are NULL
    const char *victim_uuid, *victim, *victim_project;
    const char *beneficiary_uuid, *beneficiary, *beneficiary_project;
    bool has_beneficiary; // it gave way to somebody
};
// The newest first, at most limit; the arena's.
int db_list_timeline_evictions(struct db_conn *conn, const struct timeline_query *query, size_t limit,
                               struct arena *arena, struct timeline_eviction **out_evictions, size_t *out_count,
                               struct error *err);

// How many workloads waited that the caller may read, at such moments: for a node pool those that may go to it, where
// the query names one. Before this was kept: NAN.
int db_read_timeline_waiting(struct db_conn *conn, const struct timeline_query *query, int64_t now_ms, size_t count,
                             struct arena *arena, double *out_values, struct error *err);

// The values of a cluster's metric, or a node pool's where the query names one, at count moments evenly spread from
// the start, up to now_ms; NAN where there is none. One look at an index for each.
int db_read_timeline_figure(struct db_conn *conn, const struct timeline_query *query, const char *metric,
                            int64_t now_ms, size_t count, double *out_values, struct error *err);
