// What the database keeps, and for how long: each kind for its time, and the oldest for less where the file takes more
// than its bound. A step takes a bounded number of rows in a transaction of its own, between turns; a step that finds
// nothing to do costs a dozen statements, each answered by an index, and no write.
//
// Over the bound: deleted workloads of any age, samples and events beyond a week, allocations beyond 35 days and
// sessions nobody uses, whichever is the oldest. Where that is not enough: samples and events beyond an hour. What runs
// or is unfinished, and allocations of 35 days, stay whatever the bound says.
#pragma once
#include "db/retention.h"

#include <stdatomic.h>

struct buffer;
struct db;

struct retention_options {
    int64_t bound_bytes;                   // pages in use; 0: none
    int64_t keep_ms[RETENTION_KIND_COUNT]; // 0: its default (retention_keep_ms); sessions go when they expire
    int64_t session_idle_ms;               // a session that was used since stays whatever the bound says
};

enum retention_cause {
    RETENTION_BY_AGE,
    RETENTION_BY_SIZE,
    RETENTION_CAUSE_COUNT
};

// The reconciler's thread writes, any reads the atomic ones.
struct retention {
    struct retention_mark mark;
    int64_t due_ms;
    const char *cluster_uuid;                   // under which events are told; of the present turn
    bool is_shrinking;                          // it was over the bound and is not yet far enough below
    int64_t shrunk_count[RETENTION_KIND_COUNT]; // gone since it was over the bound
    _Atomic int64_t removed[RETENTION_KIND_COUNT][RETENTION_CAUSE_COUNT];
    _Atomic int64_t used_bytes, free_bytes;
    atomic_bool is_over;  // is_shrinking, for others
    atomic_bool is_stuck; // over the bound, and nothing is left that may go
};

// The row of `meta` with the time (decimal, ms) at which size last removed what age would have kept.
#define RETENTION_SIZE_META "removed_by_size_ms"

// How long a kind is kept: what the options say, and never less than allocations' 35 days.
int64_t retention_keep_ms(const struct retention_options *options, enum retention_kind kind);
// One step where one is due. *out_again: there is more to do at once. A disk that refuses is not an error: it is tried
// again later.
int retention_step(struct retention *retention, const struct retention_options *options, struct db *db, int64_t now_ms,
                   bool *out_again, struct error *err);
// Prometheus text. Any thread.
void retention_write_metrics(const struct retention *retention, const struct retention_options *options,
                             struct buffer *out);
