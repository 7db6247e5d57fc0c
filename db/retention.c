#include "db/retention.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/idempotency_keys.h"
#include "db/usage_days.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The newest workload and the newest pod stay: a number that is the highest would be given again.
static const char SQL_OLDEST_WORKLOAD[] =
    "SELECT w.deleted_ms, w.id FROM workloads w WHERE w.deleted_ms > 0 AND w.id < (SELECT max(id) FROM workloads)"
    " AND NOT EXISTS (SELECT 1 FROM pods p WHERE p.workload_id = w.id"
    " AND (p.deleted_ms = 0 OR p.id = (SELECT max(id) FROM pods))) ORDER BY w.deleted_ms LIMIT 1";
// What belongs to a workload, then the workload. Each ends with how many rows it may take.
static const char *const SQL_REMOVE_WORKLOAD[] = {
    ("DELETE FROM samples WHERE (scope, scope_id, node_pool_id, metric, time_ms) IN (SELECT s.scope, s.scope_id,"
     " s.node_pool_id, s.metric, s.time_ms FROM pods p CROSS JOIN samples s ON s.scope = 'pod' AND s.scope_id = p.id"
     " WHERE p.workload_id = ?1 LIMIT ?2)"),
    ("DELETE FROM samples WHERE (scope, scope_id, node_pool_id, metric, time_ms) IN (SELECT s.scope, s.scope_id,"
     " s.node_pool_id, s.metric, s.time_ms FROM samples s WHERE s.scope = 'workload' AND s.scope_id = ?1 LIMIT ?2)"),
    "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE workload_id = ?1 LIMIT ?2)",
    "DELETE FROM phase_history WHERE id IN (SELECT id FROM phase_history WHERE workload_id = ?1 LIMIT ?2)",
    "DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE workload_id = ?1 LIMIT ?2)",
    "DELETE FROM pods WHERE id IN (SELECT id FROM pods WHERE workload_id = ?1 LIMIT ?2)",
    "DELETE FROM workloads WHERE id IN (SELECT id FROM workloads WHERE id = ?1 LIMIT ?2)",
};
static const char SQL_OLDEST_SAMPLE[] = "SELECT min(time_ms) FROM samples WHERE time_ms >= ?1";
static const char SQL_NEXT_SAMPLES[] =
    "SELECT time_ms, scope, scope_id, node_pool_id, metric FROM samples INDEXED BY samples_time"
    " WHERE (time_ms, scope, scope_id, node_pool_id, metric) > (?1, ?2, ?3, ?4, ?5) AND time_ms < ?6"
    " ORDER BY time_ms, scope, scope_id, node_pool_id, metric LIMIT ?7";
static const char SQL_REMOVE_SAMPLES_BEFORE[] = "DELETE FROM samples WHERE scope = ?2 AND scope_id = ?3"
                                                " AND node_pool_id = ?4 AND metric = ?5 AND time_ms < ?1";
static const char SQL_OLDEST_EVENT[] = "SELECT min(time_ms) FROM events";
static const char SQL_REMOVE_EVENTS[] =
    "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE time_ms < ?1 ORDER BY time_ms LIMIT ?2)";
static const char SQL_OLDEST_ALLOCATION[] = "SELECT min(ended_ms) FROM allocations WHERE ended_ms > 0";
static const char SQL_NEXT_ALLOCATION[] =
    "SELECT id FROM allocations WHERE ended_ms > 0 AND ended_ms < ?1 ORDER BY ended_ms LIMIT 1";
static const char SQL_OLDEST_SESSION[] = "SELECT min(last_used_ms) FROM sessions";
static const char SQL_REMOVE_SESSIONS[] =
    "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE last_used_ms < ?1 ORDER BY last_used_ms LIMIT ?2)";
static const char SQL_REMOVE_EXPIRED[] =
    "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_ms < ?1 ORDER BY expires_ms LIMIT ?2)";
static const char SQL_REMOVE_KEYS[] =
    "DELETE FROM idempotency_keys WHERE (subject_type, subject_id, operation, key) IN (SELECT subject_type, "
    "subject_id, "
    "operation, key FROM idempotency_keys WHERE created_ms < ?1 ORDER BY created_ms LIMIT ?2)";

enum {
    SAMPLES_AT_ONCE = 512
};

const char *retention_kind_text(enum retention_kind kind)
{
    static const char *const TEXTS[RETENTION_KIND_COUNT] = {
        [RETENTION_WORKLOADS] = "workloads",     [RETENTION_SAMPLES] = "samples",   [RETENTION_EVENTS] = "events",
        [RETENTION_ALLOCATIONS] = "allocations", [RETENTION_SESSIONS] = "sessions",
    };
    return TEXTS[kind];
}

int db_find_oldest(struct db_conn *conn, enum retention_kind kind, const struct retention_mark *mark, int64_t *out_ms,
                   struct error *err)
{
    static const char *const STATEMENTS[RETENTION_KIND_COUNT] = {
        [RETENTION_WORKLOADS] = SQL_OLDEST_WORKLOAD, [RETENTION_SAMPLES] = SQL_OLDEST_SAMPLE,
        [RETENTION_EVENTS] = SQL_OLDEST_EVENT,       [RETENTION_ALLOCATIONS] = SQL_OLDEST_ALLOCATION,
        [RETENTION_SESSIONS] = SQL_OLDEST_SESSION,
    };
    sqlite3_stmt *stmt;
    if (db_prepare(conn, STATEMENTS[kind], &stmt, err) < 0)
        return -1;
    if (kind == RETENTION_SAMPLES)
        db_bind_int(stmt, 1, mark->time_ms);
    int rc = db_step(conn, stmt, err);
    *out_ms = rc == 1 && !db_column_is_null(stmt, 0) ? db_column_int(stmt, 0) : INT64_MAX;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

// A statement with a number and how many rows it may take.
static int remove_some(struct db_conn *conn, const char *sql, int64_t parameter, int64_t rows, int64_t *out_count,
                       struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, parameter);
    db_bind_int(stmt, 2, rows);
    int rc = db_run(conn, stmt, err);
    *out_count = rc == 0 ? db_changed_rows(conn) : 0;
    db_release(conn, stmt);
    return rc;
}

// *out_id: 0 where there is none.
static int find_workload(struct db_conn *conn, int64_t before_ms, int64_t *out_id, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_OLDEST_WORKLOAD, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    *out_id = rc == 1 && db_column_int(stmt, 0) < before_ms ? db_column_int(stmt, 1) : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

// A workload with more rows than are left goes in several calls, its own row last.
static int remove_workloads(struct db_conn *conn, int64_t before_ms, int64_t rows, int64_t *out_count,
                            struct error *err)
{
    size_t statements = sizeof(SQL_REMOVE_WORKLOAD) / sizeof(SQL_REMOVE_WORKLOAD[0]);
    int64_t id, removed;
    for (*out_count = 0; rows > 0; ++*out_count) {
        if (find_workload(conn, before_ms, &id, err) < 0)
            return -1;
        if (id == 0)
            return 0;
        for (size_t i = 0; i < statements; i++, rows -= removed) {
            if (rows <= 0)
                return 0;
            if (remove_some(conn, SQL_REMOVE_WORKLOAD[i], id, rows, &removed, err) < 0)
                return -1;
        }
    }
    return 0;
}

static int bind_mark(struct db_conn *conn, const char *sql, const struct retention_mark *mark, sqlite3_stmt **out_stmt,
                     struct error *err)
{
    if (db_prepare(conn, sql, out_stmt, err) < 0)
        return -1;
    db_bind_int(*out_stmt, 1, mark->time_ms);
    db_bind_text(*out_stmt, 2, mark->scope);
    db_bind_int(*out_stmt, 3, mark->scope_id);
    db_bind_int(*out_stmt, 4, mark->node_pool_id);
    db_bind_text(*out_stmt, 5, mark->metric);
    return 0;
}

static void mark_from_row(sqlite3_stmt *stmt, struct retention_mark *out)
{
    size_t length;
    *out = (struct retention_mark){
        .time_ms = db_column_int(stmt, 0), .scope_id = db_column_int(stmt, 2), .node_pool_id = db_column_int(stmt, 3)};
    snprintf(out->scope, sizeof(out->scope), "%s", db_column_view(stmt, 1, &length));
    snprintf(out->metric, sizeof(out->metric), "%s", db_column_view(stmt, 4, &length));
}

// A sample ends the need of those before it in its series. So each is looked at once, in the order of time, and takes
// its predecessors along; what has none after it stays, however old.
static int remove_samples(struct db_conn *conn, struct retention_mark *mark, int64_t before_ms, int64_t rows,
                          int64_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    struct arena arena;
    int64_t wanted = rows < SAMPLES_AT_ONCE ? rows : SAMPLES_AT_ONCE;
    int count = 0, rc;
    *out_count = 0;
    if (bind_mark(conn, SQL_NEXT_SAMPLES, mark, &stmt, err) < 0)
        return -1;
    arena_init(&arena);
    struct retention_mark *found = arena_array(&arena, SAMPLES_AT_ONCE, sizeof(*found));
    db_bind_int(stmt, 6, before_ms);
    db_bind_int(stmt, 7, wanted);
    while ((rc = db_step(conn, stmt, err)) == 1)
        mark_from_row(stmt, &found[count++]);
    db_release(conn, stmt);
    for (int i = 0; i < count && rc == 0; i++) {
        if ((rc = bind_mark(conn, SQL_REMOVE_SAMPLES_BEFORE, &found[i], &stmt, err)) < 0)
            break;
        rc = db_run(conn, stmt, err);
        *out_count += rc == 0 ? db_changed_rows(conn) : 0;
        db_release(conn, stmt);
    }
    if (rc == 0 && count > 0)
        *mark = found[count - 1];
    if (rc == 0 && count < wanted) // all before the bound are looked through
        *mark = (struct retention_mark){.time_ms = before_ms};
    arena_done(&arena);
    return rc;
}

static int remove_allocations(struct db_conn *conn, int64_t before_ms, int64_t rows, int64_t *out_count,
                              struct error *err)
{
    int rc = 0;
    for (*out_count = 0; rc == 0 && *out_count < rows; ++*out_count) {
        sqlite3_stmt *stmt;
        if (db_prepare(conn, SQL_NEXT_ALLOCATION, &stmt, err) < 0)
            return -1;
        db_bind_int(stmt, 1, before_ms);
        rc = db_step(conn, stmt, err);
        int64_t id = rc == 1 ? db_column_int(stmt, 0) : 0;
        db_release(conn, stmt);
        if (rc != 1)
            return rc;
        rc = db_sum_allocation(conn, id, err);
    }
    return rc;
}

int db_remove_oldest(struct db_conn *conn, enum retention_kind kind, struct retention_mark *mark, int64_t before_ms,
                     int64_t rows, int64_t *out_count, struct error *err)
{
    switch (kind) {
    case RETENTION_WORKLOADS:
        return remove_workloads(conn, before_ms, rows, out_count, err);
    case RETENTION_SAMPLES:
        return remove_samples(conn, mark, before_ms, rows, out_count, err);
    case RETENTION_EVENTS:
        return remove_some(conn, SQL_REMOVE_EVENTS, before_ms, rows, out_count, err);
    case RETENTION_ALLOCATIONS:
        return remove_allocations(conn, before_ms, rows / 4, out_count, err); // a sum costs more than a removal
    default:
        return remove_some(conn, SQL_REMOVE_SESSIONS, before_ms, rows, out_count, err);
    }
}

int db_remove_expired(struct db_conn *conn, int64_t now_ms, int64_t rows, struct error *err)
{
    int64_t count;
    if (remove_some(conn, SQL_REMOVE_EXPIRED, now_ms, rows, &count, err) < 0)
        return -1;
    return remove_some(conn, SQL_REMOVE_KEYS, now_ms - IDEMPOTENCY_KEEP_MS, rows, &count, err);
}
