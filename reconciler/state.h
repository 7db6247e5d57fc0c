// The reconciler's inside, for its own files: reconciler.c (turns), loop.c (the thread), metrics.c, logs.c.
#pragma once
#include "backends/backend.h"
#include "base/places.h"
#include "reconciler/outcome/figures.h"
#include "reconciler/searches.h"
#include "reconciler/statistics.h"
#include "reconciler/view.h"
#include "reconciler/world/budgets.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    ACTIONS = ACTION_COUNT,
    VERBS = 4
};

// What metrics.c shows; written by the thread, read by any.
struct counters {
    _Atomic int64_t cycles, turns, failures, refused_plans;
    _Atomic int64_t decisions[VERBS];
    _Atomic int64_t last_plan_us, last_cycle_us, plan_us_total;
    _Atomic int64_t decided_ms, planning_ms; // as reconciler_read_pace has them
    _Atomic int64_t evictions[ACTIONS];
    _Atomic int64_t workloads_tried[ACTIONS], workloads_placed[ACTIONS];
    _Atomic int64_t scenarios_simulated[ACTIONS], scenarios_filtered[ACTIONS];
    _Atomic int64_t searches_cut[ACTIONS];
    _Atomic int64_t search_turns; // that go on
    _Atomic int64_t workload_count, pod_count;
};

struct page_reader; // serving/page_reader.h

struct reconciler {
    struct db *db;
    struct backend *backend;
    struct reconciler_options options;
    struct view_slot views;
    struct counters counters;
    atomic_bool is_ready;
    atomic_bool is_failing;
    _Atomic int64_t moved_us;    // when the thread last began a turn or ended one
    struct places questions;     // that are being answered
    atomic_bool is_looking_back; // a cycle of the journal is being planned again

    // The thread's, or the caller's of reconciler_turn.
    struct cache cache;
    struct figures figures;
    struct past_usage usage;
    struct budgets budgets; // with a lock of its own
    struct retention retention;
    struct statistics statistics;
    struct searches searches;
    struct arena turn_arena;
    struct page_reader *pages;  // of inferences' replicas; NULL: no pod has an address
    struct backend_fact *facts; // taken from the backend and not yet written
    size_t fact_count, fact_capacity;
    bool has_adopted;
    bool is_clearing;         // the backend has more to compare with rows
    bool has_strays_to_match; // of what runs without a row some may be in rows that wait; nothing is planned before
    int64_t latest_ms;        // when the turn before looked at the clock; 0: there was none, or it failed
    int64_t next_due_ms;
    int64_t plan_due_ms; // until then what is unchanged need not be planned again
    int64_t expiry_checked_ms;
    int64_t cycle; // number of the latest

    // Waking.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, stopping;
    bool woken;           // by anybody
    bool plan_is_refused; // with the lock, as the two below
    char refused_cause[256];
    int64_t refused_ms;
    atomic_bool facts_waiting; // the backend has something
    atomic_bool rows_changed;  // workloads or pods
    atomic_bool pages_read;    // metrics of replicas have come
    atomic_bool world_changed; // the organisation or nodes
};

// devices.c: pods that run though no row asks for them.
size_t devices_count_strays(const struct reconciler *reconciler);

// budget.c: Prometheus text.
void reconciler_write_budgets(struct reconciler *reconciler, struct buffer *out);

// clearing.c: a part in each turn, for nobody waits for it. Where the backend has no more, is_clearing ends.
void clearing_begin(struct reconciler *reconciler, const struct backend_fact *facts, size_t count);
void clearing_go_on(struct reconciler *reconciler, struct db_conn *conn);

// adoption.c: after what runs was compared with rows, and what came of it is written.
void adoption_take_waiting(struct reconciler *reconciler);
// Whether a pod's row wants it to be over. A pod that waits has no place yet: what runs of it is of a time after these
// rows. context: a connection.
bool adoption_is_over(const char *pod_uuid, void *context);

int64_t reconciler_now(const struct reconciler *reconciler);
