// Token operations: the present form (v2, OAuth 2.0 with a form body, also under the path that Keycloak has), the JSON
// form before it (v1), and the oldest (apptoken). Clients spell the keys of the JSON forms in several ways, so case is
// not regarded there.
#include "api/access/authenticate.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/people/sign_in.h"
#include "api/people/token_grants.h"
#include "base/arena.h"
#include "base/error.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

// A text member of the JSON body, whatever its case; NULL where it is missing, null or "". ERROR_INVALID where it is no
// text or there twice.
static int body_text(const struct request *req, const char *name, const char **out_text, struct error *err)
{
    *out_text = NULL;
    const json_t *found = NULL;
    const char *key;
    json_t *value;
    json_object_foreach(req->body, key, value) {
        if (strcasecmp(key, name) != 0)
            continue;
        if (found)
            return error_set(err, ERROR_INVALID, "%s: given twice", name);
        found = value;
        if (!json_is_string(value) && !json_is_null(value))
            return error_set(err, ERROR_INVALID, "%s: expected text", name);
    }
    if (found && json_string_length(found))
        *out_text = json_string_value(found);
    return 0;
}

// Both are required.
static int body_pair(const struct request *req, const char *first, const char *second, const char **out_first,
                     const char **out_second, struct error *err)
{
    if (body_text(req, first, out_first, err) < 0 || body_text(req, second, out_second, err) < 0)
        return -1;
    if (!*out_first || !*out_second)
        return error_set(err, ERROR_INVALID, "%s: required", *out_first ? second : first);
    return 0;
}

// A client that holds a good token asks for one without credentials at its start: it gets its own back.
static int grant_held_token(struct request *req, struct token_grant *out_grant, struct error *err)
{
    const char *header = request_header(req, "Authorization");
    if (!header || strncasecmp(header, "Bearer ", 7) != 0)
        return error_set(err, ERROR_INVALID, "appID, appSecret: required");
    if (authenticate(req, err) < 0)
        return -1;
    *out_grant = (struct token_grant){
        .access_token = header + 7 + strspn(header + 7, " "),
        .expires_in_s = (req->caller->expires_ms - req->received_ms) / 1000,
    };
    return 0;
}

static int grant_app_token(struct request *req, struct response *res, struct token_grant *out_grant, struct error *err)
{
    const char *app, *secret;
    if (body_text(req, "appID", &app, err) < 0 || body_text(req, "appSecret", &secret, err) < 0)
        return -1;
    if (!app && !secret)
        return grant_held_token(req, out_grant, err);
    if (!app || !secret)
        return error_set(err, ERROR_INVALID, "%s: required", app ? "appSecret" : "appID");
    return token_grant_client(req, res, app, secret, out_grant, err);
}

static int grant_exchange_token(struct request *req, struct token_grant *out_grant, struct error *err)
{
    const char *code, *redirect_uri, *verifier;
    if (body_pair(req, "code", "redirectUri", &code, &redirect_uri, err) < 0 ||
        body_text(req, "codeVerifier", &verifier, err) < 0)
        return -1;
    return verifier ? token_grant_code(req, code, redirect_uri, verifier, out_grant, err)
                    : error_set(err, ERROR_INVALID, "codeVerifier: required");
}

static int grant_password(struct request *req, struct response *res, struct token_grant *out_grant, struct error *err)
{
    struct sign_in_wish wish;
    if (body_pair(req, "username", "password", &wish.username, &wish.password, err) < 0 ||
        body_text(req, "otp", &wish.otp, err) < 0)
        return -1;
    return token_grant_password(req, res, &wish, out_grant, err);
}

static int grant_by_type(struct request *req, struct response *res, const char *type, struct token_grant *out_grant,
                         struct error *err)
{
    const char *first, *second;
    if (!strcmp(type, "client_credentials"))
        return body_pair(req, "clientID", "clientSecret", &first, &second, err) < 0
                   ? -1
                   : token_grant_client(req, res, first, second, out_grant, err);
    if (!strcmp(type, "app_token"))
        return grant_app_token(req, res, out_grant, err);
    if (!strcmp(type, "password"))
        return grant_password(req, res, out_grant, err);
    if (!strcmp(type, "refresh_token")) {
        if (body_text(req, "refreshToken", &first, err) < 0)
            return -1;
        return first ? token_grant_refresh(req, first, out_grant, err)
                     : error_set(err, ERROR_INVALID, "refreshToken: required");
    }
    if (!strcmp(type, "exchange_token"))
        return grant_exchange_token(req, out_grant, err);
    if (!strcmp(type, "external_token_exchange")) {
        if (body_text(req, "externalToken", &first, err) < 0)
            return -1;
        return first ? token_grant_external(req, res, first, out_grant, err)
                     : error_set(err, ERROR_INVALID, "externalToken: required");
    }
    return error_set(err, ERROR_INVALID, "grantType: unknown");
}

// v1 has no 401: bad credentials are a bad request there.
static int without_unauthorized(int rc, struct error *err)
{
    if (rc < 0 && err && err->code == ERROR_UNAUTHORIZED)
        err->code = ERROR_INVALID;
    return rc;
}

static int require_object(const struct request *req, struct error *err)
{
    return json_is_object(req->body) ? 0 : error_set(err, ERROR_INVALID, "body: expected an object");
}

int op_grant_token(struct request *req, struct response *res, struct error *err)
{
    const char *type;
    struct token_grant grant = {0};
    if (require_object(req, err) < 0 || body_text(req, "grantType", &type, err) < 0)
        return -1;
    if (!type)
        return error_set(err, ERROR_INVALID, "grantType: required");
    if (without_unauthorized(grant_by_type(req, res, type, &grant, err), err) < 0)
        return -1;
    json_t *answer = json_pack("{s:s, s:s, s:I}", "accessToken", grant.access_token, "idToken", grant.access_token,
                               "expiresIn", (json_int_t)grant.expires_in_s);
    if (grant.refresh_token)
        json_object_set_new(answer, "refreshToken", json_string(grant.refresh_token));
    return response_json(res, answer);
}

int op_app_token(struct request *req, struct response *res, struct error *err)
{
    const char *id, *name, *secret;
    struct token_grant grant = {0};
    if (require_object(req, err) < 0 || body_text(req, "id", &id, err) < 0 || body_text(req, "name", &name, err) < 0 ||
        body_text(req, "secret", &secret, err) < 0)
        return -1;
    if ((!id && !name) || !secret)
        return error_set(err, ERROR_INVALID, "%s: required", secret ? "id" : "secret");
    if (without_unauthorized(token_grant_client(req, res, id ? id : name, secret, &grant, err), err) < 0)
        return -1;
    return response_json(res,
                         json_pack("{s:s, s:s}", "access_token", grant.access_token, "id_token", grant.access_token));
}

// RFC 6749, 5.2.
static int oauth_error(struct response *res, int status, const char *error, const char *description)
{
    return response_error_json(res, status, json_pack("{s:s, s:s}", "error", error, "error_description", description));
}

// The client may name itself in the form or by HTTP Basic; the latter's user name and password, or false.
static bool basic_credentials(const struct request *req, const char **out_client, const char **out_secret)
{
    const char *header = request_header(req, "Authorization");
    if (!header || strncasecmp(header, "Basic ", 6) != 0)
        return false;
    const char *text = header + 6 + strspn(header + 6, " ");
    size_t size, length = strlen(text);
    char *pair = arena_alloc(req->arena, length + 1);
    if (sodium_base642bin((unsigned char *)pair, length, text, length, NULL, &size, NULL,
                          sodium_base64_VARIANT_ORIGINAL) ||
        strlen(pair) != size)
        return false;
    char *colon = strchr(pair, ':');
    if (!colon)
        return false;
    *colon = '\0';
    *out_client = pair;
    *out_secret = colon + 1;
    return true;
}

static bool is_given(const char *text)
{
    return text && *text;
}

// Which OAuth error an error of ours is. A user's wrong password is an invalid grant; a client's wrong secret is the
// client's.
static int oauth_refusal(struct response *res, bool is_client, const struct error *err)
{
    if (err->code == ERROR_TOO_MANY || err->code == ERROR_UNAVAILABLE)
        return oauth_error(res, error_status(err->code), "temporarily_unavailable", err->message);
    if (err->code != ERROR_UNAUTHORIZED)
        return oauth_error(res, 400, "invalid_request", err->message);
    if (!is_client)
        return oauth_error(res, 400, "invalid_grant", err->message);
    response_header(res, "WWW-Authenticate", "Basic realm=\"prorata\"");
    return oauth_error(res, 401, "invalid_client", err->message);
}

// Keycloak's clients call it totp.
static const char *form_otp(const struct request *req)
{
    const char *otp = request_form(req, "otp");
    return otp ? otp : request_form(req, "totp");
}

// 1: granted; 0: refused, and the answer is written; -1: an error of ours, in err.
static int grant_form(struct request *req, struct response *res, struct token_grant *out_grant, struct error *err)
{
    const char *type = request_form(req, "grant_type"), *client = request_form(req, "client_id");
    const char *secret = request_form(req, "client_secret");
    const char *first = NULL, *second = NULL;
    bool is_client = false;
    int rc;
    if (!is_given(type))
        return oauth_error(res, 400, "invalid_request", "grant_type: required");
    if (!strcmp(type, "client_credentials")) {
        is_client = true;
        if (!is_given(secret) && !basic_credentials(req, &client, &secret))
            secret = NULL;
        if (!is_given(client) || !is_given(secret))
            return oauth_refusal(
                res, true,
                &(struct error){.code = ERROR_UNAUTHORIZED, .message = "client_id, client_secret: required"});
        rc = token_grant_client(req, res, client, secret, out_grant, err);
    } else if (!strcmp(type, "password")) {
        first = request_form(req, "username");
        second = request_form(req, "password");
        if (!is_given(first) || !is_given(second))
            return oauth_error(res, 400, "invalid_request",
                               is_given(first) ? "password: required" : "username: required");
        rc = token_grant_password(req, res, &(struct sign_in_wish){first, second, form_otp(req)}, out_grant, err);
    } else if (!strcmp(type, "refresh_token")) {
        first = request_form(req, "refresh_token");
        if (!is_given(first))
            return oauth_error(res, 400, "invalid_request", "refresh_token: required");
        rc = token_grant_refresh(req, first, out_grant, err);
    } else if (!strcmp(type, "authorization_code")) {
        const char *verifier = request_form(req, "code_verifier");
        first = request_form(req, "code");
        second = request_form(req, "redirect_uri");
        if (!is_given(first) || !is_given(second) || !is_given(verifier))
            return oauth_error(res, 400, "invalid_request", "code, redirect_uri, code_verifier: required");
        rc = token_grant_code(req, first, second, verifier, out_grant, err);
    } else {
        return oauth_error(res, 400, "unsupported_grant_type", "grant_type: unknown");
    }
    if (rc == 0)
        return 1;
    return err->code == ERROR_INTERNAL ? -1 : oauth_refusal(res, is_client, err);
}

int op_grant_token_v2(struct request *req, struct response *res, struct error *err)
{
    struct token_grant grant = {0};
    int rc = grant_form(req, res, &grant, err);
    if (rc <= 0)
        return rc;
    json_t *answer =
        json_pack("{s:s, s:s, s:I, s:s, s:s}", "access_token", grant.access_token, "token_type", "Bearer", "expires_in",
                  (json_int_t)grant.expires_in_s, "id_token", grant.access_token, "scope", "openid");
    if (grant.refresh_token)
        json_object_set_new(answer, "refresh_token", json_string(grant.refresh_token));
    return response_json(res, answer);
}

int op_grant_token_of_realm(struct request *req, struct response *res, struct error *err)
{
    return op_grant_token_v2(req, res, err);
}
