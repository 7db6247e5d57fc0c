#include "api/people/second_factor.h"

#include "api/access/auth.h"
#include "api/access/sealing.h"
#include "api/access/secrets.h"
#include "api/access/sign_in_limits.h"
#include "api/access/totp.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/accounts/users.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

static_assert((int)RECOVERY_HASH_SIZE == (int)SECRET_HASH_SIZE, "one hash");

int second_factor_find(struct request *req, int64_t user_id, struct second_factor *out_factor, struct error *err)
{
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_second_factor(conn, user_id, req->arena, out_factor, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int second_factor_match(struct request *req, const char *user_uuid, const struct second_factor *factor, const char *otp,
                        int64_t *out_step, struct error *err)
{
    unsigned char *secret;
    size_t size;
    if (sealing_open(req->server->auth->sealing, SEALED_SECOND_FACTOR, user_uuid, factor->secret_sealed, req->arena,
                     &secret, &size, err) < 0)
        return -1;
    bool matches = totp_matches(secret, size, otp, timestamp_now_ms() / 1000, factor->last_step, out_step);
    sodium_memzero(secret, size);
    return matches;
}

// Dashes, blanks and capitals are as people like them. False where it cannot be one.
static bool hash_recovery_code(const char *text, unsigned char out_hash[RECOVERY_HASH_SIZE])
{
    char plain[RECOVERY_LENGTH + 1];
    size_t length = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '-' || *c == ' ')
            continue;
        if (length == RECOVERY_LENGTH)
            return false;
        plain[length++] = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    }
    plain[length] = '\0';
    if (length == RECOVERY_LENGTH)
        secret_hash(plain, out_hash);
    sodium_memzero(plain, sizeof(plain));
    return length == RECOVERY_LENGTH;
}

// 1: good as far as can be seen; 0: wrong; -1: error.
static int look_at(struct request *req, const struct user *user, const struct second_factor *factor, const char *otp,
                   struct factor_shown *out_shown, struct error *err)
{
    if (strlen(otp) <= TOTP_DIGITS)
        return second_factor_match(req, user->uuid, factor, otp, &out_shown->step, err);
    unsigned char *hash = arena_alloc(req->arena, RECOVERY_HASH_SIZE);
    if (!hash_recovery_code(otp, hash))
        return 0;
    out_shown->recovery_hash = hash;
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_has_recovery_code(conn, user->id, hash, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int second_factor_check(struct request *req, struct response *res, const struct user *user, const char *otp,
                        struct factor_shown *out_shown, bool *out_is_missing, struct error *err)
{
    struct second_factor factor = {0};
    struct sign_in_limits *limits = req->server->auth->limits;
    *out_shown = (struct factor_shown){0};
    int found = second_factor_find(req, user->id, &factor, err);
    if (found <= 0 || !factor.confirmed_ms)
        return found < 0 ? -1 : 0;
    *out_is_missing = !otp || !*otp;
    if (*out_is_missing) {
        error_set(err, ERROR_UNAUTHORIZED, "otp: required; the account has a second factor");
        return error_details(err, "send the code that your app shows, or a recovery code, as otp");
    }
    int64_t wait_s = sign_in_limits_begin(limits, "otp", user->uuid, timestamp_monotonic_us() / 1000);
    if (wait_s) {
        response_header(res, "Retry-After", arena_printf(req->arena, "%" PRId64, wait_s));
        return error_set(err, ERROR_TOO_MANY, "too many wrong codes; try again in %" PRId64 " s", wait_s);
    }
    int rc = look_at(req, user, &factor, otp, out_shown, err);
    sign_in_limits_end(limits, "otp", user->uuid,
                       rc < 0 ? SIGN_IN_NOT_TRIED
                       : rc   ? SIGN_IN_SUCCEEDED
                              : SIGN_IN_FAILED,
                       timestamp_monotonic_us() / 1000);
    return rc > 0 ? 0 : rc < 0 ? -1 : error_set(err, ERROR_UNAUTHORIZED, "otp: wrong, or used before");
}
