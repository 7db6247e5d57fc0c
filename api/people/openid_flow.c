#include "api/people/openid_flow.h"

#include "api/access/auth.h"
#include "api/access/outbound.h"
#include "api/access/sealing.h"
#include "api/access/secrets.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/people/session.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE "prorata_openid"
#define COOKIE_PATH "/api/v1/authentication/openid"
#define SEALED_FLOW "openid.flow"
#define SHOW_CODE "urn:ietf:wg:oauth:2.0:oob"

enum {
    FLOW_LIFE_S = 600,
    PORT_MAX = 65535,
    CHALLENGE_LENGTH = 43
};

// A path of this server: a browser reads "//host" and "/\host" as another one.
static bool is_own_path(const char *text)
{
    if (text[0] != '/' || text[1] == '/' || text[1] == '\\')
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f || *c == '\\')
            return false;
    return true;
}

// http://127.0.0.1:PORT/path or the same at [::1] (RFC 8252, 7.3).
static bool is_loopback_uri(const char *text)
{
    static const char *const HOSTS[] = {"http://127.0.0.1:", "http://[::1]:"};
    for (size_t i = 0; i < sizeof(HOSTS) / sizeof(HOSTS[0]); i++) {
        size_t length = strlen(HOSTS[i]);
        if (strncmp(text, HOSTS[i], length) != 0)
            continue;
        char *end;
        long port = text[length] >= '1' && text[length] <= '9' ? strtol(text + length, &end, 10) : 0;
        return port > 0 && port <= PORT_MAX && is_own_path(end) && !strpbrk(end, "?#");
    }
    return false;
}

static const char *random_text(struct arena *arena)
{
    char *text = arena_alloc(arena, SECRET_TEXT_SIZE);
    secret_create(text);
    return text;
}

int openid_flow_begin(struct request *req, struct openid_flow_state *out_state, struct error *err)
{
    static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *return_to = request_query(req, "returnTo");
    const char *redirect_uri = request_query(req, "redirectUri"), *challenge = request_query(req, "codeChallenge");
    if (return_to && !is_own_path(return_to))
        return error_set(err, ERROR_INVALID, "returnTo: expected a path of this server");
    if (redirect_uri && strcmp(redirect_uri, SHOW_CODE) != 0 && !is_loopback_uri(redirect_uri))
        return error_set(err, ERROR_INVALID, "redirectUri: expected http://127.0.0.1:PORT/PATH or " SHOW_CODE);
    if (redirect_uri &&
        (!challenge || strlen(challenge) != CHALLENGE_LENGTH || strspn(challenge, ALPHABET) != CHALLENGE_LENGTH))
        return error_set(err, ERROR_INVALID, "codeChallenge: expected 43 characters of base64url");
    *out_state = (struct openid_flow_state){
        .state = random_text(req->arena),
        .nonce = random_text(req->arena),
        .verifier = random_text(req->arena),
        .return_to = return_to ? return_to : "/",
        .redirect_uri = redirect_uri,
        .challenge = challenge,
        .client_state = request_query(req, "state"),
    };
    return 0;
}

// Lax: the issuer's answer is a navigation from another site, which brings no stricter cookie.
static void set_cookie(struct request *req, struct response *res, const char *value, int max_age_s)
{
    response_header(res, "Set-Cookie",
                    arena_printf(req->arena, COOKIE "=%s; Path=" COOKIE_PATH "; HttpOnly; SameSite=Lax; Max-Age=%d%s",
                                 value, max_age_s, session_cookie_is_secure(req) ? "; Secure" : ""));
}

void openid_flow_keep(struct request *req, struct response *res, const struct openid_flow_state *state)
{
    json_t *all = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?, s:s?, s:I}", "state", state->state, "nonce", state->nonce,
                            "verifier", state->verifier, "returnTo", state->return_to, "redirectUri",
                            state->redirect_uri, "challenge", state->challenge, "clientState", state->client_state,
                            "expires", (json_int_t)(req->received_ms + FLOW_LIFE_S * INT64_C(1000)));
    char *text = json_dumps(all, JSON_COMPACT);
    set_cookie(req, res, sealing_seal(req->server->auth->sealing, SEALED_FLOW, "", text, strlen(text), req->arena),
               FLOW_LIFE_S);
    free(text);
    json_decref(all);
}

void openid_flow_forget(struct request *req, struct response *res)
{
    set_cookie(req, res, "", 0);
}

static const char *copy(const struct request *req, const json_t *all, const char *name)
{
    return arena_strdup(req->arena, json_string_value(json_object_get(all, name)));
}

bool openid_flow_find(struct request *req, struct openid_flow_state *out_state)
{
    unsigned char *bytes;
    size_t size;
    const char *cookie = request_cookie(req, COOKIE), *state = request_query(req, "state");
    if (!cookie || !state ||
        sealing_open(req->server->auth->sealing, SEALED_FLOW, "", cookie, req->arena, &bytes, &size, NULL) < 0)
        return false;
    json_t *all = json_loadb((const char *)bytes, size, 0, NULL);
    *out_state = (struct openid_flow_state){
        .state = copy(req, all, "state"),
        .nonce = copy(req, all, "nonce"),
        .verifier = copy(req, all, "verifier"),
        .return_to = copy(req, all, "returnTo"),
        .redirect_uri = copy(req, all, "redirectUri"),
        .challenge = copy(req, all, "challenge"),
        .client_state = copy(req, all, "clientState"),
    };
    bool is_in_time = json_integer_value(json_object_get(all, "expires")) > req->received_ms;
    json_decref(all);
    return is_in_time && out_state->state && strcmp(out_state->state, state) == 0;
}

bool openid_flow_shows_code(const struct openid_flow_state *state)
{
    return state->redirect_uri && strcmp(state->redirect_uri, SHOW_CODE) == 0;
}

const char *openid_flow_loopback_url(struct request *req, const struct openid_flow_state *state, const char *name,
                                     const char *value)
{
    return arena_printf(req->arena, "%s?%s=%s&state=%s", state->redirect_uri, name, value,
                        state->client_state ? outbound_escape(state->client_state, req->arena) : "");
}
