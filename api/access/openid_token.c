#include "api/access/openid_token.h"

#include "api/access/jws.h"
#include "api/access/openid_keys.h"

#include <stdbool.h>
#include <string.h>

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static bool is_text(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

static const char *check_signature(const struct jws *jws, const json_t *header, const struct openid_keys *keys,
                                   struct arena *arena, bool *out_is_unknown)
{
    const json_t *id = json_object_get(header, "kid");
    if (json_object_get(header, "crit"))
        return "critical extensions are not known here";
    if (id && !json_is_string(id))
        return "kid is no text";
    const struct openid_key *key = openid_keys_find(keys, json_string_value(id));
    *out_is_unknown = !key;
    if (!key)
        return "no such key";
    if (!is_text(member(header, "alg"), key->algorithm))
        return "alg is not the key's";
    size_t size;
    const unsigned char *signature = jws_signature(jws, arena, &size);
    if (!signature || !openid_key_verifies(key, jws->text, jws->signed_length, signature, size))
        return "the signature is wrong";
    return NULL;
}

static const char *check_audience(const json_t *claims, const char *client_id)
{
    const json_t *audience = json_object_get(claims, "aud");
    const json_t *party = json_object_get(claims, "azp");
    bool is_meant = is_text(json_string_value(audience), client_id);
    for (size_t i = 0; !is_meant && i < json_array_size(audience); i++)
        is_meant = is_text(json_string_value(json_array_get(audience, i)), client_id);
    if (!is_meant)
        return "aud is another client";
    if (json_array_size(audience) > 1 && !party)
        return "several in aud, and no azp";
    if (party && !is_text(json_string_value(party), client_id))
        return "azp is another client";
    return NULL;
}

static const char *check_times(const json_t *claims, int64_t now_s)
{
    const json_t *expires = json_object_get(claims, "exp"), *begins = json_object_get(claims, "nbf");
    const json_t *issued = json_object_get(claims, "iat");
    if (!json_is_number(expires) || json_number_value(expires) < (double)(now_s - OPENID_LEEWAY_S))
        return "expired, or without exp";
    if (begins && (!json_is_number(begins) || json_number_value(begins) > (double)(now_s + OPENID_LEEWAY_S)))
        return "not valid yet";
    if (!json_is_number(issued) || json_number_value(issued) > (double)(now_s + OPENID_LEEWAY_S))
        return "issued in the future, or without iat";
    return NULL;
}

static const char *check_claims(const json_t *claims, const struct openid_expected *expected)
{
    const char *subject = member(claims, "sub"), *nonce = member(claims, "nonce");
    if (!is_text(member(claims, "iss"), expected->issuer))
        return "iss is another issuer";
    const char *reason = check_audience(claims, expected->client_id);
    if (!reason)
        reason = check_times(claims, expected->now_s);
    if (reason)
        return reason;
    if (expected->nonce && !is_text(nonce, expected->nonce))
        return "nonce is not that of this sign-in";
    if (!subject || !*subject || strlen(subject) > OPENID_SUBJECT_MAX)
        return "sub is missing or too long";
    if (expected->subject && strcmp(subject, expected->subject) != 0)
        return "sub is another person";
    return NULL;
}

enum openid_verdict openid_token_check(const char *token, const struct openid_keys *keys,
                                       const struct openid_expected *expected, struct arena *arena, json_t **out_claims,
                                       const char **out_reason)
{
    struct jws jws;
    bool is_unknown = false;
    const char *reason = "not a JSON object in a segment";
    if (!jws_split(token, OPENID_TOKEN_MAX, &jws)) {
        *out_reason = "not three base64url segments, or too long";
        return OPENID_TOKEN_BAD;
    }
    json_t *header = jws_header(&jws, arena);
    json_t *claims = jws_claims(&jws, arena);
    if (header && claims)
        reason = check_signature(&jws, header, keys, arena, &is_unknown);
    if (header && claims && !reason)
        reason = check_claims(claims, expected);
    json_decref(header);
    *out_reason = reason;
    if (!reason) {
        *out_claims = claims;
        return OPENID_TOKEN_GOOD;
    }
    json_decref(claims);
    return is_unknown ? OPENID_TOKEN_UNKNOWN_KEY : OPENID_TOKEN_BAD;
}
