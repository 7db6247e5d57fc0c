// Which kinds of notifications there are, and which channels are switched on.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/types.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/notifications/channels.h"

#include <string.h>

int op_getNotificationTypes(struct request *req, struct response *res, struct error *err)
{
    struct json_writer json;
    (void)req;
    (void)err;
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    for (size_t i = 0; i < NOTIFICATION_TYPE_COUNT; i++) {
        json_begin_object(&json);
        json_text(&json, "category", NOTIFICATION_TYPES[i].category);
        json_text(&json, "type", NOTIFICATION_TYPES[i].type);
        json_text(&json, "description", NOTIFICATION_TYPES[i].description);
        json_end_object(&json);
    }
    json_end_array(&json);
    return 0;
}

enum kind {
    KIND_EMAIL,
    KIND_SLACK,
    KIND_WEBHOOK,
    KIND_COUNT
};
static const char *const KINDS[] = {CHANNEL_EMAIL, CHANNEL_SLACK, CHANNEL_WEBHOOK};

// Which kinds have a channel, and one that is on.
struct kinds {
    bool is_there[KIND_COUNT], is_on[KIND_COUNT];
};

static int read_kinds(struct request *req, struct kinds *out_kinds, struct error *err)
{
    struct notification_channel *channels;
    size_t count;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_notification_channels(conn, req->arena, &channels, &count, err);
    db_give_back(req->server->db, conn);
    *out_kinds = (struct kinds){0};
    for (size_t i = 0; rc == 0 && i < count; i++)
        for (size_t k = 0; k < KIND_COUNT; k++)
            if (strcmp(channels[i].type, KINDS[k]) == 0) {
                out_kinds->is_there[k] = true;
                out_kinds->is_on[k] |= channels[i].is_enabled;
            }
    return rc;
}

int op_getNotificationState(struct request *req, struct response *res, struct error *err)
{
    struct kinds kinds;
    if (read_kinds(req, &kinds, err) < 0)
        return -1;
    bool is_any = false;
    for (size_t k = 0; k < KIND_COUNT; k++)
        is_any |= kinds.is_on[k];
    return response_json(res,
                         json_pack("{s:b, s:{s:b}, s:{s:b, s:n}, s:{s:b}}", "enabled", is_any, CHANNEL_EMAIL, "enabled",
                                   kinds.is_on[KIND_EMAIL], CHANNEL_SLACK, "enabled", kinds.is_on[KIND_SLACK],
                                   "workspaceName", CHANNEL_WEBHOOK, "enabled", kinds.is_on[KIND_WEBHOOK]));
}

static int wanted(const json_t *body, const char *kind)
{
    const json_t *enabled = json_object_get(json_object_get(body, kind), "enabled");
    return json_is_boolean(enabled) ? json_is_true(enabled) : -1;
}

int op_updateNotificationState(struct request *req, struct response *res, struct error *err)
{
    struct kinds kinds;
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE, err) < 0 || read_kinds(req, &kinds, err) < 0)
        return -1;
    for (size_t k = 0; k < KIND_COUNT; k++)
        if (wanted(req->body, KINDS[k]) > 0 && !kinds.is_there[k]) {
            error_set(err, ERROR_LATER, "%s.enabled: no channel of this kind is set up", KINDS[k]);
            return error_details(err, "POST /api/v1/notification-channels sets one up");
        }
    struct notification_switches switches = {wanted(req->body, CHANNEL_EMAIL), wanted(req->body, CHANNEL_SLACK),
                                             wanted(req->body, CHANNEL_WEBHOOK)};
    if (db_switch_notification_channels(req->server->db, &switches, err) < 0)
        return -1;
    return op_getNotificationState(req, res, err);
}

// Run:ai 2.25 and later ask by kind.
static int answer_kind(struct request *req, struct response *res, enum kind kind, struct error *err)
{
    struct kinds kinds;
    return read_kinds(req, &kinds, err) < 0 ? -1 : response_json(res, json_pack("{s:b}", "enabled", kinds.is_on[kind]));
}

static int switch_kind(struct request *req, struct response *res, enum kind kind, struct error *err)
{
    const json_t *enabled = json_object_get(req->body, "enabled");
    struct kinds kinds;
    if (access_check_tenant(req, RESOURCE_TYPE_SETTINGS, ACTION_UPDATE, err) < 0 || read_kinds(req, &kinds, err) < 0)
        return -1;
    int is_wanted = json_is_boolean(enabled) ? json_is_true(enabled) : -1;
    if (is_wanted > 0 && !kinds.is_there[kind]) {
        error_set(err, ERROR_LATER, "enabled: no channel of type %s is set up", KINDS[kind]);
        return error_details(err, "POST /api/v1/notification-channels sets one up");
    }
    struct notification_switches switches = {kind == KIND_EMAIL ? is_wanted : -1, kind == KIND_SLACK ? is_wanted : -1,
                                             -1};
    if (is_wanted >= 0 && db_switch_notification_channels(req->server->db, &switches, err) < 0)
        return -1;
    return answer_kind(req, res, kind, err);
}

int op_get_email_state(struct request *req, struct response *res, struct error *err)
{
    return answer_kind(req, res, KIND_EMAIL, err);
}

int op_update_email_state(struct request *req, struct response *res, struct error *err)
{
    return switch_kind(req, res, KIND_EMAIL, err);
}

int op_get_slack_state(struct request *req, struct response *res, struct error *err)
{
    return answer_kind(req, res, KIND_SLACK, err);
}

int op_update_slack_state(struct request *req, struct response *res, struct error *err)
{
    return switch_kind(req, res, KIND_SLACK, err);
}

int op_get_slack_state_detailed(struct request *req, struct response *res, struct error *err)
{
    struct kinds kinds;
    if (read_kinds(req, &kinds, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:b, s:n}", "enabled", kinds.is_on[KIND_SLACK], "workspaceName"));
}
