// Preloaded into the servers of tests: the hash of a password costs a thousandth of what it costs in the product. The
// hash says so itself, so that libsodium verifies it as fast. What it costs in the product: tests/api/sign_in_test.c.
#include <sodium.h>

int crypto_pwhash_str(char out[crypto_pwhash_STRBYTES], const char *password, unsigned long long length,
                      unsigned long long operations, size_t memory)
{
    (void)operations;
    (void)memory;
    return crypto_pwhash_argon2id_str(out, password, length, crypto_pwhash_argon2id_OPSLIMIT_MIN,
                                      crypto_pwhash_argon2id_MEMLIMIT_MIN);
}
