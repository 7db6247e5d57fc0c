// What the reconciler writes: the outcome of a cycle, inside one write function. Columns that others write (wishes,
// specifications, settings) are left alone.
#pragma once
#include "db/reconcile_read.h"

struct pod_update {
    int64_t id;
    const char *uuid;
    enum pod_status status;
    const char *k8s_phase;
    const char *reason;
    const char *message; // NULL: as it was
    bool has_exit_code;  // false: as it was
    int64_t exit_code;
    int64_t node_id;       // 0: none
    const char *node_name; // NULL: none
    int64_t node_pool_id;  // 0: none
    const char *gpu_indices_json;
    const char *gpu_groups_json;
    int64_t gpu_allocated_milli;
    int64_t decision_id;
    int64_t start_decision;   // 0: as it was
    const char *promise_node; // NULL: none
    int64_t scheduled_ms;
    int64_t started_ms;
    int64_t stopping_ms;
    int64_t completed_ms;
    int64_t deleted_ms;
    int64_t idle_since_ms; // 0: its GPUs work, or no rule asks
    int64_t now_ms;
};
int db_update_pod(struct db_conn *conn, const struct pod_update *update, struct error *err);

// A phase follows from a wish: it is written only where the row's wish is still the one it follows from. Time spent in
// the phases that were left is added to the totals.
struct workload_update {
    struct workload_facts facts; // what the scheduler remembers of it, among other things; texts are the caller's
    bool changes_phase;
    const char *phase_message; // NULL: as it was
    int64_t pending_spent_ms;
    int64_t running_spent_ms;
    const char *k8s_phase;
    const char *phase_reason;
    int64_t gpu_allocated_milli;
    int64_t cpu_allocated_milli;
    int64_t memory_allocated_bytes;
    int64_t pods_running;
    int64_t pods_pending;
    const char *current_node_pools_json;
    bool explains;                // false: messages and explanation stay as they were
    const char *messages_json;    // NULL: none
    const char *explanation_json; // NULL: none
    int64_t now_ms;
};
int db_update_workload(struct db_conn *conn, const struct workload_update *update, struct error *err);
// From now on an inference wants this number of replicas; its row in lists says so too.
int db_scale_workload(struct db_conn *conn, int64_t workload_id, int64_t replicas, struct error *err);
// A limit or a rule ends it as a caller's suspend would.
int db_stop_workload_by_rule(struct db_conn *conn, int64_t workload_id, int64_t now_ms, struct error *err);
// A record of the phase's history, under the same condition. message NULL: the row's.
int db_add_phase_if_wished(struct db_conn *conn, int64_t workload_id, enum desired_phase desired,
                           enum workload_phase phase, const char *message, int64_t now_ms, struct error *err);

struct queue_figures {
    int64_t queue_id;
    int64_t owner_id;
    int64_t gpu_milli[4]; // fair share, allocated, allocated non-preemptible, requested
    int64_t cpu_milli[4];
    int64_t memory_bytes[4];
};
int db_update_queue_figures(struct db_conn *conn, const struct queue_figures *figures, struct error *err);

struct allocation_row {
    int64_t pod_id;
    const char *node_name;
    int64_t node_pool_id;
    const char *gpu_indices_json;
    int64_t gpu_milli;
    int64_t started_ms;
};
int db_begin_allocation(struct db_conn *conn, const struct allocation_row *row, struct error *err);
int db_end_allocation(struct db_conn *conn, int64_t pod_id, int64_t ended_ms, const char *reason, struct error *err);

struct sample_row {
    const char *scope;
    int64_t scope_id;
    int64_t node_pool_id;
    const char *metric;
    int64_t time_ms;
    double value;
};
int db_put_sample(struct db_conn *conn, const struct sample_row *row, struct error *err);
// Only where the series has a row, and its newest has another value.
int db_put_sparse_sample(struct db_conn *conn, const struct sample_row *row, struct error *err);
// The highest attempt of a workload's pods; -1 without pods.
int db_read_last_attempt(struct db_conn *conn, int64_t workload_id, int64_t *out_attempt, struct error *err);
int db_read_next_pod_index(struct db_conn *conn, int64_t workload_id, const char *role, int64_t *out_index,
                           struct error *err);
// Workloads whose time after completion is over: asks for their deletion. Returns how many.
int db_expire_workloads(struct db_conn *conn, int64_t now_ms, int64_t *out_count, struct error *err);
// Whether there is any; for readers.
int db_has_expired_workloads(struct db_conn *conn, int64_t now_ms, bool *out_has, struct error *err);
