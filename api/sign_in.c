#include "api/sign_in.h"

#include "api/auth.h"
#include "api/passwords.h"
#include "api/request.h"
#include "api/response.h"
#include "api/server.h"
#include "api/sign_in_limits.h"
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

void sign_in_succeeded(struct request *req, const char *account)
{
    sign_in_limits_succeeded(req->server->auth->limits, account, req->remote_address);
}

static int find_user(struct request *req, const char *username, struct user *out_user, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_user_by_email(conn, username, req->arena, out_user, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int sign_in_with_password(struct request *req, struct response *res, const char *username, const char *password,
                          struct user *out_user, struct error *err)
{
    bool matches = false;
    if (strlen(password) > PASSWORD_MAX || strlen(username) > 254)
        return error_set(err, ERROR_UNAUTHORIZED, "unknown user or wrong password");
    if (sign_in_begin(req, res, username, err) < 0)
        return -1;
    int found = find_user(req, username, out_user, err);
    if (found < 0)
        return -1;
    if (password_verify(req->server->auth->passwords, found ? out_user->password_hash : NULL, password, &matches, err) <
        0) {
        if (err && err->code == ERROR_TOO_MANY) {
            response_header(res, "Retry-After", "1");
            sign_in_succeeded(req, username); // not looked at: no failure
        }
        return -1;
    }
    char quoted[LOG_TEXT_SIZE];
    if (!matches) {
        log_write(LOG_WARN, "api", "sign-in failed user=%s remote=%s request=%s",
                  found ? log_text(username, quoted) : "unknown", req->remote_address, req->id);
        return error_set(err, ERROR_UNAUTHORIZED, "unknown user or wrong password");
    }
    sign_in_succeeded(req, username);
    log_write(LOG_INFO, "api", "signed in user=%s remote=%s request=%s", log_text(username, quoted),
              req->remote_address, req->id);
    return 0;
}
