// Users: people with a password of their own. A new one gets a temporary password, shown once.
#include "db/accounts/users.h"
#include "api/access/auth.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/passwords.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/lists/list_query.h"
#include "api/operations.h"
#include "api/people/user_reach.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#include <string.h>

enum {
    EMAIL_MIN = 5,
    EMAIL_MAX = 254
};

static const struct list_field FIELDS[] = {
    {.name = "username", .sql = "u.email", .type = LIST_TEXT, .is_searched = true},
    {.name = "createdBy", .sql = "u.created_by", .type = LIST_TEXT, .is_searched = true},
    {.name = "lastLogin", .sql = "u.last_login_ms", .type = LIST_TIME},
    {.name = "creationTime", .sql = "u.created_ms", .type = LIST_TIME},
    {.name = "lastUpdated", .sql = "u.updated_ms", .type = LIST_TIME},
    {.name = "isLocal", .sql = "u.is_local", .type = LIST_BOOL},
    {.name = "hasSecondFactor",
     .sql = "EXISTS (SELECT 1 FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_ms > 0)",
     .type = LIST_BOOL},
    {.name = "type", .sql = "u.is_local", .type = LIST_BOOL},
};

static const struct list_source USER_LIST = {
    .columns = DB_USER_COLUMNS,
    .from = "users u",
    .id = "u.id",
    .order = "u.email, u.id",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static void write_user(struct json_writer *json, const struct user *user)
{
    json_begin_object(json);
    json_text(json, "id", user->uuid);
    json_text(json, "username", user->email);
    json_text(json, "createdBy", user->created_by);
    json_time(json, "createdAt", user->created_ms);
    json_time(json, "updatedAt", user->updated_ms);
    json_time(json, "lastLogin", user->last_login_ms);
    json_bool(json, "isLocal", user->is_local);
    json_raw(json, "groups", user->groups_json);
    json_bool(json, "hasSecondFactor", user->has_second_factor);
    json_end_object(json);
}

// Everybody's e-mail is for who may read users in the whole tenant. Others, who give rules further down, look one up by
// its exact name, and find themselves.
static int init_query(struct request *req, struct list_query *query, struct error *err)
{
    static const struct scope_path TENANT = {0};
    if (access_check_tenant(req, RESOURCE_TYPE_USERS, ACTION_READ, err) < 0 ||
        list_query_init(query, &USER_LIST, req, err) < 0)
        return -1;
    if (access_is_held(req->caller, &TENANT, RESOURCE_TYPE_USERS, ACTION_READ))
        return 0;
    for (size_t i = 0; i < req->filter_count; i++)
        if (req->filters[i].op == FILTER_EQUAL && strcmp(req->filters[i].field, "username") == 0)
            return 0;
    list_query_where_text(query, "u.email = ?", req->caller->rule_key);
    return 0;
}

static void write_row(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context)
{
    (void)context;
    struct user user;
    db_user_from_row(row, req->arena, &user);
    write_user(json, &user);
}

static const struct list_form FORM = {.write_row = write_row};

int op_get_users(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    if (init_query(req, &query, err) < 0)
        return -1;
    return list_answer(req, res, &query, &FORM, NULL, err);
}

int op_count_users(struct request *req, struct response *res, struct error *err)
{
    struct list_query query;
    return init_query(req, &query, err) < 0 ? -1 : list_answer_count(req, res, &query, err);
}

int op_get_user_by_id(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    struct json_writer json;
    if (user_reach(req, ACTION_READ, &user, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_user(&json, &user);
    return 0;
}

static int make_password(struct request *req, char out_password[PASSWORD_RANDOM_SIZE],
                         char out_hash[PASSWORD_HASH_SIZE], struct error *err)
{
    password_random(out_password);
    return password_hash(req->server->auth->passwords, out_password, out_hash, err);
}

int op_create_user(struct request *req, struct response *res, struct error *err)
{
    const char *email = json_string_value(json_object_get(req->body, "email"));
    const json_t *reset = json_object_get(req->body, "resetPassword");
    char uuid[UUID_SIZE], password[PASSWORD_RANDOM_SIZE], hash[PASSWORD_HASH_SIZE];
    if (access_check_tenant(req, RESOURCE_TYPE_USERS, ACTION_CREATE, err) < 0)
        return -1;
    if (strlen(email) < EMAIL_MIN || strlen(email) > EMAIL_MAX)
        return error_set(err, ERROR_INVALID, "email: %d to %d characters, got %zu", EMAIL_MIN, EMAIL_MAX,
                         strlen(email));
    if (make_password(req, password, hash, err) < 0)
        return -1;
    uuid_create(uuid);
    struct user user = {
        .uuid = uuid,
        .email = email,
        .password_hash = hash,
        .must_change_password = !json_is_false(reset),
        .is_local = true,
        .created_by = req->caller->name,
        .created_ms = req->received_ms,
    };
    if (db_create_user(req->server->db, &user, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s, s:s, s:s}", "id", uuid, "username", email, "tempPassword", password));
}

int op_reset_user_password(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    char password[PASSWORD_RANDOM_SIZE], hash[PASSWORD_HASH_SIZE];
    if (user_reach(req, ACTION_UPDATE, &user, err) < 0)
        return -1;
    if (!user.is_local)
        return error_set(err, ERROR_CONFLICT, "%.100s has no password here: it signs in elsewhere", user.email);
    struct password_change change = {.user_id = user.id,
                                     .hash = hash,
                                     .must_change = true,
                                     .kept_old = req->server->auth->password_rules.last,
                                     .now_ms = req->received_ms};
    if (make_password(req, password, hash, err) < 0 || db_set_user_password(req->server->db, &change, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s}", "tempPassword", password));
}

int op_logout_user(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    if (user_reach(req, ACTION_UPDATE, &user, err) < 0 ||
        db_end_sessions(req->server->db, SESSION_OF_USER, user.id, err) < 0)
        return -1;
    return response_empty(res, 200);
}

int op_delete_user_by_id(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    if (user_reach(req, ACTION_DELETE, &user, err) < 0 ||
        db_delete_user(req->server->db, user.id, req->received_ms, err) < 0)
        return -1;
    return response_empty(res, 204);
}
