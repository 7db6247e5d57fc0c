// What changes of an inference while it lives: its specification. The reconciler moves pods_wanted (reconcile_write.h).
#pragma once
#include "db/workloads.h"

struct arena;
struct submission;

struct inference_row {
    const char *spec_json;
    const char *serving_json;
    const char *requested_name;
    int64_t generation;
};
// The arena's. ERROR_NOT_FOUND: no inference.
int db_read_inference(struct db_conn *conn, int64_t workload_id, struct arena *arena, struct inference_row *out_row,
                      struct error *err);

struct inference_change {
    const struct workload_state *workload;
    const struct submission *submission; // as it is to be
    int64_t generation;                  // as it was read, with the next
    const char *old_spec_json;
    bool is_new_generation; // replicas run something else from now on
    const char *what;       // has changed, for people: "image, autoscaling"
    const char *caller_name;
    int64_t now_ms;
};
// A write function's part. ERROR_CONFLICT: it has changed since it was read, or is gone.
int db_change_inference(struct db_conn *conn, const struct inference_change *change, struct error *err);
