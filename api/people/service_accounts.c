// Service accounts, and the same under their old name, applications. The secret is shown once, when it is made.
#include "db/accounts/service_accounts.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/secrets.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"

#include <string.h>

enum {
    NAME_MIN = 2,
    NAME_MAX = 255
};

// The two names of one thing.
struct face {
    enum resource_type type;
    const char *id_parameter;
    const char *secret_member;
};

static const struct face SERVICE_ACCOUNT = {RESOURCE_TYPE_SERVICE_ACCOUNT, "serviceAccountId", "clientSecret"};
static const struct face APPLICATION = {RESOURCE_TYPE_APPS, "appId", "secret"};

static void write_account(struct json_writer *json, const struct service_account *account)
{
    json_begin_object(json);
    json_text(json, "id", account->uuid);
    json_text(json, "name", account->name);
    json_text(json, "clientId", account->client_id);
    json_bool(json, "enabled", account->is_enabled);
    json_text(json, "createdBy", account->created_by);
    json_time(json, "createdAt", account->created_ms);
    json_time(json, "updatedAt", account->updated_ms);
    json_time(json, "lastLogin", account->last_login_ms);
    json_text(json, "tenantId", "1");
    json_end_object(json);
}

static int list(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    struct service_account *accounts;
    size_t count;
    if (access_check_tenant(req, face->type, ACTION_READ, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_list_service_accounts(conn, req->arena, &accounts, &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_account(&json, &accounts[i]);
    json_end_array(&json);
    return 0;
}

static int create(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    const char *name = json_string_value(json_object_get(req->body, "name"));
    if (access_check_tenant(req, face->type, ACTION_CREATE, err) < 0)
        return -1;
    if (strlen(name) < NAME_MIN || strlen(name) > NAME_MAX)
        return error_set(err, ERROR_INVALID, "name: %d to %d characters, got %zu", NAME_MIN, NAME_MAX, strlen(name));
    if (strcmp(name, "prorata") == 0)
        return error_set(err, ERROR_INVALID, "name: prorata stands for the server itself");
    char uuid[UUID_SIZE], client_id[UUID_SIZE], secret[SECRET_TEXT_SIZE];
    uuid_create(uuid);
    uuid_create(client_id);
    secret_create(secret);
    struct service_account account = {
        .uuid = uuid,
        .name = name,
        .client_id = client_id,
        .is_enabled = true,
        .created_by = req->caller->name,
        .created_ms = req->received_ms,
    };
    secret_hash(secret, account.secret_hash);
    if (db_create_service_account(req->server->db, &account, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s, s:s, s:s, s:s}", "id", uuid, "name", name, "clientId", client_id,
                                        face->secret_member, secret));
}

static int get(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    struct service_account account = {0};
    const char *id = request_path(req, face->id_parameter);
    if (access_check_tenant(req, face->type, ACTION_READ, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_service_account(conn, id, req->arena, &account, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "service account %.60s: not found", id);
    if (rc < 0)
        return -1;
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    write_account(&json, &account);
    return 0;
}

static int enable(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    bool is_enabled = json_is_true(json_object_get(req->body, "enabled"));
    const char *id = request_path(req, face->id_parameter);
    if (access_check_tenant(req, face->type, ACTION_UPDATE, err) < 0 ||
        db_enable_service_account(req->server->db, id, is_enabled, req->received_ms, err) < 0)
        return -1;
    return get(req, res, face, err);
}

static int renew_secret(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    char secret[SECRET_TEXT_SIZE];
    unsigned char hash[SECRET_HASH_SIZE];
    secret_create(secret);
    secret_hash(secret, hash);
    if (access_check_tenant(req, face->type, ACTION_UPDATE, err) < 0 ||
        db_set_service_account_secret(req->server->db, request_path(req, face->id_parameter), hash, req->received_ms,
                                      err) < 0)
        return -1;
    return response_json(res, json_pack("{s:s}", face->secret_member, secret));
}

static int delete_account(struct request *req, struct response *res, const struct face *face, struct error *err)
{
    if (access_check_tenant(req, face->type, ACTION_DELETE, err) < 0 ||
        db_delete_service_account(req->server->db, request_path(req, face->id_parameter), req->received_ms, err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_get_service_accounts(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, &SERVICE_ACCOUNT, err);
}

int op_create_service_account(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, &SERVICE_ACCOUNT, err);
}

int op_get_service_account_by_id(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, &SERVICE_ACCOUNT, err);
}

int op_update_service_account_by_id(struct request *req, struct response *res, struct error *err)
{
    return enable(req, res, &SERVICE_ACCOUNT, err);
}

int op_delete_service_account_by_id(struct request *req, struct response *res, struct error *err)
{
    return delete_account(req, res, &SERVICE_ACCOUNT, err);
}

int op_regenerate_service_account_secret(struct request *req, struct response *res, struct error *err)
{
    return renew_secret(req, res, &SERVICE_ACCOUNT, err);
}

int op_get_applications(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, &APPLICATION, err);
}

int op_create_application(struct request *req, struct response *res, struct error *err)
{
    return create(req, res, &APPLICATION, err);
}

int op_get_application_by_id(struct request *req, struct response *res, struct error *err)
{
    return get(req, res, &APPLICATION, err);
}

int op_update_application_by_id(struct request *req, struct response *res, struct error *err)
{
    return enable(req, res, &APPLICATION, err);
}

int op_delete_application_by_id(struct request *req, struct response *res, struct error *err)
{
    return delete_account(req, res, &APPLICATION, err);
}

int op_regenerate_application_secret(struct request *req, struct response *res, struct error *err)
{
    return renew_secret(req, res, &APPLICATION, err);
}
