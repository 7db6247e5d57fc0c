#include "db/notifications/outbox.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/db.h"

#include <string.h>

enum {
    HOUR_MS = 3600000
};

static const char SQL_HAS_CHANNEL[] = "SELECT 1 FROM notification_channels WHERE name = :channel";
static const char SQL_OPEN_DIGEST[] =
    "SELECT id, (SELECT count(*) FROM notification_lines WHERE delivery_id = d.id) FROM notification_deliveries d "
    "WHERE channel = :channel AND user_id IS :user_id AND state = 'Waiting' AND is_digest = 1 AND attempts = 0 LIMIT 1";
static const char SQL_RECENT[] = "SELECT count(*), min(created_ms) FROM notification_deliveries "
                                 "WHERE channel = :channel AND user_id IS :user_id AND created_ms > :after";
static const char SQL_ADD_DELIVERY[] =
    "INSERT INTO notification_deliveries (uuid, channel, user_id, is_digest, state, created_ms, next_ms) "
    "VALUES (:uuid, :channel, :user_id, :is_digest, 'Waiting', :created_ms, :next_ms)";
static const char SQL_OMIT[] = "UPDATE notification_deliveries SET omitted_count = omitted_count + 1 WHERE id = :id";
static const char SQL_ADD_LINE[] =
    "INSERT INTO notification_lines (delivery_id, user_id, source, category, type, time_ms, sentence, workload_uuid, "
    "workload_name, project_name, cluster_id, department_id, project_id) SELECT :delivery_id, :user_id, :source, "
    ":category, :type, :time_ms, :sentence, :workload_uuid, :workload_name, :project_name, :cluster_id, "
    ":department_id, :project_id WHERE EXISTS (SELECT 1 FROM users WHERE id = :user_id)";
static const char SQL_MOVE_CURSOR[] =
    "UPDATE notification_cursor SET event_id = :event_id, phase_id = :phase_id, digest_ms = :digest_ms";

// Where the line goes: a delivery with room for it.
struct place {
    int64_t delivery_id;
    bool is_full;
};

static void bind_recipient(sqlite3_stmt *stmt, const struct notification_post *post)
{
    db_set_text(stmt, ":channel", post->channel);
    db_set_int_or_null(stmt, ":user_id", !post->is_shared, post->line.user_id);
}

// 1: there is such a channel (or user) still.
static int is_there(struct db_conn *conn, const struct notification_post *post, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_HAS_CHANNEL, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":channel", post->channel);
    int rc = db_step(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int find_digest(struct db_conn *conn, const struct notification_post *post, struct place *out_place,
                       struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_OPEN_DIGEST, &stmt, err) < 0)
        return -1;
    bind_recipient(stmt, post);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        *out_place = (struct place){db_column_int(stmt, 0), db_column_int(stmt, 1) >= DELIVERY_LINES_MAX};
    db_release(conn, stmt);
    return rc;
}

// When the hour has room again; 0: it has room now.
static int find_room(struct db_conn *conn, const struct notification_batch *batch, const struct notification_post *post,
                     int64_t *out_room_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_RECENT, &stmt, err) < 0)
        return -1;
    bind_recipient(stmt, post);
    db_set_int(stmt, ":after", batch->now_ms - HOUR_MS);
    int rc = db_step(conn, stmt, err);
    *out_room_ms = rc > 0 && db_column_int(stmt, 0) >= batch->per_hour ? db_column_int(stmt, 1) + HOUR_MS : 0;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int add_delivery(struct db_conn *conn, const struct notification_batch *batch,
                        const struct notification_post *post, int64_t room_ms, struct place *out_place,
                        struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    if (db_prepare(conn, SQL_ADD_DELIVERY, &stmt, err) < 0)
        return -1;
    bind_recipient(stmt, post);
    db_set_text(stmt, ":uuid", uuid);
    db_set_int(stmt, ":is_digest", room_ms != 0);
    db_set_int(stmt, ":created_ms", batch->now_ms);
    db_set_int(stmt, ":next_ms", room_ms ? room_ms : batch->now_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    *out_place = (struct place){rc == 0 ? db_last_insert_id(conn) : 0, false};
    return rc;
}

static int find_place(struct db_conn *conn, const struct notification_batch *batch,
                      const struct notification_post *post, struct place *out_place, struct error *err)
{
    int64_t room_ms;
    int rc = find_digest(conn, post, out_place, err);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return find_room(conn, batch, post, &room_ms, err) < 0 ? -1
                                                           : add_delivery(conn, batch, post, room_ms, out_place, err);
}

static int add_line(struct db_conn *conn, int64_t delivery_id, const struct notification_line *line, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_ADD_LINE, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":delivery_id", delivery_id);
    db_set_int(stmt, ":user_id", line->user_id);
    db_set_text(stmt, ":source", line->source);
    db_set_text(stmt, ":category", line->category);
    db_set_text(stmt, ":type", line->type);
    db_set_int(stmt, ":time_ms", line->time_ms);
    db_set_text(stmt, ":sentence", line->sentence);
    db_set_text(stmt, ":workload_uuid", line->workload_uuid);
    db_set_text(stmt, ":workload_name", line->workload_name);
    db_set_text(stmt, ":project_name", line->project_name);
    db_set_int(stmt, ":cluster_id", line->cluster_id);
    db_set_int(stmt, ":department_id", line->department_id);
    db_set_int(stmt, ":project_id", line->project_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int omit_line(struct db_conn *conn, int64_t delivery_id, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_OMIT, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":id", delivery_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static bool shares_delivery(const struct notification_post *a, const struct notification_post *b)
{
    return strcmp(a->channel, b->channel) == 0 && a->is_shared == b->is_shared &&
           (a->is_shared || a->line.user_id == b->line.user_id) && strcmp(a->line.source, b->line.source) == 0;
}

static int move_cursor(struct db_conn *conn, const struct notification_cursor *cursor, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_MOVE_CURSOR, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":event_id", cursor->event_id);
    db_set_int(stmt, ":phase_id", cursor->phase_id);
    db_set_int(stmt, ":digest_ms", cursor->digest_ms);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

int db_add_notifications_in(struct db_conn *conn, const struct notification_batch *batch, struct error *err)
{
    struct place place = {0};
    for (size_t i = 0; i < batch->count; i++) {
        const struct notification_post *post = &batch->posts[i];
        int rc = is_there(conn, post, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        bool is_next = place.delivery_id && i > 0 && shares_delivery(post, &batch->posts[i - 1]);
        if (!is_next && find_place(conn, batch, post, &place, err) < 0)
            return -1;
        if (place.is_full ? omit_line(conn, place.delivery_id, err) < 0
                          : add_line(conn, place.delivery_id, &post->line, err) < 0)
            return -1;
    }
    return move_cursor(conn, &batch->cursor, err);
}

static int add_batch(struct db_conn *conn, void *context, struct error *err)
{
    return db_add_notifications_in(conn, context, err);
}

int db_add_notifications(struct db *db, const struct notification_batch *batch, struct error *err)
{
    struct notification_batch copy = *batch;
    return db_write(db, add_batch, &copy, err);
}
