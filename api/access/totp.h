// Codes by time: RFC 6238 with HMAC-SHA-1, 6 digits, 30 s a step, as every app on a telephone has it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOTP_SECRET_SIZE = 20,
    TOTP_SECRET_TEXT_SIZE = 33, // base32
    TOTP_DIGITS = 6,
    TOTP_STEP_S = 30,
    TOTP_WINDOW = 1 // steps before and after the present one whose codes are good too: clocks differ
};

// The number of a step, of `digits` digits (RFC 4226, 5.3; at most 9).
uint32_t totp_number(const unsigned char *secret, size_t size, int64_t step, int digits);

// True where text is the code of a step within the window around now_s, and later than last_step; the step is given
// back. Every step is looked at, so the time tells nothing.
bool totp_matches(const unsigned char *secret, size_t size, const char *text, int64_t now_s, int64_t last_step,
                  int64_t *out_step);

// Base32 (RFC 4648) in capitals without padding; size is at most TOTP_SECRET_SIZE.
void totp_secret_text(const unsigned char *secret, size_t size, char out_text[TOTP_SECRET_TEXT_SIZE]);
