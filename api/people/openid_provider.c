// The issuer that people sign in at: reading and setting it up. Its client secret goes in and never comes out.
#include "api/access/auth.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/openid.h"
#include "api/access/outbound.h"
#include "api/access/sealing.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/accounts/identity_provider.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <string.h>

enum {
    REFRESH_S = 600
};

static int find(struct request *req, struct identity_provider *out_provider, struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_identity_provider(conn, req->arena, out_provider, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static int answer(struct response *res, const struct identity_provider *provider)
{
    char updated[TIMESTAMP_SIZE];
    timestamp_format(provider->updated_ms, updated);
    return response_json(res,
                         json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "name", provider->name,
                                   "issuer", provider->issuer, "clientId", provider->client_id, "hasClientSecret",
                                   provider->client_secret_sealed != NULL, "scopes", provider->scopes, "groupsClaim",
                                   provider->groups_claim, "usernameClaim", provider->username_claim, "redirectUrl",
                                   provider->redirect_url, "refreshSeconds", (json_int_t)provider->refresh_s,
                                   "updatedBy", provider->updated_by, "updatedAt", updated));
}

int op_get_openid_provider(struct request *req, struct response *res, struct error *err)
{
    struct identity_provider provider;
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    int rc = find(req, &provider, err);
    if (rc <= 0)
        return rc < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "no identity provider is set up");
    return answer(res, &provider);
}

// Run:ai's list of identity providers: the one that people sign in at, in its words. There is no secret in it.
int op_get_idps(struct request *req, struct response *res, struct error *err)
{
    struct identity_provider provider;
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_READ, err) < 0)
        return -1;
    int rc = find(req, &provider, err);
    if (rc <= 0)
        return rc < 0 ? -1 : response_json(res, json_array());
    return response_json(res, json_pack("[{s:s, s:s, s:s, s:{s:s, s:s}}]", "alias", provider.name, "type", "oidc",
                                        "redirectUri", provider.redirect_url, "oidcData", "clientId",
                                        provider.client_id, "clientSecret", ""));
}

static const char *text_of(const struct request *req, const char *name, const char *fallback)
{
    const char *text = json_string_value(json_object_get(req->body, name));
    return text && *text ? text : fallback;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

// A new issuer must not get the secret that another was given.
static int read_secret(struct request *req, const struct identity_provider *old, struct identity_provider *provider,
                       struct error *err)
{
    const json_t *secret = json_object_get(req->body, "clientSecret");
    if (!json_is_string(secret)) {
        if (old && old->client_secret_sealed && strcmp(old->issuer, provider->issuer) != 0)
            return error_set(err, ERROR_INVALID, "clientSecret: required with another issuer; \"\" for none");
        provider->client_secret_sealed = old ? old->client_secret_sealed : NULL;
        return 0;
    }
    size_t length = json_string_length(secret);
    if (length > 0)
        provider->client_secret_sealed = sealing_seal(req->server->auth->sealing, SEALED_CLIENT_SECRET, "1",
                                                      json_string_value(secret), length, req->arena);
    return 0;
}

static int read_provider(struct request *req, const struct identity_provider *old,
                         struct identity_provider *out_provider, struct error *err)
{
    const json_t *refresh = json_object_get(req->body, "refreshSeconds");
    *out_provider = (struct identity_provider){
        .name = text_of(req, "name", ""),
        .issuer = text_of(req, "issuer", ""),
        .client_id = text_of(req, "clientId", ""),
        .scopes = text_of(req, "scopes", "openid profile email"),
        .groups_claim = text_of(req, "groupsClaim", "groups"),
        .username_claim = text_of(req, "usernameClaim", "email"),
        .redirect_url = text_of(req, "redirectUrl", ""),
        .refresh_s = json_is_integer(refresh) ? json_integer_value(refresh) : REFRESH_S,
        .updated_by = req->caller->name,
        .updated_ms = req->received_ms,
    };
    if (!outbound_is_allowed(out_provider->issuer) || strchr(out_provider->issuer, '?'))
        return error_set(err, ERROR_INVALID, "issuer: expected an address that begins with https://");
    if (!outbound_is_allowed(out_provider->redirect_url) ||
        !strstr(out_provider->redirect_url, "/api/v1/authentication/openid/callback"))
        return error_set(err, ERROR_INVALID,
                         "redirectUrl: expected https://THIS-SERVER/api/v1/authentication/openid/callback");
    if (!has_word(out_provider->scopes, "openid"))
        return error_set(err, ERROR_INVALID, "scopes: openid is missing");
    return read_secret(req, old, out_provider, err);
}

int op_set_openid_provider(struct request *req, struct response *res, struct error *err)
{
    struct identity_provider old, provider;
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_UPDATE, err) < 0)
        return -1;
    int rc = find(req, &old, err);
    if (rc < 0 || read_provider(req, rc > 0 ? &old : NULL, &provider, err) < 0)
        return -1;
    if (openid_try(req->server->openid, &provider, req->arena, err) < 0) {
        if (err && err->code == ERROR_UNAVAILABLE)
            err->code = ERROR_INVALID;
        return error_prefix(err, "issuer: ");
    }
    if (db_set_identity_provider(req->server->db, &provider, err) < 0)
        return -1;
    openid_wake(req->server->openid);
    return answer(res, &provider);
}

int op_delete_openid_provider(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_SECURITY_SETTINGS, ACTION_UPDATE, err) < 0 ||
        db_delete_identity_provider(req->server->db, err) < 0)
        return -1;
    return response_empty(res, 204);
}
