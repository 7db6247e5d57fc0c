#include "db/notifications/channels.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#define SELECT_CHANNEL                                                                                                \
    "SELECT name, type, is_enabled, config_json, secrets_sealed, updated_by, updated_ms, paused_until_ms, failures, " \
    "last_error, last_error_ms, last_sent_ms FROM notification_channels "

static const char SQL_FIND[] = SELECT_CHANNEL "WHERE name = :name";
static const char SQL_LIST[] = SELECT_CHANNEL "ORDER BY name";
static const char SQL_INSERT[] =
    "INSERT INTO notification_channels (name, type, config_json, secrets_sealed, updated_by, updated_ms) "
    "SELECT :name, :type, :config, :secrets, :updated_by, :updated_ms "
    "WHERE (SELECT count(*) FROM notification_channels) < :most";
static const char SQL_UPDATE[] =
    "UPDATE notification_channels SET config_json = :config, secrets_sealed = :secrets, updated_by = :updated_by, "
    "updated_ms = :updated_ms, paused_until_ms = 0, failures = 0 WHERE name = :name";
static const char SQL_TRY_NOW[] =
    "UPDATE notification_deliveries SET next_ms = 0 WHERE channel = :name AND state = 'Waiting' AND attempts > 0";
static const char SQL_DELETE[] = "DELETE FROM notification_channels WHERE name = :name";
static const char SQL_SWITCH[] =
    "UPDATE notification_channels SET is_enabled = CASE type WHEN 'email' THEN coalesce(:email, is_enabled) "
    "WHEN 'slack' THEN coalesce(:slack, is_enabled) ELSE coalesce(:webhook, is_enabled) END";

static void channel_from_row(sqlite3_stmt *stmt, struct arena *arena, struct notification_channel *out_channel)
{
    *out_channel = (struct notification_channel){
        .name = db_column_text(stmt, 0, arena),
        .type = db_column_text(stmt, 1, arena),
        .is_enabled = db_column_int(stmt, 2) != 0,
        .config_json = db_column_text(stmt, 3, arena),
        .secrets_sealed = db_column_text(stmt, 4, arena),
        .updated_by = db_column_text(stmt, 5, arena),
        .updated_ms = db_column_int(stmt, 6),
        .paused_until_ms = db_column_int(stmt, 7),
        .failures = db_column_int(stmt, 8),
        .last_error = db_column_text(stmt, 9, arena),
        .last_error_ms = db_column_int(stmt, 10),
        .last_sent_ms = db_column_int(stmt, 11),
    };
}

int db_find_notification_channel(struct db_conn *conn, const char *name, struct arena *arena,
                                 struct notification_channel *out_channel, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":name", name);
    int rc = db_step(conn, stmt, err);
    if (rc > 0)
        channel_from_row(stmt, arena, out_channel);
    db_release(conn, stmt);
    return rc;
}

int db_list_notification_channels(struct db_conn *conn, struct arena *arena, struct notification_channel **out_channels,
                                  size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    size_t count = 0;
    int rc;
    struct notification_channel *channels = arena_array(arena, NOTIFICATION_CHANNELS_MAX, sizeof(*channels));
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) > 0 && count < NOTIFICATION_CHANNELS_MAX)
        channel_from_row(stmt, arena, &channels[count++]);
    db_release(conn, stmt);
    *out_channels = channels;
    *out_count = count;
    return rc < 0 ? -1 : 0;
}

static void bind_channel(sqlite3_stmt *stmt, const struct notification_channel *channel)
{
    db_set_text(stmt, ":name", channel->name);
    db_set_text(stmt, ":config", channel->config_json);
    db_set_text(stmt, ":secrets", channel->secrets_sealed);
    db_set_text(stmt, ":updated_by", channel->updated_by);
    db_set_int(stmt, ":updated_ms", channel->updated_ms);
}

int db_create_notification_channel_in(struct db_conn *conn, const struct notification_channel *channel,
                                      struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct error cause = {0};
    if (db_prepare(conn, SQL_INSERT, &stmt, err) < 0)
        return -1;
    bind_channel(stmt, channel);
    db_set_text(stmt, ":type", channel->type);
    db_set_int(stmt, ":most", NOTIFICATION_CHANNELS_MAX);
    int rc = db_run(conn, stmt, &cause);
    db_release(conn, stmt);
    if (rc < 0 && cause.code == ERROR_CONFLICT)
        return error_set(err, ERROR_CONFLICT, "notification channel %s: it exists already", channel->name);
    if (rc < 0) {
        if (err)
            *err = cause;
        return -1;
    }
    if (db_changed_rows(conn) == 0)
        return error_set(err, ERROR_CONFLICT, "notification channels: there are %d, the most there may be",
                         NOTIFICATION_CHANNELS_MAX);
    db_touch(conn, CHANGE_SETTING, "notifications");
    return 0;
}

static int create_channel(struct db_conn *conn, void *context, struct error *err)
{
    return db_create_notification_channel_in(conn, context, err);
}

int db_create_notification_channel(struct db *db, const struct notification_channel *channel, struct error *err)
{
    struct notification_channel copy = *channel;
    return db_write(db, create_channel, &copy, err);
}

// A statement about one channel that must be there.
static int run_of(struct db_conn *conn, const char *sql, const char *name, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_set_text(stmt, ":name", name);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int check_changed(struct db_conn *conn, const char *name, struct error *err)
{
    if (db_changed_rows(conn) == 0)
        return error_set(err, ERROR_NOT_FOUND, "notification channel %.60s: not found", name);
    db_touch(conn, CHANGE_SETTING, "notifications");
    return 0;
}

static int update_channel(struct db_conn *conn, void *context, struct error *err)
{
    const struct notification_channel *channel = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_UPDATE, &stmt, err) < 0)
        return -1;
    bind_channel(stmt, channel);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0 || check_changed(conn, channel->name, err) < 0)
        return -1;
    return run_of(conn, SQL_TRY_NOW, channel->name, err);
}

int db_update_notification_channel(struct db *db, const struct notification_channel *channel, struct error *err)
{
    struct notification_channel copy = *channel;
    return db_write(db, update_channel, &copy, err);
}

struct deletion {
    const char *name;
};

static int delete_channel(struct db_conn *conn, void *context, struct error *err)
{
    const struct deletion *deletion = context;
    return run_of(conn, SQL_DELETE, deletion->name, err) < 0 ? -1 : check_changed(conn, deletion->name, err);
}

int db_delete_notification_channel(struct db *db, const char *name, struct error *err)
{
    return db_write(db, delete_channel, &(struct deletion){name}, err);
}

static int switch_channels(struct db_conn *conn, void *context, struct error *err)
{
    const struct notification_switches *switches = context;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_SWITCH, &stmt, err) < 0)
        return -1;
    db_set_int_or_null(stmt, ":email", switches->email >= 0, switches->email);
    db_set_int_or_null(stmt, ":slack", switches->slack >= 0, switches->slack);
    db_set_int_or_null(stmt, ":webhook", switches->webhook >= 0, switches->webhook);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch(conn, CHANGE_SETTING, "notifications");
    return rc;
}

int db_switch_notification_channels(struct db *db, const struct notification_switches *switches, struct error *err)
{
    struct notification_switches copy = *switches;
    return db_write(db, switch_channels, &copy, err);
}
