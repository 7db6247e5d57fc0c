// Access keys: each user makes them for his programs, and an administrator of users sees and takes them away. The
// secret is shown once, when it is made.
#include "db/accounts/access_keys.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/secrets.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/people/user_reach.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <string.h>

enum {
    NAME_MIN = 2,
    NAME_MAX = 255
};

static void write_key(struct json_writer *json, const struct access_key *key, bool with_owner)
{
    json_begin_object(json);
    json_text(json, "id", key->uuid);
    json_text(json, "name", key->name);
    json_text(json, "clientId", key->client_id);
    if (with_owner)
        json_text(json, "createdBy", key->user_email);
    json_time(json, "createdAt", key->created_ms);
    json_time(json, "lastLogin", key->last_login_ms);
    json_end_object(json);
}

static int list(struct request *req, struct response *res, const struct access_key_filter *filter, struct error *err)
{
    struct access_key *keys;
    size_t count;
    struct json_writer json;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_access_keys(conn, filter, req->arena, &keys, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "accessKeys");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_key(&json, &keys[i], !filter->user_id);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

static int require_user(const struct request *req, struct error *err)
{
    if (req->caller->type == SUBJECT_USER)
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "a service account has no access keys; it has a secret of its own");
}

// Whoever has found a key must not be able to stay by making himself another.
static int require_person(const struct request *req, struct error *err)
{
    if (require_user(req, err) < 0)
        return -1;
    if (!req->caller->is_access_key)
        return 0;
    return error_set(err, ERROR_FORBIDDEN, "an access key makes no secrets; sign in with the password");
}

int op_get_access_keys(struct request *req, struct response *res, struct error *err)
{
    struct access_key_filter filter = {.user_id = req->caller->subject_id};
    return require_user(req, err) < 0 ? -1 : list(req, res, &filter, err);
}

// The key of the path; user_id 0: whoever has it.
static int find_key(struct request *req, int64_t user_id, struct access_key *out_key, struct error *err)
{
    const char *id = request_path(req, "accessKeyId");
    struct access_key_filter filter = {.user_id = user_id, .uuid = id};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_access_key(conn, &filter, req->arena, out_key, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "access key %.60s: not found", id);
    return rc < 0 ? -1 : 0;
}

int op_get_access_key_by_id1(struct request *req, struct response *res, struct error *err)
{
    struct access_key key;
    struct json_writer json;
    if (require_user(req, err) < 0 || find_key(req, req->caller->subject_id, &key, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    write_key(&json, &key, false);
    return 0;
}

int op_create_access_key1(struct request *req, struct response *res, struct error *err)
{
    const char *name = json_string_value(json_object_get(req->body, "name"));
    char uuid[UUID_SIZE], client_id[UUID_SIZE], secret[SECRET_TEXT_SIZE];
    if (require_person(req, err) < 0)
        return -1;
    if (strlen(name) < NAME_MIN || strlen(name) > NAME_MAX)
        return error_set(err, ERROR_INVALID, "name: %d to %d characters, got %zu", NAME_MIN, NAME_MAX, strlen(name));
    uuid_create(uuid);
    uuid_create(client_id);
    secret_create(secret);
    struct access_key key = {
        .uuid = uuid,
        .user_id = req->caller->subject_id,
        .name = name,
        .client_id = client_id,
        .created_ms = req->received_ms,
    };
    secret_hash(secret, key.secret_hash);
    if (db_create_access_key(req->server->db, &key, err) < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "id", uuid);
    json_text(&json, "name", name);
    json_text(&json, "clientId", client_id);
    json_text(&json, "clientSecret", secret);
    json_text(&json, "secret", secret); // as user applications, to 2.22, call it
    json_time(&json, "createdAt", key.created_ms);
    json_end_object(&json);
    return 0;
}

int op_regenerate_access_key_secret(struct request *req, struct response *res, struct error *err)
{
    char secret[SECRET_TEXT_SIZE];
    unsigned char hash[SECRET_HASH_SIZE];
    secret_create(secret);
    secret_hash(secret, hash);
    if (require_person(req, err) < 0 || db_set_access_key_secret(req->server->db, req->caller->subject_id,
                                                                 request_path(req, "accessKeyId"), hash, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s}", "clientSecret", secret));
}

int op_delete_access_key_by_id(struct request *req, struct response *res, struct error *err)
{
    if (require_user(req, err) < 0 ||
        db_delete_access_key(req->server->db, req->caller->subject_id, request_path(req, "accessKeyId"), err) < 0)
        return -1;
    return response_empty(res, 204);
}

// Keys of everybody are for who administers users in the whole tenant.
static int require_administrator(const struct request *req, struct error *err)
{
    return access_check_tenant(req, RESOURCE_TYPE_USERS, ACTION_UPDATE, err);
}

int op_get_access_keys_administration(struct request *req, struct response *res, struct error *err)
{
    struct access_key_filter filter = {.client_id = request_query(req, "clientId"),
                                       .user_email = request_query(req, "createdBy")};
    return require_administrator(req, err) < 0 ? -1 : list(req, res, &filter, err);
}

int op_delete_access_key_by_id_administration(struct request *req, struct response *res, struct error *err)
{
    struct access_key key;
    if (require_administrator(req, err) < 0 || find_key(req, 0, &key, err) < 0)
        return -1;
    struct user owner = {.id = key.user_id, .email = key.user_email};
    if (user_reach_check(req, &owner, err) < 0 ||
        db_delete_access_key(req->server->db, 0, request_path(req, "accessKeyId"), err) < 0)
        return -1;
    return response_empty(res, 204);
}
