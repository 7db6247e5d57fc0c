// An issuer's id_token: refused or good, never a crash. The input as a token, for which no key was ever used; and,
// where it has two lines, as header and claims that the issuer's key has signed, so that the checks behind the
// signature are reached.
#include "api/access/openid_token.h"

#include "api/access/openid_keys.h"
#include "base/arena.h"

#include <assert.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    COORDINATE = 32,
    DER_MAX = 80
};

static const struct openid_expected EXPECTED = {
    .issuer = "https://issuer.example", .client_id = "prorata", .nonce = "n", .now_s = 1700000000};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *encode(const void *bytes, size_t size, struct arena *arena)
{
    size_t space = sodium_base64_ENCODED_LEN(size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return sodium_bin2base64(arena_alloc(arena, space), space, bytes, size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

// The two numbers side by side, as RFC 7518 has them.
static const char *sign(EVP_PKEY *key, const char *text, struct arena *arena)
{
    unsigned char der[DER_MAX], pair[2 * COORDINATE];
    const unsigned char *at = der;
    size_t size = sizeof(der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert(context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
           EVP_DigestSign(context, der, &size, (const unsigned char *)text, strlen(text)) == 1);
    EVP_MD_CTX_free(context);
    ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &at, (long)size);
    assert(numbers && BN_bn2binpad(ECDSA_SIG_get0_r(numbers), pair, COORDINATE) == COORDINATE &&
           BN_bn2binpad(ECDSA_SIG_get0_s(numbers), pair + COORDINATE, COORDINATE) == COORDINATE);
    ECDSA_SIG_free(numbers);
    return encode(pair, sizeof(pair), arena);
}

static bool is_text(const json_t *claims, const char *name, const char *wanted)
{
    const char *text = json_string_value(json_object_get(claims, name));
    return text && strcmp(text, wanted) == 0;
}

// What is good carries all claims that it must.
static enum openid_verdict check(const char *token, const struct openid_keys *keys, struct arena *arena)
{
    json_t *claims;
    const char *reason = NULL;
    enum openid_verdict verdict = openid_token_check(token, keys, &EXPECTED, arena, &claims, &reason);
    if (verdict != OPENID_TOKEN_GOOD) {
        assert(reason);
        return verdict;
    }
    const char *subject = json_string_value(json_object_get(claims, "sub"));
    const json_t *expires = json_object_get(claims, "exp");
    if (!subject || !*subject || strlen(subject) > OPENID_SUBJECT_MAX || !is_text(claims, "iss", EXPECTED.issuer) ||
        !is_text(claims, "nonce", EXPECTED.nonce) ||
        json_number_value(expires) < (double)(EXPECTED.now_s - OPENID_LEEWAY_S))
        abort();
    json_decref(claims);
    return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (size > OPENID_TOKEN_MAX || sodium_init() < 0)
        return 0;
    arena_init(&arena);
    struct openid_keys keys = {.items[0] = {.id = "one", .algorithm = "ES256", .key = EVP_EC_gen("P-256")}, .count = 1};
    assert(keys.items[0].key);
    const char *text = arena_strndup(&arena, (const char *)data, size);
    if (check(text, &keys, &arena) == OPENID_TOKEN_GOOD)
        abort();
    const char *line = strchr(text, '\n');
    if (line) {
        const char *signed_text = arena_printf(&arena, "%s.%s", encode(text, (size_t)(line - text), &arena),
                                               encode(line + 1, strlen(line + 1), &arena));
        check(arena_printf(&arena, "%s.%s", signed_text, sign(keys.items[0].key, signed_text, &arena)), &keys, &arena);
    }
    openid_keys_done(&keys);
    arena_done(&arena);
    return 0;
}
