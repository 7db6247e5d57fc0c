// A person's own second factor: asked for, confirmed, taken away; and its reset by an administrator of users.
#include "api/access/auth.h"
#include "api/access/sealing.h"
#include "api/access/secrets.h"
#include "api/access/totp.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operations.h"
#include "api/people/second_factor.h"
#include "api/people/sign_in.h"
#include "api/people/user_reach.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/accounts/users.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
    RECOVERY_TEXT_SIZE = RECOVERY_LENGTH + 4 // a dash after each four
};

// A person with a password, signed in by it: whoever holds a key or comes by the machine's socket changes no factor.
static int find_person(struct request *req, struct user *out_user, struct error *err)
{
    const struct identity *caller = req->caller;
    if (caller->type != SUBJECT_USER || caller->is_access_key)
        return error_set(err, ERROR_FORBIDDEN, "a second factor is for people who sign in with a password");
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_user(conn, caller->subject_id, req->arena, out_user, err);
    db_give_back(req->server->db, conn);
    return rc == 0 ? error_set(err, ERROR_NOT_FOUND, "user: not found") : rc < 0 ? -1 : 0;
}

// As changing the password does: the wrong one is a bad request, not the end of the session.
static int check_password(struct request *req, struct response *res, struct user *user, struct error *err)
{
    const char *current = json_string_value(json_object_get(req->body, "currentPassword"));
    if (sign_in_with_password(req, res, user->email, current, user, err) == 0)
        return 0;
    return err && err->code == ERROR_UNAUTHORIZED ? error_set(err, ERROR_INVALID, "currentPassword: wrong") : -1;
}

int op_get_second_factor(struct request *req, struct response *res, struct error *err)
{
    struct second_factor factor = {0};
    struct json_writer json;
    if (req->caller->type == SUBJECT_USER && second_factor_find(req, req->caller->subject_id, &factor, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_bool(&json, "enabled", factor.confirmed_ms != 0);
    json_time(&json, "enabledAt", factor.confirmed_ms);
    json_int(&json, "recoveryCodes", factor.recovery_codes);
    json_end_object(&json);
    return 0;
}

// The e-mail with everything percent-encoded that a URI does not take as it is.
static const char *escaped(struct request *req, const char *text)
{
    char *out = arena_alloc(req->arena, 3 * strlen(text) + 1), *next = out;
    for (const char *c = text; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        strchr("-._~", *c) != NULL;
        if (is_plain)
            *next++ = *c;
        else
            next += sprintf(next, "%%%02X", (unsigned char)*c);
    }
    *next = '\0';
    return out;
}

int op_begin_second_factor(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    unsigned char secret[TOTP_SECRET_SIZE];
    char text[TOTP_SECRET_TEXT_SIZE];
    if (find_person(req, &user, err) < 0 || check_password(req, res, &user, err) < 0)
        return -1;
    randombytes_buf(secret, sizeof(secret));
    totp_secret_text(secret, sizeof(secret), text);
    const char *sealed =
        sealing_seal(req->server->auth->sealing, SEALED_SECOND_FACTOR, user.uuid, secret, sizeof(secret), req->arena);
    sodium_memzero(secret, sizeof(secret));
    if (db_begin_second_factor(req->server->db, user.id, sealed, req->received_ms, err) < 0)
        return -1;
    const char *uri =
        arena_printf(req->arena, "otpauth://totp/prorata:%s?secret=%s&issuer=prorata&algorithm=SHA1&digits=6&period=30",
                     escaped(req, user.email), text);
    return response_json(res, json_pack("{s:s, s:s}", "secret", text, "otpauthUri", uri));
}

// Makes the codes; their hashes go into the confirmation.
static json_t *make_recovery_codes(struct factor_confirmation *confirmation)
{
    static const char DIGITS[] = "abcdefghijklmnopqrstuvwxyz234567";
    json_t *codes = json_array();
    for (size_t i = 0; i < RECOVERY_CODES; i++) {
        char plain[RECOVERY_LENGTH + 1], text[RECOVERY_TEXT_SIZE];
        for (size_t j = 0; j < RECOVERY_LENGTH; j++)
            plain[j] = DIGITS[randombytes_uniform(32)];
        plain[RECOVERY_LENGTH] = '\0';
        secret_hash(plain, confirmation->recovery_hashes[i]);
        snprintf(text, sizeof(text), "%.4s-%.4s-%.4s-%.4s", plain, plain + 4, plain + 8, plain + 12);
        json_array_append_new(codes, json_string(text));
    }
    return codes;
}

int op_confirm_second_factor(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    struct second_factor factor = {0};
    const char *code = json_string_value(json_object_get(req->body, "code"));
    if (find_person(req, &user, err) < 0)
        return -1;
    int found = second_factor_find(req, user.id, &factor, err);
    if (found < 0)
        return -1;
    if (!found || factor.confirmed_ms)
        return error_set(err, ERROR_CONFLICT, "no secret waits for a code; begin again");
    struct factor_confirmation confirmation = {.user_id = user.id,
                                               .secret_sealed = factor.secret_sealed,
                                               .kept_session = req->caller->session_id,
                                               .now_ms = req->received_ms};
    int matches = second_factor_match(req, user.uuid, &factor, code, &confirmation.step, err);
    if (matches <= 0)
        return matches < 0 ? -1 : error_set(err, ERROR_INVALID, "code: wrong; is the clock of the app's device right?");
    json_t *codes = make_recovery_codes(&confirmation);
    if (db_confirm_second_factor(req->server->db, &confirmation, err) < 0) {
        json_decref(codes);
        return -1;
    }
    return response_json(res, json_pack("{s:o}", "recoveryCodes", codes));
}

int op_disable_second_factor(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    struct factor_shown shown;
    const char *current = json_string_value(json_object_get(req->body, "currentPassword"));
    const char *otp = json_string_value(json_object_get(req->body, "otp"));
    if (find_person(req, &user, err) < 0)
        return -1;
    if (sign_in_with_factors(req, res, &(struct sign_in_wish){user.email, current, otp}, &user, &shown, err) < 0) {
        if (err && err->code == ERROR_UNAUTHORIZED)
            err->code = ERROR_INVALID;
        return -1;
    }
    if (db_remove_second_factor(req->server->db, user.id, req->caller->session_id, err) < 0)
        return -1;
    return response_empty(res, 204);
}

int op_reset_second_factor(struct request *req, struct response *res, struct error *err)
{
    struct user user;
    if (user_reach(req, ACTION_UPDATE, &user, err) < 0 ||
        db_remove_second_factor(req->server->db, user.id, NULL, err) < 0)
        return -1;
    return response_empty(res, 204);
}
