// The channels that notifications go by: reading and setting them. Secrets go in and never come out.
#include "db/notifications/channels.h"
#include "api/access/auth.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/notifications.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/notifications/outbox.h"

#include <string.h>

static int require(const struct request *req, enum access_action action, struct error *err)
{
    return access_check_tenant(req, RESOURCE_TYPE_SETTINGS, action, err);
}

int op_getNotificationChannels(struct request *req, struct response *res, struct error *err)
{
    struct notification_channel *channels;
    size_t count;
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_notification_channels(conn, req->arena, &channels, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&json);
        json_text(&json, "name", channels[i].name);
        json_text(&json, "type", channels[i].type);
        json_bool(&json, "enabled", channels[i].is_enabled);
        json_end_object(&json);
    }
    json_end_array(&json);
    return 0;
}

// The channel of the path.
static int find(struct request *req, struct notification_channel *out_channel, struct error *err)
{
    const char *name = request_path(req, "name");
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_notification_channel(conn, name, req->arena, out_channel, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "notification channel %.60s: not found", name);
    return rc < 0 ? -1 : 0;
}

static void set_time(json_t *object, const char *name, int64_t time_ms)
{
    char text[TIMESTAMP_SIZE];
    if (time_ms)
        timestamp_format(time_ms, text);
    json_object_set_new(object, name, time_ms ? json_string(text) : json_null());
}

int op_getNotificationChannelConfig(struct request *req, struct response *res, struct error *err)
{
    struct notification_channel channel;
    // What is set, and what the other side answered, is for those who set it.
    if (require(req, ACTION_UPDATE, err) < 0 || find(req, &channel, err) < 0)
        return -1;
    json_t *shown = json_pack("{s:s, s:s, s:b, s:o, s:b, s:s}", "name", channel.name, "type", channel.type, "enabled",
                              channel.is_enabled, "config", channel_config_to_json(&channel), "hasSecrets",
                              channel.secrets_sealed != NULL, "lastError", channel.last_error);
    set_time(shown, "lastErrorAt", channel.last_error_ms);
    set_time(shown, "lastSentAt", channel.last_sent_ms);
    set_time(shown, "pausedUntil", channel.paused_until_ms > req->received_ms ? channel.paused_until_ms : 0);
    return response_json(res, shown);
}

// A name beside the two of the contract, which are those of their types.
static int read_name(const struct request *req, const char *type, const char **out_name, struct error *err)
{
    const char *name = json_string_value(json_object_get(req->body, "name"));
    if (strcmp(type, CHANNEL_WEBHOOK) != 0 && name && strcmp(name, type) != 0)
        return error_set(err, ERROR_INVALID, "name: the channel of type %s is called %s, got \"%.60s\"", type, type,
                         name);
    if (strcmp(type, CHANNEL_WEBHOOK) == 0 && name &&
        (strcmp(name, CHANNEL_EMAIL) == 0 || strcmp(name, CHANNEL_SLACK) == 0))
        return error_set(err, ERROR_INVALID, "name: %s is that of another type", name);
    *out_name = name ? name : type;
    return 0;
}

int op_createNotificationChannelConfig(struct request *req, struct response *res, struct error *err)
{
    struct channel_config config;
    const char *type = json_string_value(json_object_get(req->body, "type")), *name = NULL;
    if (require(req, ACTION_CREATE, err) < 0 || read_name(req, type, &name, err) < 0 ||
        channel_config_read(type, json_object_get(req->body, "config"), NULL, false, &config, err) < 0)
        return -1;
    struct notification_channel channel = {
        .name = name, .type = type, .updated_by = req->caller->name, .updated_ms = req->received_ms};
    channel_config_store(&config, req->server->auth->sealing, req->arena, &channel);
    if (db_create_notification_channel(req->server->db, &channel, err) < 0)
        return -1;
    return response_empty(res, 200);
}

static int change(struct request *req, struct response *res, bool is_patch, struct error *err)
{
    struct notification_channel channel;
    struct channel_config old, config;
    const struct sealing *sealing = req->server->auth->sealing;
    const char *type = json_string_value(json_object_get(req->body, "type"));
    if (require(req, ACTION_UPDATE, err) < 0 || find(req, &channel, err) < 0)
        return -1;
    if (type && strcmp(type, channel.type) != 0)
        return error_set(err, ERROR_INVALID, "type: the channel %s is of type %s, got %s", channel.name, channel.type,
                         type);
    // Where the old secrets cannot be opened, new ones are asked for.
    bool is_known = channel_config_load(&channel, sealing, req->arena, &old, NULL) == 0;
    if (channel_config_read(channel.type, json_object_get(req->body, "config"), is_known ? &old : NULL, is_patch,
                            &config, err) < 0)
        return -1;
    channel.updated_by = req->caller->name;
    channel.updated_ms = req->received_ms;
    channel_config_store(&config, sealing, req->arena, &channel);
    if (db_update_notification_channel(req->server->db, &channel, err) < 0)
        return -1;
    return response_empty(res, 200);
}

int op_updateNotificationChannelConfig(struct request *req, struct response *res, struct error *err)
{
    return change(req, res, false, err);
}

int op_patchNotificationChannelConfig(struct request *req, struct response *res, struct error *err)
{
    return change(req, res, true, err);
}

int op_deleteNotificationChannelConfig(struct request *req, struct response *res, struct error *err)
{
    if (require(req, ACTION_DELETE, err) < 0 ||
        db_delete_notification_channel(req->server->db, request_path(req, "name"), err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_validateNotificationChannel(struct request *req, struct response *res, struct error *err)
{
    struct channel_config config;
    const char *type = json_string_value(json_object_get(req->body, "type"));
    if (require(req, ACTION_CREATE, err) < 0 ||
        channel_config_read(type, json_object_get(req->body, "config"), NULL, false, &config, err) < 0)
        return -1;
    if (notifications_try(req->server->notifications, type, &config, req->arena, err) < 0) {
        if (err->code == ERROR_UNAVAILABLE)
            err->code = ERROR_INVALID;
        return -1;
    }
    return response_json(res, json_true());
}

// Run:ai 2.25 and later: the config alone, and what is wrong is no error.
static int validate_kind(struct request *req, struct response *res, const char *type, struct error *err)
{
    struct channel_config config;
    if (require(req, ACTION_CREATE, err) < 0 || channel_config_read(type, req->body, NULL, false, &config, err) < 0)
        return -1;
    if (notifications_try(req->server->notifications, type, &config, req->arena, err) == 0)
        return response_json(res, json_pack("{s:b}", "status", true));
    if (err->code != ERROR_UNAVAILABLE && err->code != ERROR_INVALID)
        return -1;
    return response_json(res, json_pack("{s:b, s:s}", "status", false, "message", err->message));
}

int op_validate_email(struct request *req, struct response *res, struct error *err)
{
    return validate_kind(req, res, CHANNEL_EMAIL, err);
}

int op_validate_slack(struct request *req, struct response *res, struct error *err)
{
    return validate_kind(req, res, CHANNEL_SLACK, err);
}

int op_createSlackApp(struct request *req, struct response *res, struct error *err)
{
    const char *token = json_string_value(json_object_get(req->body, "accessToken")), *url;
    if (require(req, ACTION_CREATE, err) < 0)
        return -1;
    if (notifications_create_slack_app(req->server->notifications, token, req->arena, &url, err) < 0) {
        if (err->code == ERROR_UNAVAILABLE)
            err->code = ERROR_INVALID;
        return -1;
    }
    return response_json(res, json_pack("{s:s}", "slackAppUrl", url));
}

static void write_delivery(struct json_writer *json, const struct delivery *delivery)
{
    json_begin_object(json);
    json_text(json, "id", delivery->uuid);
    json_text(json, "channel", delivery->channel);
    json_text(json, "recipient", delivery->user_email);
    json_text(json, "state", delivery->state);
    json_bool(json, "isDigest", delivery->is_digest);
    json_int(json, "omitted", delivery->omitted_count);
    json_int(json, "attempts", delivery->attempts);
    json_time(json, "createdAt", delivery->created_ms);
    json_time(json, "nextAt", delivery->ended_ms ? 0 : delivery->next_ms);
    json_time(json, "endedAt", delivery->ended_ms);
    json_text(json, "error", delivery->error);
    json_end_object(json);
}

int op_list_notification_deliveries(struct request *req, struct response *res, struct error *err)
{
    struct delivery *deliveries;
    size_t count;
    struct json_writer json;
    if (require(req, ACTION_UPDATE, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_deliveries(conn, request_query(req, "state"), request_query_integer(req, "limit", 50), req->arena,
                                &deliveries, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "deliveries");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_delivery(&json, &deliveries[i]);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}
