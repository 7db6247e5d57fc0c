// Tokens: ours are read back; everything that is nearly one is refused, with its reason.
#include "api/access/jwt.h"

#include "base/arena.h"
#include "tests/support/check.h"

#include <jansson.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOW_S = 1700000000
};

struct key_ring {
    struct jwt_key keys[2];
    size_t count;
};

static struct key_ring ring;

static bool find_key(void *context, const char *id, struct jwt_key *out_key)
{
    const struct key_ring *keys = context;
    for (size_t i = 0; i < keys->count; i++) {
        if (id ? !strcmp(id, keys->keys[i].id) : keys->count == 1) {
            *out_key = keys->keys[i];
            return true;
        }
    }
    return false;
}

static struct jwt_key make_key(const char *id, unsigned char fill)
{
    struct jwt_key key = {.algorithm = "HS256", .issuer = "prorata", .audience = "prorata"};
    snprintf(key.id, sizeof(key.id), "%s", id);
    memset(key.secret, fill, sizeof(key.secret));
    return key;
}

static char *encode(struct arena *arena, const void *bytes, size_t size)
{
    size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = arena_alloc(arena, room);
    return sodium_bin2base64(text, room, bytes, size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

// HMAC-SHA-256 with the first key, or SHA-512, over whatever header and claims; "" leaves the signature out.
static const char *forge(struct arena *arena, const char *header, const char *claims, const char *mac)
{
    const struct jwt_key *key = &ring.keys[0];
    char *signed_text =
        arena_printf(arena, "%s.%s", encode(arena, header, strlen(header)), encode(arena, claims, strlen(claims)));
    unsigned char hash[crypto_auth_hmacsha512_BYTES];
    size_t size = 32;
    if (!strcmp(mac, "HS512")) {
        crypto_auth_hmacsha512_state state;
        crypto_auth_hmacsha512_init(&state, key->secret, sizeof(key->secret));
        crypto_auth_hmacsha512_update(&state, (unsigned char *)signed_text, strlen(signed_text));
        crypto_auth_hmacsha512_final(&state, hash);
        size = 64;
    } else {
        crypto_auth_hmacsha256_state state;
        crypto_auth_hmacsha256_init(&state, key->secret, sizeof(key->secret));
        crypto_auth_hmacsha256_update(&state, (unsigned char *)signed_text, strlen(signed_text));
        crypto_auth_hmacsha256_final(&state, hash);
    }
    return arena_printf(arena, "%s.%s", signed_text, *mac ? encode(arena, hash, size) : "");
}

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"one\"}"
#define CLAIMS \
    "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"iat\":1699999990,\"exp\":1700000100}"

struct forged_case {
    const char *name;
    const char *header;
    const char *claims;
    const char *mac;
    const char *want_reason; // "": accepted
};

static const struct forged_case CASES[] = {
    {"a good token", HEADER, CLAIMS, "HS256", ""},
    {"typ at+jwt", "{\"alg\":\"HS256\",\"typ\":\"at+jwt\",\"kid\":\"one\"}", CLAIMS, "HS256", "typ is not JWT"},
    {"no typ", "{\"alg\":\"HS256\",\"kid\":\"one\"}", CLAIMS, "HS256", ""},
    {"another typ", "{\"alg\":\"HS256\",\"typ\":\"dpop+jwt\",\"kid\":\"one\"}", CLAIMS, "HS256", "typ is not JWT"},
    {"typ no text", "{\"alg\":\"HS256\",\"typ\":1,\"kid\":\"one\"}", CLAIMS, "HS256", "typ is not JWT"},
    {"audience among others", HEADER,
     "{\"iss\":\"prorata\",\"aud\":[\"x\",\"prorata\"],\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100}", "HS256", ""},
    {"alg none, no signature", "{\"alg\":\"none\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "",
     "not a JSON object in a segment"},
    {"alg none, signed", "{\"alg\":\"none\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS256", "alg is not the key's"},
    {"alg None", "{\"alg\":\"None\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS256", "alg is not the key's"},
    {"alg in small letters", "{\"alg\":\"hs256\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS256",
     "alg is not the key's"},
    {"a stronger hash than the key's", "{\"alg\":\"HS512\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS512",
     "alg is not the key's"},
    {"a public-key algorithm", "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS256",
     "alg is not the key's"},
    {"no alg", "{\"typ\":\"JWT\",\"kid\":\"one\"}", CLAIMS, "HS256", "alg is not the key's"},
    {"alg twice", "{\"alg\":\"none\",\"alg\":\"HS256\",\"kid\":\"one\"}", CLAIMS, "HS256",
     "not a JSON object in a segment"},
    {"another signature under a good header", HEADER, CLAIMS, "HS512", "the signature is wrong"},
    {"a key that is not there", "{\"alg\":\"HS256\",\"kid\":\"three\"}", CLAIMS, "HS256", "no such key"},
    {"the other key's id", "{\"alg\":\"HS256\",\"kid\":\"two\"}", CLAIMS, "HS256", "the signature is wrong"},
    {"no key named, two there", "{\"alg\":\"HS256\"}", CLAIMS, "HS256", "no such key"},
    {"kid no text", "{\"alg\":\"HS256\",\"kid\":1}", CLAIMS, "HS256", "kid is not a key's id"},
    {"a path as kid", "{\"alg\":\"HS256\",\"kid\":\"../../../../../../../../../../../../../../../../dev/null\"}",
     CLAIMS, "HS256", "kid is not a key's id"},
    {"crit", "{\"alg\":\"HS256\",\"kid\":\"one\",\"crit\":[\"exp\"]}", CLAIMS, "HS256",
     "critical extensions are not known here"},
    {"header no object", "[]", CLAIMS, "HS256", "not a JSON object in a segment"},
    {"claims no object", HEADER, "\"x\"", "HS256", "not a JSON object in a segment"},
    {"claims with something behind", HEADER, CLAIMS "x", "HS256", "not a JSON object in a segment"},
    {"no exp", HEADER, "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\"}", "HS256",
     "exp is missing or no integer"},
    {"exp as text", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":\"1700000100\"}", "HS256",
     "exp is missing or no integer"},
    {"exp as a real", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100.5}", "HS256",
     "exp is missing or no integer"},
    {"expired within the leeway", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1699999941}", "HS256", ""},
    {"expired", HEADER, "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1699999939}",
     "HS256", "expired"},
    {"not valid yet", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100,\"nbf\":1700000061}",
     "HS256", "not valid yet"},
    {"nbf as text", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100,\"nbf\":\"1\"}", "HS256",
     "not valid yet"},
    {"issued in the future", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100,\"iat\":1700000061}",
     "HS256", "issued in the future"},
    {"another issuer", HEADER,
     "{\"iss\":\"prorate\",\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100}", "HS256",
     "iss is not the key's"},
    {"no issuer", HEADER, "{\"aud\":\"prorata\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100}", "HS256",
     "iss is not the key's"},
    {"another audience", HEADER,
     "{\"iss\":\"prorata\",\"aud\":\"else\",\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100}", "HS256",
     "aud is not the key's"},
    {"audiences, none ours", HEADER,
     "{\"iss\":\"prorata\",\"aud\":[1,\"x\"],\"sub\":\"u\",\"jti\":\"s\",\"exp\":1700000100}", "HS256",
     "aud is not the key's"},
    {"no subject", HEADER, "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"jti\":\"s\",\"exp\":1700000100}", "HS256",
     "sub is missing"},
    {"empty subject", HEADER, "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"\",\"jti\":\"s\",\"exp\":1700000100}",
     "HS256", "sub is missing"},
    {"no session", HEADER, "{\"iss\":\"prorata\",\"aud\":\"prorata\",\"sub\":\"u\",\"exp\":1700000100}", "HS256",
     "jti is missing"},
};

static void check_token(struct arena *arena, const char *token, const char *want_reason, const char *name)
{
    struct jwt_claims claims;
    const char *reason = "";
    bool is_good = jwt_token_check(token, find_key, &ring, NOW_S, arena, &claims, &reason);
    check_text(is_good ? "" : reason, want_reason, "%s", name);
}

static void test_forged(struct arena *arena)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_token(arena, forge(arena, CASES[i].header, CASES[i].claims, CASES[i].mac), CASES[i].want_reason,
                    CASES[i].name);
    ring.count = 1;
    check_token(arena, forge(arena, "{\"alg\":\"HS256\"}", CLAIMS, "HS256"), "", "no key named, one there");
    ring.count = 2;
}

#define SHAPE "not three base64url segments of at most 4,096 bytes"
#define SEGMENT "not a JSON object in a segment"

static void test_shapes(struct arena *arena)
{
    const char *good = forge(arena, HEADER, CLAIMS, "HS256");
    char *changed = arena_strdup(arena, good);
    char *last = changed + strlen(changed) - 1;
    char *dot = strrchr(changed, '.');
    check_token(arena, "", SHAPE, "nothing");
    check_token(arena, "a", SHAPE, "one segment");
    check_token(arena, "a.b", SHAPE, "two segments");
    check_token(arena, "..", SEGMENT, "three empty segments");
    check_token(arena, arena_printf(arena, "%s.", good), SHAPE, "a dot behind");
    check_token(arena, arena_printf(arena, "%s.e30", good), SHAPE, "four segments");
    check_token(arena, arena_printf(arena, "%s.a.b", good), SHAPE, "five segments, as encrypted tokens have");
    check_token(arena, arena_printf(arena, "%s=", good), SHAPE, "padding");
    check_token(arena, arena_printf(arena, " %s", good), SHAPE, "a blank in front");
    check_token(arena, arena_printf(arena, "%s\n", good), SHAPE, "a line end behind");
    char *dump = arena_alloc(arena, JWT_TOKEN_MAX + 2);
    memset(dump, 'a', JWT_TOKEN_MAX + 1);
    check_token(arena, dump, SHAPE, "too long");

    // 32 bytes leave 2 bits of the last character unused: other characters decode to the same bytes, where one is lax.
    static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    int accepted = 0;
    for (const char *c = ALPHABET; *c; c++) {
        struct jwt_claims claims;
        const char *reason;
        *last = *c;
        accepted += jwt_token_check(changed, find_key, &ring, NOW_S, arena, &claims, &reason);
    }
    check_int(accepted, 1, "last characters that verify");

    dot[1] = '\0';
    check_token(arena, changed, SEGMENT, "no signature");
    dot[1] = dot[1] == 'A' ? 'B' : 'A';
}

static const char *nested(struct arena *arena, size_t depth)
{
    char *text = arena_alloc(arena, 2 * depth + 1);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return arena_printf(arena, "{\"x\":%s}", text);
}

// Deep nesting must be refused before libjwt reads it: it would end a small stack.
static void test_depth(struct arena *arena)
{
    check_token(arena, forge(arena, HEADER, nested(arena, 1000), "HS256"), SEGMENT, "claims 1,000 deep");
    check_token(arena, forge(arena, nested(arena, 1000), CLAIMS, "HS256"), SEGMENT, "a header 1,000 deep");
}

static void test_every_bit(struct arena *arena)
{
    char *token = arena_strdup(arena, forge(arena, HEADER, CLAIMS, "HS256"));
    int accepted = 0;
    for (char *c = token; *c; c++) {
        struct jwt_claims claims;
        const char *reason;
        char old = *c;
        *c = old == 'A' ? 'B' : 'A';
        accepted += jwt_token_check(token, find_key, &ring, NOW_S, arena, &claims, &reason);
        *c = old;
    }
    check_int(accepted, 0, "tokens with one character changed that verify");
}

// What common clients do: the ordinary alphabet, which drops - and _.
static void test_round_trip(struct arena *arena)
{
    struct jwt_claims claims = {
        .subject = "3f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10",
        .session = "9f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10",
        .name = "ann.o+x%y@example-host.org",
        .issued_s = NOW_S,
        .expires_s = NOW_S + 86400,
    };
    struct jwt_claims got;
    const char *reason = "";
    const char *token = jwt_token_sign(&ring.keys[0], &claims, arena);
    check_true(jwt_token_check(token, find_key, &ring, NOW_S, arena, &got, &reason), "our own token: %s", reason);
    check_text(got.subject, claims.subject, "subject");
    check_text(got.session, claims.session, "session");
    check_text(got.name, claims.name, "name");
    check_int(got.expires_s, claims.expires_s, "expiry");
    const char *payload = strchr(token, '.') + 1;
    size_t length = (size_t)(strrchr(token, '.') - payload);
    check_int((int64_t)strcspn(payload, "-_") >= (int64_t)length, 1, "claims without - and _ in base64");

    struct jwt_claims strange = claims;
    strange.name = "Ann\xc3\xa9>?~";
    const char *second = jwt_token_sign(&ring.keys[0], &strange, arena);
    check_true(jwt_token_check(second, find_key, &ring, NOW_S, arena, &got, &reason), "a name that is no plain text");
    check_true(got.name == NULL, "it is left out");
}

int main(void)
{
    struct arena arena;
    if (sodium_init() < 0)
        return 1;
    arena_init(&arena);
    ring = (struct key_ring){.keys = {make_key("one", 1), make_key("two", 2)}, .count = 2};
    test_forged(&arena);
    test_shapes(&arena);
    test_depth(&arena);
    test_every_bit(&arena);
    test_round_trip(&arena);
    arena_done(&arena);
    return check_finish();
}
