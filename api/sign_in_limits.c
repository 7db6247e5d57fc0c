#include "api/sign_in_limits.h"

#include "base/arena.h"

#include <pthread.h>
#include <sodium.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_COUNT = 4096,
    WAYS = 8,                  // an entry lives in one of 8 places; the stalest gives way
    FORGET_MS = 15 * 60 * 1000 // without a failure
};

struct entry {
    uint64_t key; // 0: free
    int64_t last_ms;
    int64_t next_ms; // no try before
    int failures;
};

struct sign_in_limits {
    pthread_mutex_t mutex;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    struct entry entries[ENTRY_COUNT];
};

struct rule {
    const char *kind;
    int free_tries;
    int64_t wait_max_s;
};

static const struct rule ACCOUNT = {"account:", SIGN_IN_ACCOUNT_FREE, SIGN_IN_ACCOUNT_WAIT_MAX_S};
static const struct rule ADDRESS = {"address:", SIGN_IN_ADDRESS_FREE, SIGN_IN_ADDRESS_WAIT_MAX_S};

struct sign_in_limits *sign_in_limits_create(void)
{
    struct sign_in_limits *limits = memory_array(1, sizeof(*limits));
    pthread_mutex_init(&limits->mutex, NULL);
    crypto_shorthash_keygen(limits->hash_key);
    return limits;
}

void sign_in_limits_destroy(struct sign_in_limits *limits)
{
    if (!limits)
        return;
    pthread_mutex_destroy(&limits->mutex);
    free(limits);
}

// Account names are compared without regard to case, as the database does.
static uint64_t key_of(const struct sign_in_limits *limits, const struct rule *rule, const char *name)
{
    unsigned char text[272], hash[crypto_shorthash_BYTES];
    size_t length = 0;
    for (const char *c = rule->kind; *c; c++)
        text[length++] = (unsigned char)*c;
    for (const char *c = name; *c && length < sizeof(text); c++)
        text[length++] = (unsigned char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    crypto_shorthash(hash, text, length, limits->hash_key);
    uint64_t key;
    memcpy(&key, hash, sizeof(key));
    return key ? key : 1;
}

static struct entry *find_entry(struct sign_in_limits *limits, uint64_t key)
{
    struct entry *stalest = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        struct entry *entry = &limits->entries[(key + i) % ENTRY_COUNT];
        if (entry->key == key)
            return entry;
        if (!stalest || entry->last_ms < stalest->last_ms)
            stalest = entry;
    }
    *stalest = (struct entry){.key = key};
    return stalest;
}

static void count_failure(struct entry *entry, const struct rule *rule, int64_t now_ms)
{
    entry->failures++;
    entry->last_ms = now_ms;
    int beyond = entry->failures - rule->free_tries;
    if (beyond < 0)
        return;
    int64_t wait_s = beyond < 16 ? INT64_C(1) << beyond : rule->wait_max_s;
    entry->next_ms = now_ms + 1000 * (wait_s < rule->wait_max_s ? wait_s : rule->wait_max_s);
}

int64_t sign_in_limits_begin(struct sign_in_limits *limits, const char *account, const char *address, int64_t now_ms)
{
    const struct rule *const RULES[] = {&ACCOUNT, &ADDRESS};
    const char *const names[] = {account, address};
    uint64_t keys[2];
    int64_t next_ms = 0;
    pthread_mutex_lock(&limits->mutex);
    for (size_t i = 0; i < 2; i++) {
        keys[i] = key_of(limits, RULES[i], names[i]);
        struct entry *entry = find_entry(limits, keys[i]);
        if (entry->last_ms + FORGET_MS < now_ms)
            *entry = (struct entry){.key = keys[i], .last_ms = now_ms};
        if (entry->next_ms > next_ms)
            next_ms = entry->next_ms;
    }
    if (next_ms <= now_ms)
        for (size_t i = 0; i < 2; i++)
            count_failure(find_entry(limits, keys[i]), RULES[i], now_ms);
    pthread_mutex_unlock(&limits->mutex);
    return next_ms <= now_ms ? 0 : (next_ms - now_ms + 999) / 1000;
}

void sign_in_limits_succeeded(struct sign_in_limits *limits, const char *account, const char *address)
{
    pthread_mutex_lock(&limits->mutex);
    struct entry *entry = find_entry(limits, key_of(limits, &ACCOUNT, account));
    *entry = (struct entry){0};
    entry = find_entry(limits, key_of(limits, &ADDRESS, address));
    if (entry->failures > 0)
        entry->failures--;
    if (entry->failures < ADDRESS.free_tries)
        entry->next_ms = 0;
    pthread_mutex_unlock(&limits->mutex);
}
