#include "api/access/authenticate.h"

#include "api/access/auth.h"
#include "api/access/authorization.h"
#include "api/access/custom_roles.h"
#include "api/access/grants.h"
#include "api/access/jwt.h"
#include "api/access/secrets.h"
#include "api/access/security_settings.h"
#include "api/access/signing_keys.h"
#include "api/access/socket_rules.h"
#include "api/access/socket_sign_in.h"
#include "api/http/peers.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#include <string.h>
#include <strings.h>

enum {
    TOUCH_AFTER_MS = 60000
}; // a session's last use is written at most once a minute

static int refuse(const struct request *req, const char *reason, struct error *err)
{
    log_write(LOG_INFO, "api", "caller refused reason=\"%s\" remote=%s request=%s", reason, req->remote_address,
              req->id);
    error_set(err, ERROR_UNAUTHORIZED, "no token, or one that is not valid (any more)");
    return error_details(err, "POST /api/v1/token gives one; send it as Authorization: Bearer TOKEN");
}

// The token behind "Bearer ", or NULL.
static const char *bearer_token(const char *header)
{
    if (strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    return header + 7 + strspn(header + 7, " ");
}

static int find_by_token(struct request *req, struct db_conn *conn, const char *token,
                         struct session_subject *out_subject, const char **out_reason, struct error *err)
{
    struct jwt_claims claims;
    if (!jwt_token_check(token, signing_keys_find, req->server->auth->keys, req->received_ms / 1000, req->arena,
                         &claims, out_reason))
        return 0;
    int rc = db_find_session(conn, claims.session, req->arena, out_subject, err);
    if (rc > 0 && (out_subject->is_browser || strcmp(out_subject->subject_uuid, claims.subject) != 0)) {
        *out_reason = "the token is not this session's";
        return 0;
    }
    if (rc > 0 && claims.expires_s * 1000 < out_subject->expires_ms)
        out_subject->expires_ms = claims.expires_s * 1000;
    return rc;
}

// 1 where a browser's session has been used lately, else 0.
static int check_idle(const struct request *req, struct db_conn *conn, struct session_subject *out_subject,
                      const char **out_reason, struct error *err)
{
    int64_t idle_ms;
    if (security_settings_idle_ms(conn, req->arena, &idle_ms, err) < 0)
        return -1;
    if (out_subject->last_used_ms + idle_ms < req->received_ms) {
        *out_reason = "the session was idle for too long";
        return 0;
    }
    if (req->received_ms + idle_ms < out_subject->expires_ms)
        out_subject->expires_ms = req->received_ms + idle_ms;
    return 1;
}

static int find_by_cookie(struct request *req, struct db_conn *conn, const char *cookie,
                          struct session_subject *out_subject, const char **out_reason, struct error *err)
{
    unsigned char hash[SECRET_HASH_SIZE];
    secret_hash(cookie, hash);
    int rc = db_find_session_by_cookie(conn, hash, req->arena, out_subject, err);
    return rc <= 0 ? rc : check_idle(req, conn, out_subject, out_reason, err);
}

static bool is_read(const struct request *req)
{
    return req->operation && req->operation->method == HTTP_METHOD_GET;
}

// Nothing is shown, and the connection comes by the machine's socket.
static bool is_peer(const struct request *req)
{
    return req->peer && !request_header(req, "Authorization") && !request_cookie(req, SESSION_COOKIE);
}

// Who calls, by whatever is shown. A bearer token goes before a cookie, and both before who connected.
static int find_subject(struct request *req, struct db_conn *conn, struct session_subject *out_subject,
                        const char **out_reason, struct error *err)
{
    const char *header = request_header(req, "Authorization");
    const char *cookie = header ? NULL : request_cookie(req, SESSION_COOKIE);
    *out_reason = "unknown or ended session";
    if (is_peer(req))
        return db_find_session(conn, req->peer->session, req->arena, out_subject, err);
    if (header) {
        const char *token = bearer_token(header);
        *out_reason = token ? *out_reason : "not a bearer token";
        return token ? find_by_token(req, conn, token, out_subject, out_reason, err) : 0;
    }
    if (!cookie) {
        *out_reason = "neither token nor cookie";
        return 0;
    }
    const char *proof = request_header(req, SESSION_WRITE_HEADER);
    if (!is_read(req) && (!proof || strcmp(proof, "1") != 0)) {
        *out_reason = "a write by cookie without " SESSION_WRITE_HEADER;
        return 0;
    }
    return find_by_cookie(req, conn, cookie, out_subject, out_reason, err);
}

// The session that this connection has by its socket, not one that it has just made by a password.
static bool is_peers(const struct request *req, const struct session_subject *subject)
{
    return req->peer && strcmp(subject->session_uuid, req->peer->session) == 0;
}

static int resolve_grants(struct request *req, struct db_conn *conn, const struct session_subject *subject,
                          const struct grants **out_grants, struct error *err)
{
    struct grant *items;
    struct grants *grants = arena_alloc(req->arena, sizeof(*grants));
    if (grants_load(conn, subject->is_user, subject->rule_key, SOCKET_RULES_MAX, req->arena, &items, &grants->count,
                    err) < 0)
        return -1;
    grants->items = items;
    *out_grants = grants;
    return is_peers(req, subject) ? socket_sign_in_grants(req, conn, items, &grants->count, err) : 0;
}

// subject was found; the rest of what must hold, and what the caller may do.
static int identify(struct request *req, struct db_conn *conn, const struct session_subject *subject, struct error *err)
{
    if (subject->expires_ms <= req->received_ms)
        return refuse(req, "the session has expired", err);
    if (!subject->is_enabled)
        return refuse(req, "the service account is switched off", err);
    const struct grants *grants;
    if (resolve_grants(req, conn, subject, &grants, err) < 0)
        return -1;
    struct identity *caller = arena_alloc(req->arena, sizeof(*caller));
    *caller = (struct identity){
        .type = subject->is_user ? SUBJECT_USER : SUBJECT_SERVICE_ACCOUNT,
        .subject_id = subject->subject_id,
        .subject_uuid = subject->subject_uuid,
        .rule_key = subject->rule_key,
        .name = subject->name,
        .session_id = subject->session_uuid,
        .is_cookie = subject->is_browser,
        .is_peer = is_peers(req, subject),
        .is_access_key = subject->is_access_key,
        .machine_user = is_peers(req, subject) ? socket_sign_in_user(req) : NULL,
        .must_change_password = subject->must_change_password,
        .expires_ms = subject->expires_ms,
        .grants = grants,
    };
    req->caller = caller;
    return 0;
}

// A full disk must not sign people out: the last use is then a little stale.
static void note_use(const struct request *req, const struct session_subject *subject)
{
    if (subject->last_used_ms + TOUCH_AFTER_MS < req->received_ms)
        db_touch_session(req->server->db, subject->session_id, req->received_ms, NULL);
}

int authenticate(struct request *req, struct error *err)
{
    struct session_subject subject = {0};
    const char *reason = NULL;
    if (is_peer(req) && socket_sign_in(req, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = find_subject(req, conn, &subject, &reason, err);
    if (rc == 0)
        rc = refuse(req, reason, err);
    if (rc > 0)
        rc = identify(req, conn, &subject, err);
    db_give_back(req->server->db, conn);
    if (rc == 0)
        note_use(req, &subject);
    return rc;
}

static bool same_grants(const struct grants *a, const struct grants *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct scope_path *left = &a->items[i].path, *right = &b->items[i].path;
        if (!role_is_same(a->items[i].role, b->items[i].role) || left->cluster_id != right->cluster_id ||
            left->department_id != right->department_id || left->project_id != right->project_id)
            return false;
    }
    return true;
}

// In the request's own arena, with nothing of the one that they were read into.
static const struct identity *with_grants(const struct request *req, const struct grants *grants)
{
    struct identity *caller = arena_alloc(req->arena, sizeof(*caller));
    struct grants *copy = arena_alloc(req->arena, sizeof(*copy));
    struct grant *items = arena_array(req->arena, grants->count + 1, sizeof(*items));
    for (size_t i = 0; i < grants->count; i++) {
        items[i] = grants->items[i];
        items[i].role = role_copy(items[i].role, req->arena);
    }
    *copy = (struct grants){.items = items, .count = grants->count};
    *caller = *req->caller;
    caller->grants = copy;
    return caller;
}

bool authenticate_again(struct request *req)
{
    static const struct grants NONE = {0};
    struct session_subject subject = {0};
    const char *reason = NULL;
    struct arena arena;
    struct request again = *req;
    arena_init(&arena);
    again.arena = &arena;
    again.received_ms = timestamp_now_ms();
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = find_subject(&again, conn, &subject, &reason, NULL);
    if (rc == 0)
        (void)refuse(req, reason, NULL);
    bool is_known = rc > 0 && identify(&again, conn, &subject, NULL) == 0;
    db_give_back(req->server->db, conn);
    const struct grants *grants = is_known ? again.caller->grants : &NONE;
    bool is_same = is_known && same_grants(req->caller->grants, grants);
    if (!is_same)
        req->caller = with_grants(req, grants);
    arena_done(&arena);
    return is_same;
}

int authenticate_by_cookie(struct request *req, const char *cookie, struct error *err)
{
    struct session_subject subject = {0};
    const char *reason = "unknown or ended session";
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = find_by_cookie(req, conn, cookie, &subject, &reason, err);
    if (rc == 0)
        rc = refuse(req, reason, err);
    if (rc > 0)
        rc = identify(req, conn, &subject, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static int find_by_id(struct request *req, const char *session_uuid, struct session_subject *out_subject,
                      struct error *err)
{
    const char *reason = "unknown or ended session";
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_session(conn, session_uuid, req->arena, out_subject, err);
    if (rc > 0 && out_subject->is_browser)
        rc = check_idle(req, conn, out_subject, &reason, err);
    if (rc == 0)
        rc = refuse(req, reason, err);
    if (rc > 0)
        rc = identify(req, conn, out_subject, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int authenticate_session(struct request *req, const char *session_uuid, struct error *err)
{
    struct session_subject subject = {0};
    return find_by_id(req, session_uuid, &subject, err);
}

int authenticate_use_of_session(struct request *req, const char *session_uuid, struct error *err)
{
    struct session_subject subject = {0};
    int rc = find_by_id(req, session_uuid, &subject, err);
    if (rc == 0)
        note_use(req, &subject);
    return rc;
}
