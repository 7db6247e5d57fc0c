#include "api/people/token_grants.h"

#include "api/access/audit.h"
#include "api/access/auth.h"
#include "api/access/jwt.h"
#include "api/access/openid.h"
#include "api/access/secrets.h"
#include "api/access/signing_keys.h"
#include "api/http/request.h"
#include "api/people/openid_session.h"
#include "api/people/sign_in.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/uuid.h"
#include "db/accounts/access_keys.h"
#include "db/accounts/external_people.h"
#include "db/accounts/service_accounts.h"
#include "db/accounts/sessions.h"
#include "db/accounts/users.h"
#include "db/db.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)
#define UNCONFIRMED_LIFE_MS INT64_C(3600000) // where the issuer cannot be asked about the session again

#define EXTERNAL_TOKENS "tokens of the issuer" // for the limits: no account is known before the token is good

enum {
    FAMILY_LENGTH = SECRET_TEXT_SIZE - 1,
    REFRESH_LENGTH = 2 * FAMILY_LENGTH
};

static_assert((int)SECRET_HASH_SIZE == (int)SESSION_HASH_SIZE &&
                  (int)SECRET_HASH_SIZE == (int)SERVICE_ACCOUNT_HASH_SIZE &&
                  (int)SECRET_HASH_SIZE == (int)ACCESS_KEY_HASH_SIZE,
              "one hash");

static void hash_family(const char *refresh_token, unsigned char out_hash[SECRET_HASH_SIZE])
{
    char family[SECRET_TEXT_SIZE];
    memcpy(family, refresh_token, FAMILY_LENGTH);
    family[FAMILY_LENGTH] = '\0';
    secret_hash(family, out_hash);
    sodium_memzero(family, sizeof(family));
}

static int sign(struct request *req, const char *subject, const char *session, const char *name,
                struct token_grant *out_grant, struct error *err)
{
    struct auth *auth = req->server->auth;
    struct jwt_key key;
    if (signing_keys_current(auth->keys, req->received_ms, &key, err) < 0)
        return -1;
    struct jwt_claims claims = {
        .subject = subject,
        .session = session,
        .name = name,
        .issued_s = req->received_ms / 1000,
        .expires_s = req->received_ms / 1000 + auth->token_life_s,
    };
    out_grant->access_token = jwt_token_sign(&key, &claims, req->arena);
    out_grant->expires_in_s = auth->token_life_s;
    sodium_memzero(&key, sizeof(key));
    return 0;
}

// The session is on disk before its token is handed out.
static int create_session(struct request *req, struct session *session, struct error *err)
{
    char *uuid = arena_alloc(req->arena, UUID_SIZE);
    uuid_create(uuid);
    session->uuid = uuid;
    session->remote_address = req->remote_address;
    session->user_agent = sign_in_user_agent(req);
    session->created_ms = req->received_ms;
    return db_create_session(req->server->db, session, err);
}

// Whoever a client id stands for: a user's access key, or a service account.
struct client {
    struct access_key key; // its id is 0 where it is none
    struct service_account account;
    const unsigned char *secret_hash;
    const char *name;
};

// 1: found; 0: none; -1: error. An exact id goes before a service account's name: else the account could be named so
// that it stands in a key's way.
static int find_client(struct request *req, const char *id, struct client *out_client, struct error *err)
{
    struct access_key_filter filter = {.client_id = id};
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_access_key(conn, &filter, req->arena, &out_client->key, err);
    bool is_key = rc > 0;
    if (rc == 0)
        rc = db_find_service_account_by_client(conn, id, req->arena, &out_client->account, err);
    db_give_back(req->server->db, conn);
    out_client->secret_hash = is_key ? out_client->key.secret_hash : out_client->account.secret_hash;
    out_client->name = is_key ? out_client->key.user_email : rc > 0 ? out_client->account.name : "unknown";
    return rc;
}

// The session of a client whose secret was right, and its token.
static int grant_to_client(struct request *req, const struct client *client, struct token_grant *out_grant,
                           struct error *err)
{
    bool is_key = client->key.id != 0;
    struct session session = {
        .subject_type = is_key ? SESSION_OF_USER : SESSION_OF_SERVICE_ACCOUNT,
        .subject_id = is_key ? client->key.user_id : client->account.id,
        .access_key_id = client->key.id,
        .shown_secret_hash = client->secret_hash,
        .expires_ms = req->received_ms + (req->server->auth->token_life_s + JWT_LEEWAY_S) * 1000,
    };
    if (create_session(req, &session, err) < 0)
        return -1;
    out_grant->refresh_token = NULL;
    return sign(req, is_key ? client->key.user_uuid : client->account.uuid, session.uuid, client->name, out_grant, err);
}

int token_grant_client(struct request *req, struct response *res, const char *client_id, const char *secret,
                       struct token_grant *out_grant, struct error *err)
{
    struct client client = {0};
    char *limited = arena_printf(req->arena, "client:%.250s", client_id);
    if (sign_in_begin(req, res, limited, err) < 0)
        return -1;
    int found = find_client(req, client_id, &client, err);
    bool matches = found > 0 && secret_matches(secret, client.secret_hash);
    sign_in_end(req, limited, found < 0 ? SIGN_IN_NOT_TRIED : matches ? SIGN_IN_SUCCEEDED : SIGN_IN_FAILED);
    if (found < 0)
        return -1;
    enum subject_type type = client.key.id ? SUBJECT_USER : SUBJECT_SERVICE_ACCOUNT;
    audit_tried(req, type, found ? client.name : "");
    audit_detail(req, "grant", client.key.id ? "access_key" : "client_credentials");
    if (!matches) {
        log_write(LOG_WARN, "api", "sign-in of a client failed %s=%s remote=%s request=%s",
                  client.key.id ? "key-of" : "account", client.name, req->remote_address, req->id);
        return error_set(err, ERROR_UNAUTHORIZED, "unknown client or wrong secret");
    }
    if (!client.key.id && !client.account.is_enabled)
        return error_set(err, ERROR_UNAUTHORIZED, "the service account is switched off");
    audit_signed_in(req, type, client.name);
    return grant_to_client(req, &client, out_grant, err);
}

int token_grant_password(struct request *req, struct response *res, const struct sign_in_wish *wish,
                         struct token_grant *out_grant, struct error *err)
{
    struct user user;
    struct factor_shown shown;
    audit_detail(req, "grant", "password");
    if (sign_in_with_factors(req, res, wish, &user, &shown, err) < 0)
        return -1;
    audit_signed_in(req, SUBJECT_USER, user.email);
    char first[SECRET_TEXT_SIZE], second[SECRET_TEXT_SIZE];
    unsigned char family_hash[SECRET_HASH_SIZE], refresh_hash[SECRET_HASH_SIZE];
    secret_create(first);
    secret_create(second);
    const char *refresh_token = arena_printf(req->arena, "%s%s", first, second);
    hash_family(refresh_token, family_hash);
    secret_hash(refresh_token, refresh_hash);
    struct session session = {
        .subject_type = SESSION_OF_USER,
        .subject_id = user.id,
        .refresh_family_hash = family_hash,
        .refresh_hash = refresh_hash,
        .shown_password_hash = user.password_hash,
        .shown_factor = shown,
        .expires_ms = req->received_ms + REFRESH_LIFE_DAYS * DAY_MS,
    };
    if (create_session(req, &session, err) < 0)
        return -1;
    out_grant->refresh_token = refresh_token;
    return sign(req, user.uuid, session.uuid, user.email, out_grant, err);
}

int token_grant_refresh(struct request *req, const char *refresh_token, struct token_grant *out_grant,
                        struct error *err)
{
    if (strlen(refresh_token) != REFRESH_LENGTH)
        return error_set(err, ERROR_UNAUTHORIZED, "the refresh token is unknown or has expired");
    char second[SECRET_TEXT_SIZE];
    unsigned char family_hash[SECRET_HASH_SIZE], old_hash[SECRET_HASH_SIZE], new_hash[SECRET_HASH_SIZE];
    secret_create(second);
    const char *fresh = arena_printf(req->arena, "%.*s%s", FAMILY_LENGTH, refresh_token, second);
    hash_family(refresh_token, family_hash);
    secret_hash(refresh_token, old_hash);
    secret_hash(fresh, new_hash);
    struct session_refresh refresh = {
        .family_hash = family_hash,
        .old_hash = old_hash,
        .new_hash = new_hash,
        .now_ms = req->received_ms,
        .expires_ms = req->received_ms + REFRESH_LIFE_DAYS * DAY_MS,
        .arena = req->arena,
    };
    if (db_refresh_session(req->server->db, &refresh, err) < 0) {
        if (refresh.is_reused)
            log_write(LOG_WARN, "api", "an old refresh token was shown: session ended user=%s remote=%s request=%s",
                      refresh.subject.name, req->remote_address, req->id);
        return -1;
    }
    audit_signed_in(req, refresh.subject.is_user ? SUBJECT_USER : SUBJECT_SERVICE_ACCOUNT, refresh.subject.name);
    audit_detail(req, "grant", "refresh_token");
    out_grant->refresh_token = fresh;
    return sign(req, refresh.subject.subject_uuid, refresh.subject.session_uuid, refresh.subject.name, out_grant, err);
}

static const char *challenge_of(const char *verifier, struct arena *arena)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char *text = arena_alloc(arena, SECRET_TEXT_SIZE);
    crypto_hash_sha256(hash, (const unsigned char *)verifier, strlen(verifier));
    return sodium_bin2base64(text, SECRET_TEXT_SIZE, hash, sizeof(hash), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

static void shorten(struct token_grant *grant)
{
    if (grant->expires_in_s > UNCONFIRMED_LIFE_MS / 1000)
        grant->expires_in_s = UNCONFIRMED_LIFE_MS / 1000;
}

int token_grant_code(struct request *req, const char *code, const char *redirect_uri, const char *verifier,
                     struct token_grant *out_grant, struct error *err)
{
    char first[SECRET_TEXT_SIZE], second[SECRET_TEXT_SIZE];
    unsigned char code_hash[SECRET_HASH_SIZE], family_hash[SECRET_HASH_SIZE], refresh_hash[SECRET_HASH_SIZE];
    secret_create(first);
    secret_create(second);
    const char *refresh_token = arena_printf(req->arena, "%s%s", first, second);
    secret_hash(code, code_hash);
    hash_family(refresh_token, family_hash);
    secret_hash(refresh_token, refresh_hash);
    struct code_exchange exchange = {
        .code_hash = code_hash,
        .challenge = challenge_of(verifier, req->arena),
        .redirect_uri = redirect_uri,
        .family_hash = family_hash,
        .refresh_hash = refresh_hash,
        .now_ms = req->received_ms,
        .expires_ms = req->received_ms + REFRESH_LIFE_DAYS * DAY_MS,
        .short_expires_ms = req->received_ms + UNCONFIRMED_LIFE_MS,
        .arena = req->arena,
    };
    if (db_exchange_sign_in_code(req->server->db, &exchange, err) < 0)
        return -1;
    const struct session_subject *subject = &exchange.subject;
    audit_signed_in(req, SUBJECT_USER, subject->name);
    audit_detail(req, "grant", "openid");
    if (sign(req, subject->subject_uuid, subject->session_uuid, subject->name, out_grant, err) < 0)
        return -1;
    out_grant->refresh_token = exchange.can_refresh ? refresh_token : NULL;
    if (!exchange.can_refresh)
        shorten(out_grant);
    return 0;
}

// Under the limits of all sign-ins: a bad token counts as a wrong password of this address.
static int check_external(struct request *req, struct response *res, const char *token,
                          struct openid_person *out_person, struct error *err)
{
    struct error cause = {0};
    audit_tried(req, SUBJECT_USER, "");
    audit_detail(req, "grant", "external_token");
    if (sign_in_begin(req, res, EXTERNAL_TOKENS, err) < 0)
        return -1;
    int rc =
        openid_check(req->server->openid, req->remote_address, token, req->received_ms, req->arena, out_person, &cause);
    bool is_bad = rc < 0 && cause.code == ERROR_UNAUTHORIZED;
    sign_in_end(req, EXTERNAL_TOKENS, rc == 0 ? SIGN_IN_SUCCEEDED : is_bad ? SIGN_IN_FAILED : SIGN_IN_NOT_TRIED);
    if (rc == 0)
        return 0;
    audit_not_signed_in(req, cause.message);
    log_write(LOG_WARN, "api", "an external token was refused: %s remote=%s request=%s", cause.message,
              req->remote_address, req->id);
    if (cause.code == ERROR_NOT_FOUND)
        cause.code = ERROR_INVALID;
    if (err)
        *err = cause;
    return error_prefix(err, "externalToken: ");
}

int token_grant_external(struct request *req, struct response *res, const char *token, struct token_grant *out_grant,
                         struct error *err)
{
    struct openid_person person;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    struct external_sign_in sign_in = {.session = {.uuid = uuid,
                                                   .kind = SESSION_KIND_TOKEN,
                                                   .user_agent = sign_in_user_agent(req),
                                                   .expires_ms = req->received_ms + UNCONFIRMED_LIFE_MS}};
    if (check_external(req, res, token, &person, err) < 0 || openid_session_create(req, &person, &sign_in, err) < 0 ||
        sign(req, sign_in.user.uuid, uuid, sign_in.user.email, out_grant, err) < 0)
        return -1;
    out_grant->refresh_token = NULL;
    shorten(out_grant);
    return 0;
}
