// Signing in at the issuer (OpenID Connect), for browsers and for command lines.
//
// What a sign-in is bound to (state, nonce, PKCE verifier, where it leads) is in a sealed cookie of the browser that
// began it, good for ten minutes: the server remembers nothing, and an answer of the issuer that another browser was
// sent with (login CSRF) finds no cookie. A browser gets the session's cookie; a command line gets a code through its
// own listener on the loopback, or for the person to copy, and exchanges it with its verifier (POST /api/v1/token).
#include "api/access/audit.h"
#include "api/access/openid.h"
#include "api/access/secrets.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operations.h"
#include "api/people/openid_flow.h"
#include "api/people/openid_session.h"
#include "api/people/session.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/uuid.h"
#include "db/accounts/identity_provider.h"
#include "db/accounts/sessions.h"
#include "db/db.h"

#include <inttypes.h>
#include <string.h>

#define BROWSER_LIFE_MS (INT64_C(7) * 86400000)
#define UNCONFIRMED_LIFE_MS INT64_C(3600000) // of a session that the issuer cannot be asked about again
#define CODE_LIFE_MS INT64_C(120000)

static int find_provider(struct request *req, struct identity_provider *out_provider, struct error *err)
{
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc = db_find_identity_provider(conn, req->arena, out_provider, err);
    db_give_back(req->server->db, conn);
    return rc;
}

int op_get_openid(struct request *req, struct response *res, struct error *err)
{
    struct identity_provider provider;
    int rc = find_provider(req, &provider, err);
    if (rc < 0)
        return -1;
    return response_json(res, json_pack("{s:b, s:s?}", "enabled", rc > 0, "name", rc > 0 ? provider.name : NULL));
}

static int redirect(struct response *res, const char *url)
{
    response_header(res, "Location", url);
    response_header(res, "Cache-Control", "no-store");
    return response_empty(res, 303);
}

int op_begin_openid_sign_in(struct request *req, struct response *res, struct error *err)
{
    struct openid_flow_state state;
    const char *url;
    if (openid_flow_begin(req, &state, err) < 0)
        return -1;
    struct openid_flow flow = {state.state, state.nonce, state.verifier, req->remote_address};
    if (openid_begin(req->server->openid, &flow, req->arena, &url, err) < 0)
        return -1;
    openid_flow_keep(req, res, &state);
    return redirect(res, url);
}

// Where a sign-in that failed leads: the page says why by the word, log and audit by the reason.
static int fail(struct request *req, struct response *res, const struct openid_flow_state *state, const char *word,
                const char *reason)
{
    char quoted[LOG_TEXT_SIZE];
    audit_not_signed_in(req, reason);
    log_write(LOG_WARN, "api", "sign-in at the issuer failed word=%s reason=%s remote=%s request=%s", word,
              log_text(reason, quoted), req->remote_address, req->id);
    if (state && state->redirect_uri && !openid_flow_shows_code(state))
        return redirect(res, openid_flow_loopback_url(req, state, "error", word));
    return redirect(res, arena_printf(req->arena, "/?signIn=%s", word));
}

static const char *word_of(const struct error *err)
{
    return err->code == ERROR_UNAUTHORIZED ? "refused" : err->code == ERROR_CONFLICT ? "taken" : "unavailable";
}

// What the issuer says in place of a code (RFC 6749, 4.1.2.1), as far as it is such a word.
static const char *refusal_of_issuer(const struct request *req)
{
    const char *word = request_query(req, "error");
    bool is_word = word && *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyz_")] == '\0';
    return is_word ? arena_printf(req->arena, "the issuer says %.60s", word) : "the issuer gave no code";
}

struct handover {
    char secret[SECRET_TEXT_SIZE]; // the cookie, or the code
    unsigned char hash[SECRET_HASH_SIZE];
    char uuid[UUID_SIZE];
};

static int make_session(struct request *req, const struct openid_flow_state *state, const struct openid_person *person,
                        struct handover *handover, struct error *err)
{
    bool is_browser = !state->redirect_uri;
    int64_t life_ms = person->refresh_token ? BROWSER_LIFE_MS : UNCONFIRMED_LIFE_MS;
    secret_create(handover->secret);
    secret_hash(handover->secret, handover->hash);
    uuid_create(handover->uuid);
    struct external_sign_in sign_in = {
        .session = {.uuid = handover->uuid,
                    .kind = is_browser ? SESSION_KIND_BROWSER : SESSION_KIND_TOKEN,
                    .cookie_hash = is_browser ? handover->hash : NULL,
                    .expires_ms = req->received_ms + (is_browser ? life_ms : CODE_LIFE_MS)},
        .code = {.hash = is_browser ? NULL : handover->hash,
                 .challenge = state->challenge,
                 .redirect_uri = state->redirect_uri,
                 .expires_ms = req->received_ms + CODE_LIFE_MS},
    };
    return openid_session_create(req, person, &sign_in, err);
}

static int hand_over(struct request *req, struct response *res, const struct openid_flow_state *state,
                     const struct handover *handover)
{
    if (!state->redirect_uri) {
        session_set_cookie(req, res, handover->secret, "");
        return redirect(res, state->return_to);
    }
    if (!openid_flow_shows_code(state))
        return redirect(res, openid_flow_loopback_url(req, state, "code", handover->secret));
    const char *text = arena_printf(req->arena,
                                    "Copy this code into the terminal where you began:\n\n%s\n\nIt is good "
                                    "once, for two minutes. Give it to nobody.\n",
                                    handover->secret);
    response_header(res, "Cache-Control", "no-store");
    res->status = 200;
    return response_text(res, "text/plain; charset=utf-8", text, strlen(text));
}

int op_finish_openid_sign_in(struct request *req, struct response *res, struct error *err)
{
    struct openid_flow_state state;
    struct openid_person person;
    struct handover handover;
    struct error cause = {0};
    const char *code = request_query(req, "code"), *issuer = request_query(req, "iss");
    bool is_known = openid_flow_find(req, &state);
    openid_flow_forget(req, res);
    audit_tried(req, SUBJECT_USER, "");
    audit_detail(req, "grant", "openid");
    if (!is_known)
        return fail(req, res, NULL, "expired", "this browser began no such sign-in, or too long ago");
    if (!code)
        return fail(req, res, &state, "refused", refusal_of_issuer(req));
    struct openid_flow flow = {state.state, state.nonce, state.verifier, req->remote_address};
    int rc = openid_finish(req->server->openid, &flow, code, req->received_ms, req->arena, &person, &cause);
    if (rc == 0 && issuer && strcmp(issuer, person.issuer) != 0) // RFC 9207
        rc = error_set(&cause, ERROR_UNAUTHORIZED, "the answer names another issuer");
    if (rc == 0)
        rc = make_session(req, &state, &person, &handover, &cause);
    if (rc == 0)
        return hand_over(req, res, &state, &handover);
    if (cause.code == ERROR_INTERNAL) {
        *err = cause;
        return -1;
    }
    return fail(req, res, &state, word_of(&cause), cause.message);
}

// Scheme, host and port of the redirect URL: where this server is to browsers.
static const char *own_origin(const struct identity_provider *provider, struct arena *arena)
{
    const char *slashes = strstr(provider->redirect_url, "://");
    size_t scheme = slashes ? (size_t)(slashes - provider->redirect_url) + 3 : 0;
    return arena_strndup(arena, provider->redirect_url, scheme + strcspn(provider->redirect_url + scheme, "/"));
}

int op_end_openid_session(struct request *req, struct response *res, struct error *err)
{
    struct user user = {.is_local = true};
    struct identity_provider provider;
    const char *url = NULL;
    struct db_conn *conn = db_acquire_for_sign_in(req->server->db);
    int rc =
        req->caller->type == SUBJECT_USER ? db_find_user(conn, req->caller->subject_id, req->arena, &user, err) : 0;
    db_give_back(req->server->db, conn);
    if (rc < 0 || db_end_session(req->server->db, req->caller->session_id, err) < 0)
        return -1;
    if (req->caller->is_cookie)
        session_set_cookie(req, res, "", "; Max-Age=0");
    if (!user.is_local && find_provider(req, &provider, NULL) > 0)
        url = openid_sign_out_url(req->server->openid, req->remote_address,
                                  arena_printf(req->arena, "%s/", own_origin(&provider, req->arena)), req->arena);
    return response_json(res, json_pack("{s:s?}", "url", url));
}
