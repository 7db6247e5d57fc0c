// Sessions of a person: listed and ended by himself, and by an administrator of users.
#include "db/accounts/sessions.h"
#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/people/user_reach.h"
#include "api/server.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <string.h>

static void write_session(struct json_writer *json, const struct session_entry *entry, const char *own)
{
    json_begin_object(json);
    json_text(json, "id", entry->uuid);
    json_text(json, "kind", entry->kind);
    json_bool(json, "current", strcmp(entry->uuid, own) == 0);
    json_text(json, "address", entry->remote_address);
    json_text(json, "userAgent", entry->user_agent);
    if (entry->access_key)
        json_text(json, "accessKey", entry->access_key);
    json_time(json, "createdAt", entry->created_ms);
    json_time(json, "lastUsedAt", entry->last_used_ms);
    json_time(json, "expiresAt", entry->expires_ms);
    json_end_object(json);
}

static int list(struct request *req, struct response *res, const char *subject_type, int64_t subject_id,
                struct error *err)
{
    struct session_entry *entries;
    size_t count;
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_sessions(conn, subject_type, subject_id, req->received_ms, req->arena, &entries, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "sessions");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_session(&json, &entries[i], req->caller->session_id);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

static const char *caller_type(const struct request *req)
{
    return req->caller->type == SUBJECT_USER ? SESSION_OF_USER : SESSION_OF_SERVICE_ACCOUNT;
}

int op_list_my_sessions(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, caller_type(req), req->caller->subject_id, err);
}

int op_end_my_session(struct request *req, struct response *res, struct error *err)
{
    if (db_end_session_of(req->server->db, caller_type(req), req->caller->subject_id, request_path(req, "sessionId"),
                          err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_end_my_other_sessions(struct request *req, struct response *res, struct error *err)
{
    if (db_end_sessions_but(req->server->db, caller_type(req), req->caller->subject_id, req->caller->session_id, err) <
        0)
        return -1;
    return response_empty(res, 204);
}

int op_list_user_sessions(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    if (user_reach(req, ACTION_UPDATE, &user, err) < 0)
        return -1;
    return list(req, res, SESSION_OF_USER, user.id, err);
}

int op_end_user_session(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    if (user_reach(req, ACTION_UPDATE, &user, err) < 0 ||
        db_end_session_of(req->server->db, SESSION_OF_USER, user.id, request_path(req, "sessionId"), err) < 0)
        return -1;
    return response_empty(res, 204);
}
