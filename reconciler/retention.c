#include "reconciler/retention.h"

#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events.h"
#include "db/settings.h"
#include "db/space.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    CHECK_MS = 5000,
    ROWS = 1000, // of a step
    GIVE_BACK_PAGES = 256,
    LOW_PERCENT = 90,     // of the bound: until then it goes on
    FREE_BYTES = 1 << 20, // stay in the file for what comes next, and a thirty-second of what is in use
};
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
#define ALLOCATIONS_MS (35 * DAY_MS)

// How old each kind must be to go where the file is over its bound: at first, and where that is not enough.
static const int64_t FLOOR_MS[RETENTION_KIND_COUNT][2] = {
    [RETENTION_WORKLOADS] = {MINUTE_MS, MINUTE_MS}, // who waits for the deletion sees it
    [RETENTION_SAMPLES] = {7 * DAY_MS, HOUR_MS},
    [RETENTION_EVENTS] = {7 * DAY_MS, HOUR_MS},
    [RETENTION_ALLOCATIONS] = {ALLOCATIONS_MS, ALLOCATIONS_MS},
    [RETENTION_SESSIONS] = {7 * DAY_MS, 7 * DAY_MS},
};
static const int64_t KEEP_MS[RETENTION_KIND_COUNT] = {
    [RETENTION_WORKLOADS] = 14 * DAY_MS,   [RETENTION_SAMPLES] = 30 * DAY_MS, [RETENTION_EVENTS] = 30 * DAY_MS,
    [RETENTION_ALLOCATIONS] = 90 * DAY_MS, [RETENTION_SESSIONS] = INT64_MAX,
};

// A step, and what is taken over from it once it is on disk.
struct step {
    const struct retention_options *options;
    int64_t now_ms;
    const char *cluster_uuid;
    struct retention_mark mark;
    struct db_space space;
    bool was_shrinking, is_shrinking, is_stuck, is_again;
    enum retention_cause cause;
    int64_t removed[RETENTION_KIND_COUNT];
    const int64_t *shrunk_count;
};

int64_t retention_keep_ms(const struct retention_options *options, enum retention_kind kind)
{
    int64_t keep_ms = options->keep_ms[kind] ? options->keep_ms[kind] : KEEP_MS[kind];
    return kind == RETENTION_ALLOCATIONS && keep_ms < ALLOCATIONS_MS ? ALLOCATIONS_MS : keep_ms;
}

static int64_t floor_ms(const struct step *step, enum retention_kind kind, int stage)
{
    int64_t floor = FLOOR_MS[kind][stage];
    return kind == RETENTION_SESSIONS && step->options->session_idle_ms > floor ? step->options->session_idle_ms
                                                                                : floor;
}

// What is older than its kind is kept for, of one kind.
static int remove_by_age(struct db_conn *conn, struct step *step, bool *out_done, struct error *err)
{
    *out_done = false;
    for (enum retention_kind kind = 0; kind < RETENTION_SESSIONS && !*out_done; kind++) {
        int64_t before_ms = step->now_ms - retention_keep_ms(step->options, kind), oldest_ms;
        if (db_find_oldest(conn, kind, &step->mark, &oldest_ms, err) < 0)
            return -1;
        if (oldest_ms >= before_ms)
            continue;
        if (db_remove_oldest(conn, kind, &step->mark, before_ms, ROWS, &step->removed[kind], err) < 0)
            return -1;
        step->cause = RETENTION_BY_AGE;
        *out_done = true;
    }
    return *out_done ? 0 : db_remove_expired(conn, step->now_ms, ROWS, err);
}

// Some of what is the oldest of all that may go.
static int remove_by_size(struct db_conn *conn, struct step *step, int stage, bool *out_done, struct error *err)
{
    enum retention_kind oldest_kind = RETENTION_KIND_COUNT;
    int64_t oldest_ms = INT64_MAX;
    for (enum retention_kind kind = 0; kind < RETENTION_KIND_COUNT; kind++) {
        int64_t found_ms;
        if (db_find_oldest(conn, kind, &step->mark, &found_ms, err) < 0)
            return -1;
        if (found_ms >= step->now_ms - floor_ms(step, kind, stage) || found_ms >= oldest_ms)
            continue;
        oldest_ms = found_ms;
        oldest_kind = kind;
    }
    *out_done = oldest_kind < RETENTION_KIND_COUNT;
    if (!*out_done)
        return 0;
    step->cause = RETENTION_BY_SIZE;
    return db_remove_oldest(conn, oldest_kind, &step->mark, step->now_ms - floor_ms(step, oldest_kind, stage), ROWS,
                            &step->removed[oldest_kind], err);
}

static int tell(struct db_conn *conn, const struct step *step, const char *type, const char *reason,
                const char *message, struct error *err)
{
    char now[24];
    struct event event = {.time_ms = step->now_ms,
                          .type = type,
                          .reason = reason,
                          .message = message,
                          .source = "control-plane",
                          .object_kind = "Cluster",
                          .object_name = "database",
                          .object_uuid = step->cluster_uuid ? step->cluster_uuid : ""};
    snprintf(now, sizeof(now), "%" PRId64, step->now_ms);
    return db_add_event(conn, &event, err) < 0 ? -1 : db_set_meta_in(conn, RETENTION_SIZE_META, now, err);
}

// When it begins, and when there is room again.
static int tell_change(struct db_conn *conn, const struct step *step, struct error *err)
{
    char message[512];
    const int64_t *gone = step->shrunk_count;
    if (step->is_shrinking && !step->was_shrinking) {
        snprintf(message, sizeof(message),
                 "The database takes %" PRId64 " MiB, and its bound is %" PRId64
                 " MiB (database-bytes): the oldest of what is kept goes before its time",
                 step->space.used_bytes >> 20, step->options->bound_bytes >> 20);
        return tell(conn, step, EVENT_WARNING, "RemovedBySize", message, err);
    }
    if (step->is_shrinking || !step->was_shrinking)
        return 0;
    snprintf(message, sizeof(message),
             "The database is below its bound again (database-bytes): %" PRId64 " deleted workloads, %" PRId64
             " samples, %" PRId64 " events, %" PRId64 " allocations and %" PRId64 " sessions went before their time",
             gone[RETENTION_WORKLOADS], gone[RETENTION_SAMPLES], gone[RETENTION_EVENTS], gone[RETENTION_ALLOCATIONS],
             gone[RETENTION_SESSIONS]);
    return tell(conn, step, EVENT_NORMAL, "BelowBound", message, err);
}

static bool has_spare_pages(const struct db_space *space)
{
    return space->shrinks && space->free_bytes > FREE_BYTES + space->used_bytes / 32;
}

static int write_step(struct db_conn *conn, void *context, struct error *err)
{
    struct step *step = context;
    bool is_done;
    if (db_read_space(conn, &step->space, err) < 0 || remove_by_age(conn, step, &is_done, err) < 0)
        return -1;
    step->is_again = is_done;
    if (is_done) {
        step->is_shrinking = step->was_shrinking;
        return 0;
    }
    int64_t bound = step->options->bound_bytes;
    step->is_shrinking =
        bound > 0 && step->space.used_bytes > (step->was_shrinking ? bound / 100 * LOW_PERCENT : bound);
    for (int stage = 0; stage < 2 && step->is_shrinking && !is_done; stage++)
        if (remove_by_size(conn, step, stage, &is_done, err) < 0)
            return -1;
    step->is_again = is_done;
    if (!is_done) // as far as it goes
        step->is_stuck = step->is_shrinking = step->is_shrinking && step->space.used_bytes > bound;
    if (tell_change(conn, step, err) < 0)
        return -1;
    if (is_done || !has_spare_pages(&step->space))
        return 0;
    step->is_again = true;
    return db_give_back_pages(conn, GIVE_BACK_PAGES, err);
}

static void take_over(struct retention *retention, const struct step *step)
{
    retention->mark = step->mark;
    for (int kind = 0; kind < RETENTION_KIND_COUNT; kind++) {
        atomic_fetch_add(&retention->removed[kind][step->cause], step->removed[kind]);
        if (!step->is_shrinking)
            retention->shrunk_count[kind] = 0;
        else if (step->cause == RETENTION_BY_SIZE)
            retention->shrunk_count[kind] += step->removed[kind];
    }
    retention->is_shrinking = step->is_shrinking;
    atomic_store(&retention->used_bytes, step->space.used_bytes);
    atomic_store(&retention->free_bytes, step->space.free_bytes);
    atomic_store(&retention->is_over, step->is_shrinking);
    atomic_store(&retention->is_stuck, step->is_stuck);
}

int retention_step(struct retention *retention, const struct retention_options *options, struct db *db, int64_t now_ms,
                   bool *out_again, struct error *err)
{
    *out_again = false;
    if (now_ms < retention->due_ms && retention->due_ms <= now_ms + CHECK_MS)
        return 0;
    if (retention->mark.time_ms > now_ms) // the clock was set back
        retention->mark = (struct retention_mark){0};
    struct step step = {.options = options,
                        .now_ms = now_ms,
                        .cluster_uuid = retention->cluster_uuid,
                        .mark = retention->mark,
                        .was_shrinking = retention->is_shrinking,
                        .shrunk_count = retention->shrunk_count};
    retention->due_ms = now_ms + CHECK_MS;
    if (db_write_long(db, write_step, &step, err) < 0)
        return err->code == ERROR_UNAVAILABLE ? 0 : -1;
    take_over(retention, &step);
    if (step.is_again)
        retention->due_ms = now_ms;
    *out_again = step.is_again;
    return 0;
}

void retention_write_metrics(const struct retention *retention, const struct retention_options *options,
                             struct buffer *out)
{
    static const char *const CAUSES[RETENTION_CAUSE_COUNT] = {"age", "size"};
    buffer_printf(out,
                  "# HELP prorata_database_bytes What the database takes of its file.\n"
                  "# TYPE prorata_database_bytes gauge\nprorata_database_bytes %" PRId64 "\n"
                  "# HELP prorata_database_free_bytes What is free in its file.\n"
                  "# TYPE prorata_database_free_bytes gauge\nprorata_database_free_bytes %" PRId64 "\n"
                  "# HELP prorata_database_bound_bytes What it may take (database-bytes); 0: any amount.\n"
                  "# TYPE prorata_database_bound_bytes gauge\nprorata_database_bound_bytes %" PRId64 "\n"
                  "# HELP prorata_retention_by_size 1 while size removes what age would keep.\n"
                  "# TYPE prorata_retention_by_size gauge\nprorata_retention_by_size %d\n"
                  "# HELP prorata_retention_removed_total What left the database, by why.\n"
                  "# TYPE prorata_retention_removed_total counter\n",
                  atomic_load(&retention->used_bytes), atomic_load(&retention->free_bytes), options->bound_bytes,
                  atomic_load(&retention->is_over));
    for (enum retention_kind kind = 0; kind < RETENTION_KIND_COUNT; kind++)
        for (int cause = 0; cause < RETENTION_CAUSE_COUNT; cause++)
            buffer_printf(out, "prorata_retention_removed_total{kind=\"%s\",cause=\"%s\"} %" PRId64 "\n",
                          retention_kind_text(kind), CAUSES[cause], atomic_load(&retention->removed[kind][cause]));
}
