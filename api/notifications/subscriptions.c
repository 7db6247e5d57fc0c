// What a person wants to be told, and by which channels: each sees and changes his own.
#include "db/notifications/subscriptions.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/types.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/notifications/channels.h"

#include <stdlib.h>
#include <string.h>

static int require_person(const struct request *req, struct error *err)
{
    if (req->caller->type == SUBJECT_USER)
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "a service account has no subscriptions; a webhook tells programs");
}

static void write_subscription(struct json_writer *json, const struct subscription *subscription)
{
    json_begin_object(json);
    json_text(json, "id", subscription->uuid);
    json_text(json, "scope", subscription->is_for_all ? "all" : "own");
    json_raw(json, "events", subscription->events_json);
    json_raw(json, "channels", subscription->channels_json);
    json_end_object(json);
}

int op_getMySubscriptions(struct request *req, struct response *res, struct error *err)
{
    struct subscription *subscriptions;
    size_t count;
    struct json_writer json;
    if (require_person(req, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_subscriptions(conn, req->caller->subject_id, req->arena, &subscriptions, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_subscription(&json, &subscriptions[i]);
    json_end_array(&json);
    return 0;
}

static int check_events(const json_t *events, struct error *err)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *types = json_object_get(event, "types");
        const char *category = json_string_value(json_object_get(event, "category"));
        for (size_t t = 0; t < json_array_size(types); t++) {
            const char *type = json_string_value(json_array_get(types, t));
            if (!notification_type_bit(category, type))
                return error_set(err, ERROR_INVALID, "events[%zu]: no type \"%.60s\" in category \"%.60s\"", i, type,
                                 category);
        }
    }
    return 0;
}

static bool has_channel(const struct notification_channel *channels, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(channels[i].name, name) == 0)
            return true;
    return false;
}

// A mail server and Slack are outside parties: until they are set up nobody can be told by them.
static int check_channels(struct request *req, const json_t *names, struct error *err)
{
    struct notification_channel *channels;
    size_t count;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_notification_channels(conn, req->arena, &channels, &count, err);
    db_give_back(req->server->db, conn);
    for (size_t i = 0; rc == 0 && i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (has_channel(channels, count, name))
            continue;
        if (strcmp(name, CHANNEL_EMAIL) == 0 || strcmp(name, CHANNEL_SLACK) == 0)
            return error_set(err, ERROR_LATER, "channels[%zu]: no channel %s is set up; an administrator can do it", i,
                             name);
        return error_set(err, ERROR_INVALID, "channels[%zu]: no channel \"%.60s\"", i, name);
    }
    return rc;
}

static const char *dump(const struct request *req, const char *name)
{
    char *text = json_dumps(json_object_get(req->body, name), JSON_COMPACT);
    const char *copy = arena_strdup(req->arena, text);
    free(text);
    return copy;
}

static int read_subscription(struct request *req, const char *uuid, struct subscription *out_subscription,
                             struct error *err)
{
    const char *scope = json_string_value(json_object_get(req->body, "scope"));
    if (require_person(req, err) < 0 || check_events(json_object_get(req->body, "events"), err) < 0 ||
        check_channels(req, json_object_get(req->body, "channels"), err) < 0)
        return -1;
    *out_subscription = (struct subscription){
        .uuid = uuid,
        .user_id = req->caller->subject_id,
        .is_for_all = scope && strcmp(scope, "all") == 0,
        .events_json = dump(req, "events"),
        .channels_json = dump(req, "channels"),
        .since_ms = req->received_ms,
    };
    return 0;
}

static int answer(struct response *res, const struct subscription *subscription)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_subscription(&json, subscription);
    return 0;
}

int op_createSubscription(struct request *req, struct response *res, struct error *err)
{
    struct subscription subscription;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    if (read_subscription(req, uuid, &subscription, err) < 0 ||
        db_create_subscription(req->server->db, &subscription, err) < 0)
        return -1;
    return answer(res, &subscription);
}

int op_updateSubscription(struct request *req, struct response *res, struct error *err)
{
    struct subscription subscription;
    if (read_subscription(req, request_path(req, "id"), &subscription, err) < 0 ||
        db_update_subscription(req->server->db, &subscription, err) < 0)
        return -1;
    return answer(res, &subscription);
}

int op_deleteSubscription(struct request *req, struct response *res, struct error *err)
{
    if (require_person(req, err) < 0 ||
        db_delete_subscription(req->server->db, req->caller->subject_id, request_path(req, "id"), err) < 0)
        return -1;
    return response_empty(res, 204);
}
