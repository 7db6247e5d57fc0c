#include "api/access/passwords.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/places.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static_assert(PASSWORD_HASH_SIZE == crypto_pwhash_STRBYTES, "libsodium's size");

enum {
    RUNNING_MAX = 2,
    WAITING_SUSPECT_MAX = 16
};

struct waiter {
    const struct password_caller *caller;
    bool may_go;
    struct waiter *next;
};

struct passwords {
    pthread_mutex_t mutex;
    pthread_cond_t is_free;
    int running;
    size_t waiting_count;
    struct place_book *book;
    struct waiter *waiting;         // in the order in which they came
    char dummy[PASSWORD_HASH_SIZE]; // of a password that nobody knows; made when first needed
};

struct passwords *passwords_create(struct place_book *book)
{
    struct passwords *passwords = memory_array(1, sizeof(*passwords));
    passwords->book = book;
    place_book_set(book, PLACE_SIGN_INS, PLACE_BOUND_SIGN_INS, 0);
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

static bool has_room(const struct passwords *passwords, const struct password_caller *caller)
{
    size_t same_room = 0, same_address = 0;
    for (const struct waiter *waiter = passwords->waiting; waiter; waiter = waiter->next) {
        same_room += waiter->caller->is_suspect == caller->is_suspect;
        same_address += strcmp(waiter->caller->address, caller->address) == 0;
    }
    return same_room < (caller->is_suspect ? WAITING_SUSPECT_MAX : PLACE_BOUND_SIGN_INS) &&
           same_address < places_part(PLACE_SIGN_INS, PLACE_BOUND_SIGN_INS);
}

static void count_waiting(struct passwords *passwords, bool is_one_more)
{
    passwords->waiting_count = is_one_more ? passwords->waiting_count + 1 : passwords->waiting_count - 1;
    place_book_set(passwords->book, PLACE_SIGN_INS, PLACE_BOUND_SIGN_INS, passwords->waiting_count);
}

static int enter(struct passwords *passwords, const struct password_caller *caller, struct error *err)
{
    struct waiter self = {.caller = caller};
    int rc = 0;
    pthread_mutex_lock(&passwords->mutex);
    if (passwords->running < RUNNING_MAX && !passwords->waiting) {
        passwords->running++;
    } else if (!has_room(passwords, caller)) {
        rc = error_set(err, ERROR_TOO_MANY, "too many sign-ins at once; try again");
    } else {
        struct waiter **last = &passwords->waiting;
        while (*last)
            last = &(*last)->next;
        *last = &self;
        count_waiting(passwords, true);
        while (!self.may_go)
            pthread_cond_wait(&passwords->is_free, &passwords->mutex);
        count_waiting(passwords, false);
    }
    pthread_mutex_unlock(&passwords->mutex);
    if (rc < 0)
        place_book_refuse(passwords->book, PLACE_SIGN_INS, caller->address, 1);
    return rc;
}

// Its place goes to the first who waits, suspects after all others.
static void leave(struct passwords *passwords)
{
    pthread_mutex_lock(&passwords->mutex);
    struct waiter **next = &passwords->waiting;
    while (*next && (*next)->caller->is_suspect)
        next = &(*next)->next;
    if (!*next)
        next = &passwords->waiting;
    if (*next) {
        (*next)->may_go = true;
        *next = (*next)->next;
        pthread_cond_broadcast(&passwords->is_free);
    } else {
        passwords->running--;
    }
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
    static const struct password_caller SELF = {.address = ""};
    if (enter(passwords, &SELF, err) < 0)
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

int password_verify(struct passwords *passwords, const struct password_caller *caller, const char *hash,
                    const char *password, bool *out_matches, struct error *err)
{
    char dummy[PASSWORD_HASH_SIZE];
    if (enter(passwords, caller, err) < 0)
        return -1;
    int rc = hash ? 0 : dummy_hash(passwords, dummy, err);
    if (rc == 0) {
        bool matches = crypto_pwhash_str_verify(hash ? hash : dummy, password, strlen(password)) == 0;
        *out_matches = matches && hash;
    }
    leave(passwords);
    return rc;
}

int password_check_length(const char *field, const char *password, int least, struct error *err)
{
    size_t length = strlen(password);
    if (length < (size_t)least || length > PASSWORD_MAX)
        return error_set(err, ERROR_INVALID, "%s: %d to %d characters, got %zu", field, least, PASSWORD_MAX, length);
    return 0;
}

void password_random(char out[PASSWORD_RANDOM_SIZE])
{
    unsigned char bytes[18];
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2base64(out, PASSWORD_RANDOM_SIZE, bytes, sizeof(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof(bytes));
}
