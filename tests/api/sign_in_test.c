// What stands behind sign-in: limits of tries, signing keys and their rotation, password rules.
#include "api/access/passwords.h"
#include "api/access/secrets.h"
#include "api/access/sign_in_limits.h"
#include "api/access/signing_keys.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/places.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MS INT64_C(86400000)

// One try from begin to end; the seconds to wait, 0 where it was let in.
static int64_t fail(struct sign_in_limits *limits, const char *account, const char *address, int64_t now_ms)
{
    int64_t wait_s = sign_in_limits_begin(limits, account, address, now_ms);
    if (!wait_s)
        sign_in_limits_end(limits, account, address, SIGN_IN_FAILED, now_ms);
    return wait_s;
}

static void test_limits(void)
{
    struct sign_in_limits *limits = sign_in_limits_create();
    int64_t now_ms = 1000000000;
    for (int i = 0; i < SIGN_IN_ACCOUNT_FREE; i++)
        check_int(fail(limits, "ann", "10.0.0.1", now_ms), 0, "try %d is free", i + 1);
    check_int(fail(limits, "ann", "10.0.0.1", now_ms), 1, "then a second");
    check_int(fail(limits, "ANN", "10.0.0.1", now_ms), 1, "in capitals too");
    check_int(fail(limits, "ann", "10.0.0.2", now_ms), 0, "the owner at another address is not slowed by them");
    check_true(sign_in_limits_is_suspect(limits, "10.0.0.1", now_ms), "an address with failures");
    check_true(!sign_in_limits_is_suspect(limits, "10.0.0.3", now_ms), "an address without");
    check_int(fail(limits, "bob", "10.0.0.1", now_ms), 0, "another account is free");
    now_ms += 1000;
    check_int(fail(limits, "ann", "10.0.0.1", now_ms), 0, "after the wait");
    check_int(fail(limits, "ann", "10.0.0.1", now_ms), 2, "the wait doubles");
    for (int i = 0; i < 20; i++) {
        now_ms += 60000;
        check_int(fail(limits, "ann", "10.0.1.1", now_ms), 0, "a minute is enough until the address has too many");
    }
    now_ms += 60000;
    check_int(fail(limits, "eve", "10.0.2.1", now_ms), 0, "a failure");
    for (int i = 1; i < SIGN_IN_ACCOUNT_FREE; i++)
        fail(limits, "eve", "10.0.2.1", now_ms);
    now_ms += 60000;
    check_int(sign_in_limits_begin(limits, "eve", "10.0.2.1", now_ms), 0, "one try after failures");
    check_int(sign_in_limits_begin(limits, "eve", "10.0.2.1", now_ms), 1, "not two side by side");
    sign_in_limits_end(limits, "eve", "10.0.2.1", SIGN_IN_SUCCEEDED, now_ms);
    for (int i = 0; i < SIGN_IN_ACCOUNT_FREE; i++)
        check_int(fail(limits, "eve", "10.0.2.1", now_ms), 0, "a sign-in that works clears the account");
    sign_in_limits_destroy(limits);
}

static void test_networks(void)
{
    struct sign_in_limits *limits = sign_in_limits_create();
    int64_t now_ms = 1000000000;
    char address[64];
    for (int i = 0; i < SIGN_IN_ACCOUNT_FREE; i++) {
        snprintf(address, sizeof(address), "2001:db8:1:2:%x::1", i);
        fail(limits, "ann", address, now_ms);
    }
    check_int(fail(limits, "ann", "2001:db8:1:2:ffff::9", now_ms), 1, "a network of IPv6 is one address");
    check_int(fail(limits, "ann", "2001:db8:1:3::1", now_ms), 0, "the next network is another");
    check_int(fail(limits, "ann", "::ffff:10.0.0.1", now_ms), 0, "IPv4 in IPv6 is one each");
    check_true(!sign_in_limits_is_suspect(limits, "::ffff:10.0.0.2", now_ms), "and no network");
    sign_in_limits_destroy(limits);
}

static void test_address_limit(void)
{
    struct sign_in_limits *limits = sign_in_limits_create();
    int64_t now_ms = 1000000000;
    char account[16];
    int free_tries = 0;
    for (; free_tries < 1000; free_tries++) {
        snprintf(account, sizeof(account), "user-%d", free_tries);
        if (fail(limits, account, "10.9.9.9", now_ms))
            break;
    }
    check_int(free_tries, SIGN_IN_ADDRESS_FREE, "tries with ever new accounts from one address");
    now_ms += 16 * 60000;
    check_int(fail(limits, "user-999", "10.9.9.9", now_ms), 0, "forgotten after a quarter of an hour");
    sign_in_limits_destroy(limits);
}

// Many programs that sign in at once with the right password do not hold each other up.
static void test_side_by_side(void)
{
    struct sign_in_limits *limits = sign_in_limits_create();
    int64_t now_ms = 1000000000;
    for (int i = 0; i < 50; i++)
        check_int(sign_in_limits_begin(limits, "ann", "10.0.0.1", now_ms), 0, "%d begin", i + 1);
    for (int i = 0; i < 49; i++)
        sign_in_limits_end(limits, "ann", "10.0.0.1", i % 2 ? SIGN_IN_SUCCEEDED : SIGN_IN_NOT_TRIED, now_ms);
    check_int(sign_in_limits_begin(limits, "ann", "10.0.0.1", now_ms), 0, "and one more");
    for (int i = 0; i < 50; i++)
        sign_in_limits_begin(limits, "bob", "10.0.0.2", now_ms);
    for (int i = 0; i < 50; i++)
        sign_in_limits_end(limits, "bob", "10.0.0.2", SIGN_IN_FAILED, now_ms);
    check_int(sign_in_limits_begin(limits, "bob", "10.0.0.2", now_ms), SIGN_IN_ADDRESS_WAIT_MAX_S,
              "a burst of failures counts whole");
    sign_in_limits_destroy(limits);
}

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void test_keys(const char *folder)
{
    struct signing_keys_options options = {.folder = folder, .rotation_ms = 10 * DAY_MS, .token_life_ms = DAY_MS};
    struct signing_keys *keys = NULL;
    struct error err = {0};
    struct jwt_key first, again, second, found;
    int64_t now_ms = 1700000000000;
    check_int(signing_keys_open(&options, now_ms, &keys, &err), 0, "open: %s", err.message);
    check_int(signing_keys_current(keys, now_ms, &first, &err), 0, "first key");
    struct stat info;
    char path[600];
    snprintf(path, sizeof(path), "%s/%s.key", folder, first.id);
    check_int(stat(path, &info), 0, "it is on disk");
    check_int(info.st_mode & 0777, 0600, "its mode");
    check_int(info.st_size, JWT_SECRET_SIZE, "its size");
    signing_keys_close(keys);

    check_int(signing_keys_open(&options, now_ms + DAY_MS, &keys, &err), 0, "open again: %s", err.message);
    signing_keys_current(keys, now_ms + DAY_MS, &again, &err);
    check_text(again.id, first.id, "the same key after a restart");
    check_true(!memcmp(again.secret, first.secret, JWT_SECRET_SIZE), "the same secret");
    check_true(signing_keys_find(keys, NULL, &found), "the only key is found without an id");
    signing_keys_current(keys, now_ms + 10 * DAY_MS, &second, &err);
    check_true(strcmp(second.id, first.id) != 0, "a new key after the rotation time");
    check_true(signing_keys_find(keys, first.id, &found), "the old one still verifies");
    check_true(!signing_keys_find(keys, NULL, &found), "two keys: a token must name one");
    check_true(!signing_keys_find(keys, "../etc/passwd", &found), "an id that is none");
    check_int((int64_t)count_files(folder), 2, "files");
    signing_keys_close(keys);

    check_int(signing_keys_open(&options, now_ms + 12 * DAY_MS, &keys, &err), 0, "open later: %s", err.message);
    check_true(!signing_keys_find(keys, first.id, &found), "gone when the last token it signed has expired");
    check_true(signing_keys_find(keys, second.id, &found), "the present one is there");
    check_int((int64_t)count_files(folder), 1, "files");
    signing_keys_close(keys);

    snprintf(path, sizeof(path), "%s/%s.key", folder, second.id);
    chmod(path, 0644);
    check_int(signing_keys_open(&options, now_ms, &keys, &err), -1, "a key that others may read is refused");
    chmod(path, 0600);
    snprintf(path, sizeof(path), "%s/1700000000001-00000000.key", folder);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    check_int(signing_keys_open(&options, now_ms + 12 * DAY_MS, &keys, &err), 0,
              "an empty file of a crash is cleared away");
    check_int((int64_t)count_files(folder), 1, "files");
    signing_keys_close(keys);
}

static void test_passwords(void)
{
    static const struct password_caller HERE = {.address = "10.0.0.1"};
    struct passwords *passwords = passwords_create(NULL);
    struct error err = {0};
    char hash[PASSWORD_HASH_SIZE];
    bool matches = true;
    check_int(password_hash(passwords, "correct horse", hash, &err), 0, "hash");
    check_true(!strncmp(hash, "$argon2id$v=19$m=65536,t=2,p=1$", 31), "Argon2id at the cost of an interactive sign-in");
    check_int(password_verify(passwords, &HERE, hash, "correct horse", &matches, &err), 0, "verify");
    check_true(matches, "the right one");
    password_verify(passwords, &HERE, hash, "correct horsf", &matches, &err);
    check_true(!matches, "a wrong one");
    matches = true;
    password_verify(passwords, &HERE, NULL, "correct horse", &matches, &err);
    check_true(!matches, "no user");
    check_int(password_check_length("newPassword", "1234567", PASSWORD_MIN, &err), -1, "too short");
    check_text(err.message, "newPassword: 8 to 255 characters, got 7", "its message");
    check_int(password_check_length("newPassword", "12345678", PASSWORD_MIN, &err), 0, "long enough");
    char first[PASSWORD_RANDOM_SIZE], second[PASSWORD_RANDOM_SIZE];
    password_random(first);
    password_random(second);
    check_true(strcmp(first, second) && strlen(first) == 24, "random ones");
    passwords_destroy(passwords);
}

enum {
    STORM = 40
};

struct storm {
    struct passwords *passwords;
    pthread_barrier_t start;
    atomic_int hashed;
    atomic_int refused;
};

static void *hash_in_storm(void *context)
{
    struct storm *storm = context;
    struct error err = {0};
    char hash[PASSWORD_HASH_SIZE];
    pthread_barrier_wait(&storm->start);
    if (password_hash(storm->passwords, "correct horse", hash, &err) == 0)
        atomic_fetch_add(&storm->hashed, 1);
    else if (err.code == ERROR_TOO_MANY)
        atomic_fetch_add(&storm->refused, 1);
    return NULL;
}

// Two work and sixteen wait: those at least are served, and everybody gets an answer.
static void test_storm(void)
{
    struct place_book book = {0};
    struct storm storm = {.passwords = passwords_create(&book)};
    pthread_t threads[STORM];
    pthread_barrier_init(&storm.start, NULL, STORM);
    for (size_t i = 0; i < STORM; i++)
        pthread_create(&threads[i], NULL, hash_in_storm, &storm);
    for (size_t i = 0; i < STORM; i++)
        pthread_join(threads[i], NULL);
    check_int(storm.hashed + storm.refused, STORM, "answers");
    check_true(storm.hashed >= 18, "18 are served, got %d", storm.hashed);
    check_int((int64_t)atomic_load(&book.of[PLACE_SIGN_INS].refused), storm.refused, "those refused are counted");
    check_int(atomic_load(&book.of[PLACE_SIGN_INS].taken), 0, "nobody waits any more");
    pthread_barrier_destroy(&storm.start);
    passwords_destroy(storm.passwords);
}

static void test_secrets(void)
{
    char text[SECRET_TEXT_SIZE];
    unsigned char hash[SECRET_HASH_SIZE];
    secret_create(text);
    secret_hash(text, hash);
    check_int((int64_t)strlen(text), 43, "length");
    check_true(secret_matches(text, hash), "itself");
    text[0] ^= 1;
    check_true(!secret_matches(text, hash), "another");
    check_true(!secret_matches("", hash), "nothing");
}

int main(void)
{
    char folder[] = "/tmp/prorata-keys-XXXXXX";
    if (sodium_init() < 0 || !mkdtemp(folder))
        return 1;
    test_limits();
    test_networks();
    test_address_limit();
    test_side_by_side();
    test_keys(folder);
    test_passwords();
    test_storm();
    test_secrets();
    remove_folder(folder);
    return check_finish();
}
