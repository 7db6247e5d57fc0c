#include "api/access/jwt.h"

#include "api/access/jws.h"
#include "base/arena.h"
#include "model/scope.h"

#include <assert.h>
#include <jansson.h>
#include <jwt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_safe_claim(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c < 0x20 || *c > 0x7d || *c == '>' || *c == '?' || *c == '"' || *c == '\\')
            return false;
    return true;
}

const char *jwt_token_sign(const struct jwt_key *key, const struct jwt_claims *claims, struct arena *arena)
{
    assert(!strcmp(key->algorithm, "HS256") && is_safe_claim(claims->subject) && is_safe_claim(claims->session));
    const char *tenant = arena_printf(arena, "%d", TENANT_ID); // clients take it for the scope of their access rules
    jwt_t *jwt = NULL;
    int failed = jwt_new(&jwt);
    failed =
        failed || jwt_set_alg(jwt, JWT_ALG_HS256, key->secret, JWT_SECRET_SIZE) || jwt_add_header(jwt, "kid", key->id);
    failed = failed || jwt_add_grant(jwt, "iss", key->issuer) || jwt_add_grant(jwt, "aud", key->audience) ||
             jwt_add_grant(jwt, "sub", claims->subject) || jwt_add_grant(jwt, "jti", claims->session) ||
             jwt_add_grant_int(jwt, "iat", claims->issued_s) || jwt_add_grant_int(jwt, "nbf", claims->issued_s) ||
             jwt_add_grant_int(jwt, "exp", claims->expires_s) || jwt_add_grant(jwt, "tenant_id", tenant);
    if (claims->name && is_safe_claim(claims->name))
        failed = failed || jwt_add_grant(jwt, "preferred_username", claims->name);
    char *text = failed ? NULL : jwt_encode_str(jwt);
    assert(text && "signing fails only without memory");
    const char *token = arena_strdup(arena, text);
    free(text);
    jwt_free(jwt);
    return token;
}

static const char *text_member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static const char *find_key(const json_t *header, jwt_find_key_fn find, void *context, struct jwt_key *out_key)
{
    const json_t *type = json_object_get(header, "typ");
    const json_t *id = json_object_get(header, "kid");
    const char *algorithm = text_member(header, "alg");
    if (json_object_get(header, "crit"))
        return "critical extensions are not known here";
    if (type && (!json_is_string(type) || strcasecmp(json_string_value(type), "JWT") != 0)) // all that libjwt knows
        return "typ is not JWT";
    if (id && (!json_is_string(id) || json_string_length(id) >= JWT_KEY_ID_SIZE))
        return "kid is not a key's id";
    if (!find(context, id ? json_string_value(id) : NULL, out_key))
        return "no such key";
    if (!algorithm || strcmp(algorithm, out_key->algorithm) != 0)
        return "alg is not the key's";
    return NULL;
}

static const char *check_signature(const char *token, const struct jwt_key *key)
{
    jwt_t *jwt = NULL;
    const char *reason = NULL;
    if (jwt_decode(&jwt, token, key->secret, JWT_SECRET_SIZE))
        reason = "the signature is wrong";
    else if (strcmp(jwt_alg_str(jwt_get_alg(jwt)), key->algorithm) != 0)
        reason = "alg is not the key's";
    jwt_free(jwt);
    return reason;
}

static bool has_audience(const json_t *claims, const char *audience)
{
    const json_t *value = json_object_get(claims, "aud");
    if (json_is_string(value))
        return !strcmp(json_string_value(value), audience);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *item = json_string_value(json_array_get(value, i));
        if (item && !strcmp(item, audience))
            return true;
    }
    return false;
}

static const char *check_times(const json_t *claims, int64_t now_s)
{
    const json_t *expires = json_object_get(claims, "exp");
    const json_t *begins = json_object_get(claims, "nbf");
    const json_t *issued = json_object_get(claims, "iat");
    if (!json_is_integer(expires))
        return "exp is missing or no integer";
    if (json_integer_value(expires) < now_s - JWT_LEEWAY_S)
        return "expired";
    if (begins && (!json_is_integer(begins) || json_integer_value(begins) > now_s + JWT_LEEWAY_S))
        return "not valid yet";
    if (issued && (!json_is_integer(issued) || json_integer_value(issued) > now_s + JWT_LEEWAY_S))
        return "issued in the future";
    return NULL;
}

static const char *check_claims(const json_t *claims, const struct jwt_key *key, int64_t now_s)
{
    const char *issuer = text_member(claims, "iss");
    const char *subject = text_member(claims, "sub");
    const char *session = text_member(claims, "jti");
    const char *reason = check_times(claims, now_s);
    if (reason)
        return reason;
    if (!issuer || strcmp(issuer, key->issuer) != 0)
        return "iss is not the key's";
    if (!has_audience(claims, key->audience))
        return "aud is not the key's";
    if (!subject || !*subject)
        return "sub is missing";
    if (!session || !*session)
        return "jti is missing";
    return NULL;
}

static void fill_claims(const json_t *claims, struct arena *arena, struct jwt_claims *out_claims)
{
    *out_claims = (struct jwt_claims){
        .subject = arena_strdup(arena, text_member(claims, "sub")),
        .session = arena_strdup(arena, text_member(claims, "jti")),
        .name = arena_strdup(arena, text_member(claims, "preferred_username")),
        .issued_s = json_integer_value(json_object_get(claims, "iat")),
        .expires_s = json_integer_value(json_object_get(claims, "exp")),
    };
}

static bool has_signature(const struct jws *jws, struct arena *arena)
{
    size_t size;
    return *jws->signature && jws_signature(jws, arena, &size);
}

bool jwt_token_check(const char *token, jwt_find_key_fn find, void *context, int64_t now_s, struct arena *arena,
                     struct jwt_claims *out_claims, const char **out_reason)
{
    struct jws jws;
    if (!jws_split(token, JWT_TOKEN_MAX, &jws)) {
        *out_reason = "not three base64url segments of at most 4,096 bytes";
        return false;
    }
    // libjwt reads the claims before it looks at the signature, and recursively: what is deep must not get there.
    const char *reason = "not a JSON object in a segment";
    struct jwt_key key;
    json_t *header = jws_header(&jws, arena);
    json_t *claims = jws_claims(&jws, arena);
    if (header && claims && has_signature(&jws, arena)) {
        reason = find_key(header, find, context, &key);
        if (!reason)
            reason = check_signature(token, &key);
        if (!reason)
            reason = check_claims(claims, &key, now_s);
        if (!reason)
            fill_claims(claims, arena, out_claims);
        sodium_memzero(key.secret, sizeof(key.secret));
    }
    json_decref(header);
    json_decref(claims);
    *out_reason = reason;
    return !reason;
}
