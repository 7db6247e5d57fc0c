// Random secrets that are shown once and kept as BLAKE2b-256 hashes: cookies, refresh tokens, client secrets. 32 random
// bytes need no slow hash.
#pragma once
#include <stdbool.h>

enum {
    SECRET_TEXT_SIZE = 44,
    SECRET_HASH_SIZE = 32
};

// 43 characters of base64url.
void secret_create(char out_text[SECRET_TEXT_SIZE]);
void secret_hash(const char *text, unsigned char out_hash[SECRET_HASH_SIZE]);
// Takes the same time wherever they differ.
bool secret_matches(const char *text, const unsigned char hash[SECRET_HASH_SIZE]);
