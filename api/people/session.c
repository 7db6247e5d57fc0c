// The browser's session: a cookie that scripts cannot read. And changing one's own password.
#include "api/people/session.h"
#include "api/access/audit.h"
#include "api/access/auth.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/access/passwords.h"
#include "api/access/secrets.h"
#include "api/access/security_settings.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/kind_counts.h"
#include "api/operations.h"
#include "api/people/sign_in.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/access_rules.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#include <string.h>
#include <strings.h>

#define SESSION_LIFE_MS (INT64_C(7) * 86400000)

bool session_cookie_is_secure(const struct request *req)
{
    const char *protocol = request_header(req, "X-Forwarded-Proto");
    return req->server->auth->is_cookie_secure || (protocol && !strcasecmp(protocol, "https"));
}

void session_set_cookie(const struct request *req, struct response *res, const char *value, const char *more)
{
    const char *secure = session_cookie_is_secure(req) ? "; Secure" : "";
    response_header(
        res, "Set-Cookie",
        arena_printf(req->arena, SESSION_COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s%s", value, secure, more));
    response_header(res, "Set-Cookie",
                    arena_printf(req->arena, SESSION_HINT_COOKIE "=%s; Path=/; SameSite=Strict%s%s", *value ? "1" : "",
                                 secure, more));
}

static json_t *roles_json(struct request *req, struct error *err)
{
    struct access_rule *rules;
    size_t count;
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_list_rules_in_force(conn, req->caller->type == SUBJECT_USER, req->caller->rule_key, req->arena, &rules,
                                    &count, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct role *role = role_of_rule(&rules[i], req->arena);
        if (role)
            json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s, s:s}", "roleId", role->id, "roleName",
                                                  role->name, "scopeType", scope_type_text(rules[i].scope_type),
                                                  "scopeId", rules[i].scope_id, "scopeName", rules[i].scope_name));
    }
    return list;
}

static int find_caller(struct request *req, struct user *out_user, struct error *err)
{
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_user(conn, req->caller->subject_id, req->arena, out_user, err);
    db_give_back(req->server->db, conn);
    return rc == 0 ? error_set(err, ERROR_NOT_FOUND, "user: not found") : rc;
}

static int answer_session(struct request *req, struct response *res, struct error *err)
{
    const struct identity *caller = req->caller;
    struct permission_set permissions;
    struct user user;
    char expires[TIMESTAMP_SIZE];
    bool is_person = caller->type == SUBJECT_USER;
    int64_t revision = db_last_revision(req->server->db); // before all that may change
    json_t *roles = roles_json(req, err);
    if (!roles || (is_person && find_caller(req, &user, err) < 0)) {
        json_decref(roles);
        return -1;
    }
    json_t *counts = caller->must_change_password ? json_object() : kind_counts(req, err);
    if (!counts) {
        json_decref(roles);
        return -1;
    }
    access_permissions(caller, &permissions);
    timestamp_format(caller->expires_ms, expires);
    json_t *answer = json_pack("{s:s, s:s, s:s, s:s, s:b, s:I, s:b, s:o, s:o, s:o}", "subjectType",
                               is_person ? "user" : "service-account", "subjectId", caller->subject_uuid, "name",
                               caller->name, "expiresAt", expires, "mustChangePassword", caller->must_change_password,
                               "revision", (json_int_t)revision, "opensUrls", req->server->apps != NULL, "permissions",
                               permission_set_to_json(&permissions), "roles", roles, "counts", counts);
    if (is_person)
        json_object_set_new(answer, "isLocal", json_boolean(user.is_local));
    return response_json(res, answer);
}

int op_get_session(struct request *req, struct response *res, struct error *err)
{
    return answer_session(req, res, err);
}

int op_create_session(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    struct factor_shown shown;
    struct sign_in_wish wish = {
        .username = json_string_value(json_object_get(req->body, "username")),
        .password = json_string_value(json_object_get(req->body, "password")),
        .otp = json_string_value(json_object_get(req->body, "otp")),
    };
    if (sign_in_with_factors(req, res, &wish, &user, &shown, err) < 0)
        return -1;
    audit_signed_in(req, SUBJECT_USER, user.email);
    char uuid[UUID_SIZE], cookie[SECRET_TEXT_SIZE];
    unsigned char hash[SECRET_HASH_SIZE];
    uuid_create(uuid);
    secret_create(cookie);
    secret_hash(cookie, hash);
    struct session session = {
        .uuid = uuid,
        .kind = SESSION_KIND_BROWSER,
        .subject_type = SESSION_OF_USER,
        .subject_id = user.id,
        .remote_address = req->remote_address,
        .user_agent = sign_in_user_agent(req),
        .shown_password_hash = user.password_hash,
        .shown_factor = shown,
        .cookie_hash = hash,
        .created_ms = req->received_ms,
        .expires_ms = req->received_ms + SESSION_LIFE_MS,
    };
    if (db_create_session(req->server->db, &session, err) < 0 || authenticate_by_cookie(req, cookie, err) < 0)
        return -1;
    session_set_cookie(req, res, cookie, "");
    return answer_session(req, res, err);
}

// Ends what the caller came with: a cookie's session or a token's.
int op_delete_session(struct request *req, struct response *res, struct error *err)
{
    if (db_end_session(req->server->db, req->caller->session_id, err) < 0)
        return -1;
    if (req->caller->is_cookie)
        session_set_cookie(req, res, "", "; Max-Age=0");
    return response_empty(res, 204);
}

// 0: the password is none of the account's last ones.
static int check_old(struct request *req, const struct user *user, const char *wanted, struct error *err)
{
    const struct auth *auth = req->server->auth;
    struct password_caller caller = {.address = req->remote_address};
    const char **hashes;
    size_t count;
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_list_old_passwords(conn, user->id, auth->password_rules.last, req->arena, &hashes, &count, err);
    db_give_back(req->server->db, conn);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bool matches = false;
        rc = password_verify(auth->passwords, &caller, hashes[i], wanted, &matches, err);
        if (rc == 0 && matches)
            rc = error_set(err, ERROR_INVALID, "newPassword: one of your last %d; choose another",
                           auth->password_rules.last);
    }
    return rc;
}

static int set_password(struct request *req, const struct user *user, const char *wanted, struct error *err)
{
    struct auth *auth = req->server->auth;
    char hash[PASSWORD_HASH_SIZE];
    struct password_change change = {.user_id = user->id,
                                     .hash = hash,
                                     .kept_session = req->caller->session_id,
                                     .kept_old = auth->password_rules.last,
                                     .now_ms = req->received_ms};
    return password_hash(auth->passwords, wanted, hash, err) < 0 ? -1
                                                                 : db_set_user_password(req->server->db, &change, err);
}

// Whoever has taken over a session still needs the old password, and the limits of sign-in hold here too.
int op_change_user_password(struct request *req, struct response *res, struct error *err)
{
    const char *current = json_string_value(json_object_get(req->body, "currentPassword"));
    const char *wanted = json_string_value(json_object_get(req->body, "newPassword"));
    struct user user;
    if (req->caller->type != SUBJECT_USER)
        return error_set(err, ERROR_FORBIDDEN, "a service account has no password");
    if (find_caller(req, &user, err) < 0)
        return -1;
    if (!user.is_local)
        return error_set(err, ERROR_FORBIDDEN, "your account has no password here");
    if (password_rules_check(&req->server->auth->password_rules, "newPassword", wanted, user.email, err) < 0)
        return -1;
    if (!strcmp(current, wanted))
        return error_set(err, ERROR_INVALID, "newPassword: the same as the current one");
    if (sign_in_with_password(req, res, user.email, current, &user, err) < 0) {
        if (err && err->code == ERROR_UNAUTHORIZED)
            error_set(err, ERROR_INVALID, "currentPassword: wrong");
        return -1;
    }
    if (check_old(req, &user, wanted, err) < 0 || set_password(req, &user, wanted, err) < 0)
        return -1;
    return response_json(res, json_object());
}
