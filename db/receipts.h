// Receipts: what each eviction cost, and for whom. Rows are only added; they go with their workload.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct db_conn;
struct error;

struct receipt_row {
    int64_t workload_id; // workloads.id of who lost a pod
    const char *pod_name;
    int64_t time_ms;
    const char *action; // reclaim, preempt, consolidation, ...
    const char *rule;   // what allowed it
    const char *node_pool_name;
    const char *node_name;
    int64_t gpu_milli;
    const char *gpu_indices_json;
    int64_t beneficiary_id; // workloads.id; 0: nobody
    bool is_moved;          // it got another place at once
    int64_t lost_ms;        // run time since start
    const char *sentence;
    const char *victim_queue_json; // NULL: not known
    const char *beneficiary_queue_json;
};

// One statement; names and places in the organisation are the workloads' own.
int db_add_receipt(struct db_conn *conn, const struct receipt_row *row, struct error *err);
