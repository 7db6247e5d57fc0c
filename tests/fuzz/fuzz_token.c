// Whatever is sent as a token: refused or accepted, never a crash. What is accepted carries all claims that it must.
#include "api/access/jwt.h"

#include "base/arena.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENCODED_SIZE = 2 * JWT_TOKEN_MAX
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find_key(void *context, const char *id, struct jwt_key *out_key)
{
    (void)context;
    (void)id;
    *out_key = (struct jwt_key){.id = "one", .algorithm = "HS256", .issuer = "prorata", .audience = "prorata"};
    return true;
}

// The input as a token; and as header and claims that are signed well, so that the checks behind the signature are
// reached.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct jwt_claims claims;
    const char *reason;
    if (size > JWT_TOKEN_MAX || sodium_init() < 0)
        return 0;
    arena_init(&arena);
    char *text = arena_strndup(&arena, (const char *)data, size);
    if (jwt_token_check(text, find_key, NULL, 1700000000, &arena, &claims, &reason) &&
        (!*claims.subject || !*claims.session))
        abort();
    const char *middle = memchr(text, '\n', strlen(text));
    size_t header_size = middle ? (size_t)(middle - text) : 0;
    const char *parts[2] = {text, middle ? middle + 1 : text};
    size_t sizes[2] = {header_size, strlen(parts[1])};
    char *encoded[2] = {arena_alloc(&arena, ENCODED_SIZE), arena_alloc(&arena, ENCODED_SIZE)};
    for (size_t i = 0; i < 2; i++)
        sodium_bin2base64(encoded[i], ENCODED_SIZE, (const unsigned char *)parts[i], sizes[i],
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    const char *signed_text = arena_printf(&arena, "%s.%s", encoded[0], encoded[1]);
    unsigned char key[32] = {0}, hash[32];
    crypto_auth_hmacsha256(hash, (const unsigned char *)signed_text, strlen(signed_text), key);
    sodium_bin2base64(encoded[0], ENCODED_SIZE, hash, sizeof(hash), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    const char *token = arena_printf(&arena, "%s.%s", signed_text, encoded[0]);
    if (jwt_token_check(token, find_key, NULL, 1700000000, &arena, &claims, &reason) &&
        (!*claims.subject || !*claims.session))
        abort();
    arena_done(&arena);
    return 0;
}
