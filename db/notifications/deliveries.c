// Deliveries on their way: which is due, claimed, ended, given up.
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/notifications/outbox.h"

#include <string.h>

#define SELECT_DELIVERY                                                                                        \
    "SELECT d.id, d.uuid, d.channel, coalesce(d.user_id, 0), u.email, d.is_digest, d.omitted_count, d.state, " \
    "d.attempts, d.created_ms, d.next_ms, d.ended_ms, d.error FROM notification_deliveries d "                 \
    "LEFT JOIN users u ON u.id = d.user_id "
static const char SQL_DUE[] =
    SELECT_DELIVERY "WHERE d.channel = :channel AND d.state = 'Waiting' ORDER BY d.next_ms, d.id LIMIT 1";
static const char SQL_LIST[] =
    SELECT_DELIVERY "WHERE :state IS NULL OR d.state = :state ORDER BY d.id DESC LIMIT :most";
static const char SQL_LINES[] = "SELECT user_id, source, category, type, time_ms, sentence, workload_uuid, "
                                "workload_name, project_name, cluster_id, department_id, project_id "
                                "FROM notification_lines WHERE delivery_id = :id ORDER BY id";
static const char SQL_CLAIM[] = "UPDATE notification_deliveries SET attempts = attempts + 1, next_ms = :until "
                                "WHERE id = :id AND state = 'Waiting'";
static const char SQL_END[] = "UPDATE notification_deliveries SET state = :state, error = :error, next_ms = :next_ms, "
                              "ended_ms = iif(:state = 'Waiting', 0, :now) WHERE id = :id";
static const char SQL_CHANNEL_SENT[] =
    "UPDATE notification_channels SET failures = 0, paused_until_ms = 0, last_error = '', last_error_ms = 0, "
    "last_sent_ms = :now WHERE name = :channel";
static const char SQL_CHANNEL_FAILED[] =
    "UPDATE notification_channels SET failures = failures + iif(:pause > 0, 1, 0), "
    "paused_until_ms = max(paused_until_ms, :pause), last_error = :error, last_error_ms = :now WHERE name = :channel";
static const char SQL_GIVE_UP_OF[] =
    "UPDATE notification_deliveries SET state = 'Failed', error = :error, ended_ms = :now "
    "WHERE channel = :channel AND state = 'Waiting' AND created_ms < :before";
static const char SQL_GIVE_UP[] = "UPDATE notification_deliveries SET state = 'Failed', ended_ms = ?1, "
                                  "error = iif(error = '', 'its channel was off or paused for too long', error) "
                                  "WHERE state = 'Waiting' AND created_ms < ?2";
static const char SQL_FORGET[] =
    "DELETE FROM notification_deliveries WHERE id IN (SELECT id FROM notification_deliveries "
    "WHERE state <> 'Waiting' AND ended_ms < ? ORDER BY ended_ms LIMIT 5000)";
static const char SQL_RELEASE[] =
    "UPDATE notification_deliveries SET next_ms = 0 WHERE state = 'Waiting' AND attempts > 0";
static const char SQL_UNPAUSE[] = "UPDATE notification_channels SET paused_until_ms = 0 WHERE paused_until_ms > 0";

static void delivery_from_row(sqlite3_stmt *stmt, struct arena *arena, struct delivery *out_delivery)
{
    *out_delivery = (struct delivery){
        .id = db_column_int(stmt, 0),
        .uuid = db_column_text(stmt, 1, arena),
        .channel = db_column_text(stmt, 2, arena),
        .user_id = db_column_int(stmt, 3),
        .user_email = db_column_text(stmt, 4, arena),
        .is_digest = db_column_int(stmt, 5) != 0,
        .omitted_count = db_column_int(stmt, 6),
        .state = db_column_text(stmt, 7, arena),
        .attempts = db_column_int(stmt, 8),
        .created_ms = db_column_int(stmt, 9),
        .next_ms = db_column_int(stmt, 10),
        .ended_ms = db_column_int(stmt, 11),
        .error = db_column_text(stmt, 12, arena),
    };
}

int db_find_due_delivery(struct db_conn *conn, const char *channel, int64_t now_ms, struct arena *arena,
                         struct delivery *out_delivery, int64_t *out_next_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DUE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":channel", channel);
    int rc = db_step(conn, stmt, err);
    *out_next_ms = 0;
    if (rc > 0) {
        delivery_from_row(stmt, arena, out_delivery);
        *out_next_ms = out_delivery->next_ms;
        rc = out_delivery->next_ms <= now_ms;
    }
    db_release(conn, stmt);
    return rc;
}

int db_list_deliveries(struct db_conn *conn, const char *state, int64_t limit, struct arena *arena,
                       struct delivery **out_deliveries, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct delivery *deliveries = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":state", state);
    db_set_int(stmt, ":most", limit);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        deliveries = arena_grow(arena, deliveries, &capacity, count + 1, sizeof(*deliveries));
        delivery_from_row(stmt, arena, &deliveries[count++]);
    }
    db_release(conn, stmt);
    *out_deliveries = deliveries;
    *out_count = count;
    return rc;
}

int db_list_delivery_lines(struct db_conn *conn, int64_t delivery_id, struct arena *arena,
                           struct notification_line **out_lines, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct notification_line *lines = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, SQL_LINES, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", delivery_id);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        lines = arena_grow(arena, lines, &capacity, count + 1, sizeof(*lines));
        lines[count++] = (struct notification_line){
            .user_id = db_column_int(stmt, 0),
            .source = db_column_text(stmt, 1, arena),
            .category = db_column_text(stmt, 2, arena),
            .type = db_column_text(stmt, 3, arena),
            .time_ms = db_column_int(stmt, 4),
            .sentence = db_column_text(stmt, 5, arena),
            .workload_uuid = db_column_text(stmt, 6, arena),
            .workload_name = db_column_text(stmt, 7, arena),
            .project_name = db_column_text(stmt, 8, arena),
            .cluster_id = db_column_int(stmt, 9),
            .department_id = db_column_int(stmt, 10),
            .project_id = db_column_int(stmt, 11),
        };
    }
    db_release(conn, stmt);
    *out_lines = lines;
    *out_count = count;
    return rc;
}

struct claim {
    int64_t id, until_ms;
    bool is_claimed;
};

static int claim(struct db_conn *conn, void *context, struct error *err)
{
    struct claim *work = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_CLAIM, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", work->id);
    db_set_int(stmt, ":until", work->until_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    work->is_claimed = rc == 0 && db_changed_rows(conn) > 0;
    return rc;
}

int db_claim_delivery(struct db *db, int64_t id, int64_t until_ms, bool *out_is_claimed, struct error *err)
{
    struct claim work = {id, until_ms, false};
    int rc = db_write(db, claim, &work, err);
    *out_is_claimed = work.is_claimed;
    return rc;
}

static int end_one(struct db_conn *conn, const struct delivery_outcome *outcome, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_END, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", outcome->id);
    db_set_text(stmt, ":state", outcome->state);
    db_set_text(stmt, ":error", outcome->error);
    db_set_int(stmt, ":next_ms", outcome->next_ms);
    db_set_int(stmt, ":now", outcome->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int note_channel(struct db_conn *conn, const struct delivery_outcome *outcome, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    bool is_sent = strcmp(outcome->state, "Sent") == 0;
    if (strcmp(outcome->state, "Dropped") == 0)
        return 0;
    if (db_prepare(conn, is_sent ? SQL_CHANNEL_SENT : SQL_CHANNEL_FAILED, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":channel", outcome->channel);
    db_set_int(stmt, ":now", outcome->now_ms);
    if (!is_sent) {
        db_set_text(stmt, ":error", outcome->error);
        db_set_int(stmt, ":pause", outcome->blames_channel ? outcome->pause_until_ms : 0);
    }
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

// The others that wait for a channel that fails: what is too old among them will not be tried.
static int give_up_others(struct db_conn *conn, const struct delivery_outcome *outcome, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!outcome->blames_channel)
        return 0;
    if (db_prepare(conn, SQL_GIVE_UP_OF, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":channel", outcome->channel);
    db_set_text(stmt, ":error", outcome->error);
    db_set_int(stmt, ":now", outcome->now_ms);
    db_set_int(stmt, ":before", outcome->give_up_before_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int end_delivery(struct db_conn *conn, void *context, struct error *err)
{
    const struct delivery_outcome *outcome = context;
    return end_one(conn, outcome, err) < 0 || note_channel(conn, outcome, err) < 0 ||
                   give_up_others(conn, outcome, err) < 0
               ? -1
               : 0;
}

int db_end_delivery(struct db *db, const struct delivery_outcome *outcome, struct error *err)
{
    struct delivery_outcome copy = *outcome;
    return db_write(db, end_delivery, &copy, err);
}

static int run(struct db_conn *conn, const char *sql, const int64_t *values, int count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        db_bind_int(stmt, i + 1, values[i]);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int release(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return run(conn, SQL_RELEASE, NULL, 0, err) < 0 || run(conn, SQL_UNPAUSE, NULL, 0, err) < 0 ? -1 : 0;
}

int db_release_deliveries(struct db *db, struct error *err)
{
    return db_write(db, release, NULL, err);
}

struct tidying {
    int64_t now_ms, give_up_before_ms, forget_before_ms;
};

static int tidy(struct db_conn *conn, void *context, struct error *err)
{
    const struct tidying *work = context;
    int64_t times[] = {work->now_ms, work->give_up_before_ms};
    return run(conn, SQL_GIVE_UP, times, 2, err) < 0 || run(conn, SQL_FORGET, &work->forget_before_ms, 1, err) < 0 ? -1
                                                                                                                   : 0;
}

int db_tidy_deliveries(struct db *db, int64_t give_up_before_ms, int64_t forget_before_ms, int64_t now_ms,
                       struct error *err)
{
    return db_write(db, tidy, &(struct tidying){now_ms, give_up_before_ms, forget_before_ms}, err);
}
