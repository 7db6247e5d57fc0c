// Pod rows come into being here, at submission and whenever the reconciler wants pods again; everything else about
// their lives is the reconciler's. New rows are Pending and hold nothing.
#pragma once
#include "model/pod.h"

#include <stdbool.h>

struct db_conn;
struct error;

// Whose pods: the columns that their names and rows are made from.
struct pod_owner {
    int64_t workload_id;
    const char *workload_name;
    const char *workload_type;
};

// Inserts pods first_index .. first_index + count - 1 of a role. One statement each; touches each pod.
int db_insert_pods(struct db_conn *conn, const struct pod_owner *owner, const struct pod_request *request,
                   int64_t first_index, int64_t count, int64_t attempt, int64_t now_ms, struct error *err);
// The whole set once more, for a new attempt of the workload: master and workers, each asking for what the first pod of
// its role asked for. Of a training with completions no more than are still to be done; keeps_failed: a run
// that failed is done, too.
int db_create_pods(struct db_conn *conn, int64_t workload_id, int64_t attempt, bool keeps_failed, int64_t now_ms,
                   struct error *err);
// Which of a training's completions comes next, and the number of its next attempt: the first that does not run and has
// not ended well. keeps_failed: nor has failed last, for that is tried again by itself. One statement.
int db_find_next_run(struct db_conn *conn, int64_t workload_id, bool keeps_failed, int64_t *out_index,
                     int64_t *out_attempt, struct error *err);
// One pod, in place of one that was lost, or the next of a training's completions.
int db_create_pod(struct db_conn *conn, int64_t workload_id, const char *role, int64_t pod_index, int64_t attempt,
                  int64_t now_ms, struct error *err);
