#include "api/access/totp.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

uint32_t totp_number(const unsigned char *secret, size_t size, int64_t step, int digits)
{
    unsigned char counter[8], mac[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    uint32_t bound = 1;
    for (int i = 0; i < 8; i++)
        counter[i] = (unsigned char)((uint64_t)step >> (56 - 8 * i));
    const unsigned char *done = HMAC(EVP_sha1(), secret, (int)size, counter, sizeof(counter), mac, &length);
    assert(done && length == 20);
    (void)done;
    const unsigned char *part = mac + (mac[length - 1] & 15);
    uint32_t number = ((uint32_t)part[0] & 127) << 24 | (uint32_t)part[1] << 16 | (uint32_t)part[2] << 8 | part[3];
    for (int i = 0; i < digits; i++)
        bound *= 10;
    sodium_memzero(mac, sizeof(mac));
    return number % bound;
}

bool totp_matches(const unsigned char *secret, size_t size, const char *text, int64_t now_s, int64_t last_step,
                  int64_t *out_step)
{
    bool matches = false;
    if (strlen(text) != TOTP_DIGITS || strspn(text, "0123456789") != TOTP_DIGITS)
        return false;
    for (int64_t i = -TOTP_WINDOW; i <= TOTP_WINDOW; i++) {
        char code[16];
        int64_t step = now_s / TOTP_STEP_S + i;
        snprintf(code, sizeof(code), "%0*u", TOTP_DIGITS, totp_number(secret, size, step, TOTP_DIGITS));
        if (sodium_memcmp(code, text, TOTP_DIGITS) == 0 && step > last_step) {
            matches = true;
            *out_step = step;
        }
    }
    return matches;
}

void totp_secret_text(const unsigned char *secret, size_t size, char out_text[TOTP_SECRET_TEXT_SIZE])
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint32_t bits = 0;
    int count = 0;
    size_t length = 0;
    for (size_t i = 0; i < size && i < TOTP_SECRET_SIZE; i++) {
        bits = (bits << 8 | secret[i]) & 0xffff;
        for (count += 8; count >= 5; count -= 5)
            out_text[length++] = DIGITS[bits >> (count - 5) & 31];
    }
    if (count)
        out_text[length++] = DIGITS[bits << (5 - count) & 31];
    out_text[length] = '\0';
}
