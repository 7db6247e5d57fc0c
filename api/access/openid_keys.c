#include "api/access/openid_keys.h"

#include "base/error.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBER_MAX = 1024, // bytes of a key's number
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = 8192,
    COORDINATE = 32,
    DER_MAX = 80
};

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

// A number in base64url; its size, or 0.
static size_t read_number(const json_t *jwk, const char *name, unsigned char out[NUMBER_MAX])
{
    const char *text = member(jwk, name), *end;
    size_t size = 0;
    if (!text || sodium_base642bin(out, NUMBER_MAX, text, strlen(text), NULL, &size, &end,
                                   sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return 0;
    return *end ? 0 : size;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *builder)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!params || !context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *make_rsa(const json_t *jwk)
{
    unsigned char modulus[NUMBER_MAX], exponent[NUMBER_MAX];
    size_t modulus_size = read_number(jwk, "n", modulus), exponent_size = read_number(jwk, "e", exponent);
    if (modulus_size == 0 || exponent_size == 0 || exponent_size > 8)
        return NULL;
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_size, NULL), *e = BN_bin2bn(exponent, (int)exponent_size, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (n && e && builder && BN_num_bits(n) >= RSA_BITS_MIN && BN_num_bits(n) <= RSA_BITS_MAX && BN_is_odd(e) &&
        BN_num_bits(e) > 1 && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
        key = make_key("RSA", builder);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

static EVP_PKEY *make_point(const json_t *jwk)
{
    unsigned char x[NUMBER_MAX], y[NUMBER_MAX], point[1 + 2 * COORDINATE] = {4}; // uncompressed
    const char *curve = member(jwk, "crv");
    if (!curve || strcmp(curve, "P-256") != 0 || read_number(jwk, "x", x) != COORDINATE ||
        read_number(jwk, "y", y) != COORDINATE)
        return NULL;
    memcpy(point + 1, x, COORDINATE);
    memcpy(point + 1 + COORDINATE, y, COORDINATE);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (builder && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) == 1)
        key = make_key("EC", builder);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static bool is_for_signatures(const json_t *jwk, const char *algorithm)
{
    const char *use = member(jwk, "use"), *own = member(jwk, "alg");
    return (!use || strcmp(use, "sig") == 0) && (!own || strcmp(own, algorithm) == 0);
}

static void read_key(const json_t *jwk, struct openid_keys *keys)
{
    const char *type = member(jwk, "kty"), *id = member(jwk, "kid");
    bool is_rsa = type && strcmp(type, "RSA") == 0, is_point = type && strcmp(type, "EC") == 0;
    struct openid_key key = {.algorithm = is_rsa ? "RS256" : "ES256"};
    if ((!is_rsa && !is_point) || !is_for_signatures(jwk, key.algorithm) || (id && strlen(id) >= OPENID_KEY_ID_SIZE) ||
        keys->count == OPENID_KEYS_MAX)
        return;
    snprintf(key.id, sizeof(key.id), "%s", id ? id : "");
    key.key = is_rsa ? make_rsa(jwk) : make_point(jwk);
    if (key.key)
        keys->items[keys->count++] = key;
}

int openid_keys_read(const json_t *set, struct openid_keys *out_keys, struct error *err)
{
    const json_t *list = json_object_get(set, "keys");
    *out_keys = (struct openid_keys){0};
    for (size_t i = 0; i < json_array_size(list); i++)
        read_key(json_array_get(list, i), out_keys);
    return out_keys->count ? 0 : error_set(err, ERROR_UNAVAILABLE, "the issuer has no key for RS256 or ES256");
}

void openid_keys_done(struct openid_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        EVP_PKEY_free(keys->items[i].key);
    keys->count = 0;
}

const struct openid_key *openid_keys_find(const struct openid_keys *keys, const char *id)
{
    if (!id)
        return keys->count == 1 ? &keys->items[0] : NULL;
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->items[i].id, id) == 0)
            return &keys->items[i];
    return NULL;
}

// JWS has the two numbers side by side (RFC 7518, 3.4), OpenSSL wants them as DER. The size, or 0.
static size_t to_der(const unsigned char *signature, size_t size, unsigned char out[DER_MAX])
{
    if (size != 2 * COORDINATE)
        return 0;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, COORDINATE, NULL), *s = BN_bin2bn(signature + COORDINATE, COORDINATE, NULL);
    int length = 0;
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL; // the pair's now
        length = i2d_ECDSA_SIG(pair, NULL);
        if (length > 0 && length <= DER_MAX)
            length = i2d_ECDSA_SIG(pair, &out);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    return length > 0 && length <= DER_MAX ? (size_t)length : 0;
}

bool openid_key_verifies(const struct openid_key *key, const void *text, size_t size, const unsigned char *signature,
                         size_t signature_size)
{
    unsigned char der[DER_MAX];
    if (strcmp(key->algorithm, "ES256") == 0) {
        signature_size = to_der(signature, signature_size, der);
        signature = der;
    }
    if (signature_size == 0)
        return false;
    EVP_MD_CTX *context = EVP_MD_CTX_new(); // RSA: PKCS #1 v1.5 is its default padding
    bool verifies = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key->key) == 1 &&
                    EVP_DigestVerify(context, signature, signature_size, text, size) == 1;
    EVP_MD_CTX_free(context);
    return verifies;
}
