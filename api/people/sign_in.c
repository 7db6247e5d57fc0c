#include "api/people/sign_in.h"

#include "api/access/audit.h"
#include "api/access/auth.h"
#include "api/access/passwords.h"
#include "api/access/sign_in_crowd.h"
#include "api/access/sign_in_limits.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/people/second_factor.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/db.h"

#include <inttypes.h>
#include <string.h>

int sign_in_begin(struct request *req, struct response *res, const char *account, struct error *err)
{
    int64_t wait_s =
        sign_in_limits_begin(req->server->auth->limits, account, req->remote_address, timestamp_monotonic_us() / 1000);
    if (!wait_s)
        return 0;
    response_header(res, "Retry-After", arena_printf(req->arena, "%" PRId64, wait_s));
    return error_set(err, ERROR_TOO_MANY, "too many failed tries to sign in; try again in %" PRId64 " s", wait_s);
}

void sign_in_end(struct request *req, const char *account, enum sign_in_outcome outcome)
{
    sign_in_limits_end(req->server->auth->limits, account, req->remote_address, outcome,
                       timestamp_monotonic_us() / 1000);
}

const char *sign_in_user_agent(const struct request *req)
{
    const char *told = request_header(req, "User-Agent");
    if (!told)
        return NULL;
    char *text = arena_printf(req->arena, "%.200s", told);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return text;
}

static int find_user(struct request *req, const char *username, struct user *out_user, struct error *err)
{
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_user_by_email(conn, username, req->arena, out_user, err);
    db_give_back(req->server->db, conn);
    return rc;
}

// The user and whether the password is right.
static int try_password(struct request *req, struct response *res, const char *username, const char *password,
                        struct user *out_user, bool *out_exists, bool *out_matches, struct error *err)
{
    struct error cause = {0};
    int found = find_user(req, username, out_user, err);
    if (found < 0)
        return -1;
    *out_exists = found > 0;
    const char *hash = found ? out_user->password_hash : NULL;
    struct password_caller caller = {
        .address = req->remote_address,
        .is_suspect =
            sign_in_limits_is_suspect(req->server->auth->limits, req->remote_address, timestamp_monotonic_us() / 1000)};
    if (password_verify(req->server->auth->passwords, &caller, hash, password, out_matches, &cause) == 0)
        return 0;
    if (cause.code == ERROR_TOO_MANY)
        response_header(res, "Retry-After", "1");
    *err = cause;
    return -1;
}

static void note_origin(const struct request *req, const char *username)
{
    const struct server *server = req->server;
    if (server->config.proxy_count == 0 &&
        sign_in_crowd_note(server->auth->crowd, username, req->remote_address, req->received_ms))
        sign_in_crowd_tell(server->db, req->remote_address, req->received_ms);
}

static int refuse_password(struct error *err)
{
    return error_set(err, ERROR_UNAUTHORIZED, "unknown user or wrong password");
}

static void log_try(const struct request *req, const char *username, bool exists, bool succeeded)
{
    char quoted[LOG_TEXT_SIZE];
    log_write(succeeded ? LOG_INFO : LOG_WARN, "api", "%s user=%s remote=%s request=%s",
              succeeded ? "signed in" : "sign-in failed", exists ? log_text(username, quoted) : "unknown",
              req->remote_address, req->id);
}

// One try under the limits. out_shown NULL: the password alone is asked for.
static int try_to_sign_in(struct request *req, struct response *res, const struct sign_in_wish *wish,
                          struct user *out_user, struct factor_shown *out_shown, struct error *err)
{
    bool matches = false, exists = false, is_code_missing = false;
    const char *username = wish->username;
    if (strlen(wish->password) > PASSWORD_MAX || strlen(username) > 254)
        return refuse_password(err);
    audit_tried(req, SUBJECT_USER, username);
    note_origin(req, username);
    if (sign_in_begin(req, res, username, err) < 0)
        return -1;
    int rc = try_password(req, res, username, wish->password, out_user, &exists, &matches, err);
    bool was_tried = rc == 0;
    if (was_tried && !matches)
        rc = refuse_password(err);
    else if (was_tried && out_shown)
        rc = second_factor_check(req, res, out_user, wish->otp, out_shown, &is_code_missing, err);
    bool is_wrong = was_tried && rc < 0 && !is_code_missing && (!err || err->code == ERROR_UNAUTHORIZED);
    sign_in_end(req, username, rc == 0 ? SIGN_IN_SUCCEEDED : is_wrong ? SIGN_IN_FAILED : SIGN_IN_NOT_TRIED);
    if (was_tried && !is_code_missing)
        log_try(req, username, exists, rc == 0);
    return rc;
}

int sign_in_with_password(struct request *req, struct response *res, const char *username, const char *password,
                          struct user *out_user, struct error *err)
{
    struct sign_in_wish wish = {.username = username, .password = password};
    return try_to_sign_in(req, res, &wish, out_user, NULL, err);
}

int sign_in_with_factors(struct request *req, struct response *res, const struct sign_in_wish *wish,
                         struct user *out_user, struct factor_shown *out_shown, struct error *err)
{
    return try_to_sign_in(req, res, wish, out_user, out_shown, err);
}
