#include "api/passwords.h"

#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static_assert(PASSWORD_HASH_SIZE == crypto_pwhash_STRBYTES, "libsodium's size");

enum {
    RUNNING_MAX = 2,
    WAITING_MAX = 16
};

struct passwords {
    pthread_mutex_t mutex;
    pthread_cond_t is_free;
    int running;
    int waiting;
    char dummy[PASSWORD_HASH_SIZE]; // of a password that nobody knows; made when first needed
};

struct passwords *passwords_create(void)
{
    struct passwords *passwords = memory_array(1, sizeof(*passwords));
    pthread_mutex_init(&passwords->mutex, NULL);
    pthread_cond_init(&passwords->is_free, NULL);
    return passwords;
}

void passwords_destroy(struct passwords *passwords)
{
    if (!passwords)
        return;
    pthread_cond_destroy(&passwords->is_free);
    pthread_mutex_destroy(&passwords->mutex);
    free(passwords);
}

static int enter(struct passwords *passwords, struct error *err)
{
    int rc = 0;
    pthread_mutex_lock(&passwords->mutex);
    if (passwords->running >= RUNNING_MAX && passwords->waiting >= WAITING_MAX) {
        rc = error_set(err, ERROR_TOO_MANY, "too many sign-ins at once; try again");
    } else {
        passwords->waiting++;
        while (passwords->running >= RUNNING_MAX)
            pthread_cond_wait(&passwords->is_free, &passwords->mutex);
        passwords->waiting--;
        passwords->running++;
    }
    pthread_mutex_unlock(&passwords->mutex);
    return rc;
}

static void leave(struct passwords *passwords)
{
    pthread_mutex_lock(&passwords->mutex);
    passwords->running--;
    pthread_cond_signal(&passwords->is_free);
    pthread_mutex_unlock(&passwords->mutex);
}

static int hash_inside(const char *password, char out_hash[PASSWORD_HASH_SIZE], struct error *err)
{
    if (crypto_pwhash_str(out_hash, password, strlen(password), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                          crypto_pwhash_MEMLIMIT_INTERACTIVE))
        return error_set(err, ERROR_UNAVAILABLE, "no memory for hashing a password");
    return 0;
}

int password_hash(struct passwords *passwords, const char *password, char out_hash[PASSWORD_HASH_SIZE],
                  struct error *err)
{
    if (enter(passwords, err) < 0)
        return -1;
    int rc = hash_inside(password, out_hash, err);
    leave(passwords);
    return rc;
}

// The hash that stands in for unknown users.
static int dummy_hash(struct passwords *passwords, char out_hash[PASSWORD_HASH_SIZE], struct error *err)
{
    pthread_mutex_lock(&passwords->mutex);
    memcpy(out_hash, passwords->dummy, PASSWORD_HASH_SIZE);
    pthread_mutex_unlock(&passwords->mutex);
    if (out_hash[0])
        return 0;
    char random[PASSWORD_RANDOM_SIZE];
    password_random(random);
    if (hash_inside(random, out_hash, err) < 0)
        return -1;
    pthread_mutex_lock(&passwords->mutex);
    memcpy(passwords->dummy, out_hash, PASSWORD_HASH_SIZE);
    pthread_mutex_unlock(&passwords->mutex);
    return 0;
}

int password_verify(struct passwords *passwords, const char *hash, const char *password, bool *out_matches,
                    struct error *err)
{
    char dummy[PASSWORD_HASH_SIZE];
    if (enter(passwords, err) < 0)
        return -1;
    int rc = hash ? 0 : dummy_hash(passwords, dummy, err);
    if (rc == 0) {
        bool matches = crypto_pwhash_str_verify(hash ? hash : dummy, password, strlen(password)) == 0;
        *out_matches = matches && hash;
    }
    leave(passwords);
    return rc;
}

int password_check_rules(const char *field, const char *password, struct error *err)
{
    size_t length = strlen(password);
    if (length < PASSWORD_MIN || length > PASSWORD_MAX)
        return error_set(err, ERROR_INVALID, "%s: %d to %d characters, got %zu", field, PASSWORD_MIN, PASSWORD_MAX,
                         length);
    return 0;
}

void password_random(char out[PASSWORD_RANDOM_SIZE])
{
    unsigned char bytes[18];
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2base64(out, PASSWORD_RANDOM_SIZE, bytes, sizeof(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof(bytes));
}
