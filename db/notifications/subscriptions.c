#include "db/notifications/subscriptions.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#define SELECT_SUBSCRIPTION                                                                           \
    "SELECT s.uuid, s.user_id, u.email, s.scope = 'all', s.events_json, s.channels_json, s.since_ms " \
    "FROM subscriptions s JOIN users u ON u.id = s.user_id "

static const char SQL_LIST[] = SELECT_SUBSCRIPTION "ORDER BY s.user_id, s.id";
static const char SQL_LIST_OF_USER[] = SELECT_SUBSCRIPTION "WHERE s.user_id = :user_id ORDER BY s.id";
static const char SQL_INSERT[] =
    "INSERT INTO subscriptions (uuid, user_id, scope, events_json, channels_json, since_ms) "
    "SELECT :uuid, :user_id, :scope, :events, :channels, :since_ms "
    "WHERE (SELECT count(*) FROM subscriptions WHERE user_id = :user_id) < :most";
static const char SQL_UPDATE[] = "UPDATE subscriptions SET scope = :scope, events_json = :events, "
                                 "channels_json = :channels, since_ms = :since_ms "
                                 "WHERE uuid = :uuid AND user_id = :user_id";
static const char SQL_DELETE[] = "DELETE FROM subscriptions WHERE uuid = :uuid AND user_id = :user_id";
// Who has no subscription left wants nothing more.
static const char SQL_FORGET[] =
    "DELETE FROM notification_lines WHERE user_id = :user_id AND "
    "NOT EXISTS (SELECT 1 FROM subscriptions WHERE user_id = :user_id) AND "
    "delivery_id IN (SELECT id FROM notification_deliveries WHERE state = 'Waiting' AND attempts = 0)";

static void subscription_from_row(sqlite3_stmt *stmt, struct arena *arena, struct subscription *out_subscription)
{
    *out_subscription = (struct subscription){
        .uuid = db_column_text(stmt, 0, arena),
        .user_id = db_column_int(stmt, 1),
        .user_email = db_column_text(stmt, 2, arena),
        .is_for_all = db_column_int(stmt, 3) != 0,
        .events_json = db_column_text(stmt, 4, arena),
        .channels_json = db_column_text(stmt, 5, arena),
        .since_ms = db_column_int(stmt, 6),
    };
}

int db_list_subscriptions(struct db_conn *conn, int64_t user_id, struct arena *arena,
                          struct subscription **out_subscriptions, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct subscription *subscriptions = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    if (db_prepare(conn, user_id ? SQL_LIST_OF_USER : SQL_LIST, &stmt, err) < 0)
        return -1;
    if (user_id)
        db_set_int(stmt, ":user_id", user_id);
    while ((rc = db_step(conn, stmt, err)) > 0) {
        subscriptions = arena_grow(arena, subscriptions, &capacity, count + 1, sizeof(*subscriptions));
        subscription_from_row(stmt, arena, &subscriptions[count++]);
    }
    db_release(conn, stmt);
    *out_subscriptions = subscriptions;
    *out_count = count;
    return rc;
}

static int run_with(struct db_conn *conn, const char *sql, const struct subscription *subscription, bool is_new,
                    struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", subscription->uuid);
    db_set_int(stmt, ":user_id", subscription->user_id);
    db_set_text(stmt, ":scope", subscription->is_for_all ? "all" : "own");
    db_set_text(stmt, ":events", subscription->events_json);
    db_set_text(stmt, ":channels", subscription->channels_json);
    db_set_int(stmt, ":since_ms", subscription->since_ms);
    if (is_new)
        db_set_int(stmt, ":most", SUBSCRIPTIONS_MAX);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_SETTING, "subscriptions");
    return rc;
}

static int create(struct db_conn *conn, void *context, struct error *err)
{
    if (run_with(conn, SQL_INSERT, context, true, err) < 0)
        return -1;
    if (db_changed_rows(conn) == 0)
        return error_set(err, ERROR_CONFLICT, "subscriptions: you have %d, the most there may be; delete one first",
                         SUBSCRIPTIONS_MAX);
    return 0;
}

int db_create_subscription(struct db *db, const struct subscription *subscription, struct error *err)
{
    struct subscription copy = *subscription;
    return db_write(db, create, &copy, err);
}

static int check_changed(struct db_conn *conn, const char *uuid, struct error *err)
{
    return db_changed_rows(conn) > 0 ? 0 : error_set(err, ERROR_NOT_FOUND, "subscription %.60s: not found", uuid);
}

static int update(struct db_conn *conn, void *context, struct error *err)
{
    const struct subscription *subscription = context;
    return run_with(conn, SQL_UPDATE, subscription, false, err) < 0 ? -1 : check_changed(conn, subscription->uuid, err);
}

int db_update_subscription(struct db *db, const struct subscription *subscription, struct error *err)
{
    struct subscription copy = *subscription;
    return db_write(db, update, &copy, err);
}

static int delete_subscription(struct db_conn *conn, void *context, struct error *err)
{
    const struct subscription *subscription = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_DELETE, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":uuid", subscription->uuid);
    db_set_int(stmt, ":user_id", subscription->user_id);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0 || check_changed(conn, subscription->uuid, err) < 0 || db_prepare(conn, SQL_FORGET, &stmt, err) < 0)
        return -1;
    db_set_int(stmt, ":user_id", subscription->user_id);
    rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_SETTING, "subscriptions");
    return rc;
}

int db_delete_subscription(struct db *db, int64_t user_id, const char *uuid, struct error *err)
{
    return db_write(db, delete_subscription, &(struct subscription){.uuid = uuid, .user_id = user_id}, err);
}
