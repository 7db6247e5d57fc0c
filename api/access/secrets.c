#include "api/access/secrets.h"

#include <sodium.h>
#include <string.h>

void secret_create(char out_text[SECRET_TEXT_SIZE])
{
    unsigned char bytes[32];
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2base64(out_text, SECRET_TEXT_SIZE, bytes, sizeof(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof(bytes));
}

void secret_hash(const char *text, unsigned char out_hash[SECRET_HASH_SIZE])
{
    crypto_generichash(out_hash, SECRET_HASH_SIZE, (const unsigned char *)text, strlen(text), NULL, 0);
}

bool secret_matches(const char *text, const unsigned char hash[SECRET_HASH_SIZE])
{
    unsigned char own[SECRET_HASH_SIZE];
    secret_hash(text, own);
    return sodium_memcmp(own, hash, SECRET_HASH_SIZE) == 0;
}
