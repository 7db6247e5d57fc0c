#include "api/audit/keeper.h"

#include "api/audit/audit.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/audit/heads.h"
#include "db/db.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    TICK_BUSY_S = 2, // while tries wait to be folded
    TICK_QUIET_S = 60,
    REMOVED_MAX = 1000 // records a step
};
#define HEAD_MS (INT64_C(10) * 60000)
#define DAY_MS INT64_C(86400000)

// What the thread knows beside struct audit.
struct keeper {
    struct audit *audit;
    int64_t head_seq, head_ms; // of the last head
    int64_t told_ms;           // when a head was last logged
    bool is_told_of_refusal;   // the disk's
};

struct batch {
    struct audit *audit;
    struct refusal items[REFUSALS_MAX];
    size_t count;
    int64_t overflow_count;
    int64_t now_ms;
};

// What is due: the first of each kind at once, its like once the minute is over; at the end, everything. The texts of
// what goes for good are the batch's then.
static void take_due(struct audit *audit, struct batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < audit->refusal_count; i++) {
        struct refusal *refusal = &audit->refusals[i];
        refusal->is_over = audit->is_stopping || batch->now_ms - refusal->began_ms >= REFUSALS_FOLD_MS ||
                           batch->now_ms < refusal->began_ms;
        if (refusal->record.count > 0 && (!refusal->is_told || refusal->is_over)) {
            batch->items[batch->count++] = *refusal;
            refusal->record.count = 0;
            refusal->is_told = true;
        } else if (refusal->is_over) {
            free(refusal->texts);
        }
        if (!refusal->is_over)
            audit->refusals[kept++] = *refusal;
    }
    audit->refusal_count = kept;
    if (audit->overflow_count > 0 && (audit->is_stopping || batch->now_ms - audit->minute_ms >= REFUSALS_FOLD_MS)) {
        batch->overflow_count = audit->overflow_count;
        audit->overflow_count = 0;
    }
}

static int write_refusal(struct db_conn *conn, const struct batch *batch, const struct refusal *refusal,
                         struct arena *arena, struct error *err)
{
    struct audit_record record = refusal->record;
    struct audit_place place = {0};
    if (refusal->scope_type &&
        db_find_audit_place(conn, refusal->scope_type, refusal->scope_id, arena, &place, err) < 0)
        return -1;
    record.where = place.where;
    return db_add_audit_record(conn, &batch->audit->key, &record, NULL, err);
}

static int write_overflow(struct db_conn *conn, const struct batch *batch, struct error *err)
{
    struct audit_record record = {.time_ms = batch->now_ms,
                                  .subject_type = "User",
                                  .subject = "",
                                  .address = "",
                                  .operation = "*",
                                  .action = "update",
                                  .method = "POST",
                                  .url = "/",
                                  .entity_type = "",
                                  .entity_id = "",
                                  .entity_name = "",
                                  .status = 403,
                                  .count = batch->overflow_count,
                                  .last_ms = batch->now_ms,
                                  .request = "",
                                  .details_json = "{\"refused\":\"more kinds of refused tries than are told apart\"}",
                                  .changes_json = "[]"};
    return db_add_audit_record(conn, &batch->audit->key, &record, NULL, err);
}

static int write_batch(struct db_conn *conn, void *context, struct error *err)
{
    const struct batch *batch = context;
    struct arena arena;
    int rc = 0;
    arena_init(&arena);
    for (size_t i = 0; i < batch->count && rc == 0; i++)
        rc = write_refusal(conn, batch, &batch->items[i], &arena, err);
    if (rc == 0 && batch->overflow_count > 0)
        rc = write_overflow(conn, batch, err);
    arena_done(&arena);
    return rc;
}

static void log_failure(struct keeper *keeper, const char *what, const struct error *err)
{
    if (!keeper->is_told_of_refusal)
        log_write(LOG_ERROR, "audit", "%s: %s", what, err->message);
    keeper->is_told_of_refusal = true;
}

// What a disk without room refuses is lost here; the log says so, once.
static void write_refusals(struct keeper *keeper, struct batch *batch)
{
    struct error err = {0};
    if (batch->count == 0 && batch->overflow_count == 0)
        return;
    if (db_write(keeper->audit->db, write_batch, batch, &err) < 0)
        log_failure(keeper, "refused tries have no record", &err);
    else
        keeper->is_told_of_refusal = false;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].is_over)
            free(batch->items[i].texts);
}

struct removal {
    struct audit *audit;
    int64_t now_ms, count;
};

static int remove_old(struct db_conn *conn, void *context, struct error *err)
{
    struct removal *removal = context;
    return db_remove_audit_records(conn, &removal->audit->key, removal->now_ms - removal->audit->keep_ms,
                                   removal->now_ms, REMOVED_MAX, &removal->count, err);
}

static void remove_all_old(struct keeper *keeper, int64_t now_ms)
{
    struct removal removal = {.audit = keeper->audit, .now_ms = now_ms};
    struct error err = {0};
    do {
        if (db_write(keeper->audit->db, remove_old, &removal, &err) < 0) {
            log_failure(keeper, "old records stay", &err);
            return;
        }
    } while (removal.count == REMOVED_MAX);
}

static int find_end(struct audit *audit, struct audit_mark *out_mark, struct error *err)
{
    struct db_conn *conn = db_acquire_for_reconciler(audit->db);
    int rc = db_find_audit_end(conn, out_mark, err);
    db_give_back(audit->db, conn);
    return rc;
}

static void log_head(const struct audit_mark *mark)
{
    char text[2 * AUDIT_MAC_SIZE + 1];
    sodium_bin2hex(text, sizeof(text), mark->mac, AUDIT_MAC_SIZE);
    log_write(LOG_INFO, "audit", "the last record seq=%" PRId64 " mac=%s", mark->seq, text);
}

static void sign_head(struct keeper *keeper, int64_t now_ms)
{
    struct audit *audit = keeper->audit;
    struct audit_mark mark;
    struct error err = {0};
    if (find_end(audit, &mark, &err) < 0) {
        log_failure(keeper, "no head is signed", &err);
        return;
    }
    if (now_ms - keeper->told_ms >= DAY_MS || now_ms < keeper->told_ms) {
        log_head(&mark);
        keeper->told_ms = now_ms;
    }
    keeper->head_ms = now_ms;
    if (mark.seq == keeper->head_seq)
        return;
    if (audit_heads_add(audit->data, &audit->key, &mark, now_ms, now_ms - audit->keep_ms, &err) < 0)
        log_failure(keeper, "no head is signed", &err);
    else
        keeper->head_seq = mark.seq;
}

static int check_last_head(struct audit *audit, struct arena *arena, struct error *err)
{
    struct audit_heads heads;
    struct audit_mark end;
    if (audit_heads_read(audit->data, arena, &heads, err) < 0 || find_end(audit, &end, err) < 0)
        return -1;
    if (heads.count > 0 && heads.items[heads.count - 1].mark.seq > end.seq)
        log_write(LOG_ERROR, "audit",
                  "records are missing: the last head names record %" PRId64 ", the database ends at %" PRId64
                  "; prorata verify says more",
                  heads.items[heads.count - 1].mark.seq, end.seq);
    return 0;
}

static int check_start(struct audit *audit, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int rc = check_last_head(audit, &arena, err);
    arena_done(&arena);
    return rc;
}

// Waits until something is due, and takes it. False: it is the last time.
static bool wait_for_work(struct audit *audit, struct batch *batch)
{
    batch->count = 0;
    batch->overflow_count = 0;
    pthread_mutex_lock(&audit->lock);
    bool is_busy = audit->refusal_count > 0 || audit->overflow_count > 0;
    struct timespec until = condition_after((int64_t)1000 * (is_busy ? TICK_BUSY_S : TICK_QUIET_S));
    bool has_new = audit->refusal_count > 0 && !audit->refusals[audit->refusal_count - 1].is_told;
    if (!audit->is_stopping && !has_new)
        pthread_cond_timedwait(&audit->work, &audit->lock, &until);
    batch->now_ms = timestamp_now_ms();
    take_due(audit, batch);
    bool goes_on = !audit->is_stopping;
    pthread_mutex_unlock(&audit->lock);
    return goes_on;
}

static void *keeper_main(void *context)
{
    struct keeper keeper = {.audit = context, .head_seq = -1};
    struct batch *batch = memory_array(1, sizeof(*batch));
    bool goes_on = true;
    batch->audit = context;
    sign_head(&keeper, timestamp_now_ms());
    while (goes_on) {
        goes_on = wait_for_work(context, batch);
        write_refusals(&keeper, batch);
        if (goes_on && batch->now_ms - keeper.head_ms < HEAD_MS && batch->now_ms >= keeper.head_ms)
            continue;
        remove_all_old(&keeper, batch->now_ms);
        sign_head(&keeper, batch->now_ms);
    }
    free(batch);
    return NULL;
}

static int start_keeper(struct audit *audit, struct error *err)
{
    int rc = pthread_create(&audit->keeper, NULL, keeper_main, audit);
    audit->has_keeper = rc == 0;
    return rc == 0 ? 0 : error_set(err, ERROR_INTERNAL, "cannot start the audit's thread: %s", strerror(rc));
}

int audit_open(const struct audit_options *options, struct audit **out_audit, struct error *err)
{
    struct audit *audit = memory_array(1, sizeof(*audit));
    struct arena arena;
    arena_init(&arena);
    audit->db = options->db;
    audit->keep_ms = options->keep_ms;
    audit->data = memory_strdup(options->data);
    pthread_mutex_init(&audit->lock, NULL);
    condition_init(&audit->work);
    int rc = audit_key_open(arena_printf(&arena, "%s/keys", options->data), &audit->key, err);
    if (rc == 0)
        rc = check_start(audit, err);
    if (rc == 0)
        rc = start_keeper(audit, err);
    arena_done(&arena);
    if (rc < 0)
        audit_close(audit);
    else
        *out_audit = audit;
    return rc;
}

void audit_close(struct audit *audit)
{
    if (!audit)
        return;
    pthread_mutex_lock(&audit->lock);
    audit->is_stopping = true;
    pthread_cond_signal(&audit->work);
    pthread_mutex_unlock(&audit->lock);
    if (audit->has_keeper)
        pthread_join(audit->keeper, NULL);
    for (size_t i = 0; i < audit->refusal_count; i++)
        free(audit->refusals[i].texts);
    pthread_mutex_destroy(&audit->lock);
    pthread_cond_destroy(&audit->work);
    sodium_memzero(&audit->key, sizeof(audit->key));
    free(audit->data);
    free(audit);
}
