// What leaves the database when it is old, or when the file takes more than it may: kind by kind, the oldest first, a
// bounded number of rows at a time. What runs or is unfinished is none of it. All are write functions; each takes what
// an index has in front, so its cost is that of the rows it takes.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct db_conn;
struct error;

enum retention_kind {
    RETENTION_WORKLOADS,   // that were deleted, with pods, events, phases, receipts and samples
    RETENTION_SAMPLES,     // of what lives; the last value before the bound stays
    RETENTION_EVENTS,      // of what lives, and of nodes and the cluster
    RETENTION_ALLOCATIONS, // that have ended; their days' sums stay (db/usage_days.h)
    RETENTION_SESSIONS,    // by their last use
    RETENTION_KIND_COUNT
};

// "workloads", "samples", ...: static text.
const char *retention_kind_text(enum retention_kind kind);

// How far the samples were looked through; zero at first. Keep it only where the write function was committed.
struct retention_mark {
    char scope[16], metric[64];
    int64_t scope_id, node_pool_id, time_ms;
};

// When the oldest of a kind was deleted, taken, written, ended or used last. INT64_MAX: there is none. One statement.
int db_find_oldest(struct db_conn *conn, enum retention_kind kind, const struct retention_mark *mark, int64_t *out_ms,
                   struct error *err);
// Removes what is older than before_ms, about `rows` rows at most. *out_count: how many of the kind are gone for good.
int db_remove_oldest(struct db_conn *conn, enum retention_kind kind, struct retention_mark *mark, int64_t before_ms,
                     int64_t rows, int64_t *out_count, struct error *err);
// Sessions that have expired, and Idempotency-Keys of more than a day ago; oldest first, `rows` of each.
int db_remove_expired(struct db_conn *conn, int64_t now_ms, int64_t rows, struct error *err);
