#include "api/access/sign_in_limits.h"

#include "base/arena.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
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
    int running; // tries that began and have not ended
};

struct sign_in_limits {
    pthread_mutex_t mutex;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    struct entry entries[ENTRY_COUNT];
};

struct rule {
    int free_tries;
    int64_t wait_max_s;
};

static const struct rule ACCOUNT = {SIGN_IN_ACCOUNT_FREE, SIGN_IN_ACCOUNT_WAIT_MAX_S};
static const struct rule ADDRESS = {SIGN_IN_ADDRESS_FREE, SIGN_IN_ADDRESS_WAIT_MAX_S};

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

// Whoever has one address of IPv6 has the 2^64 of its network.
static void write_place(const char *address, char out_place[INET6_ADDRSTRLEN])
{
    struct in6_addr six;
    snprintf(out_place, INET6_ADDRSTRLEN, "%s", address);
    if (inet_pton(AF_INET6, address, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
        return;
    memset(six.s6_addr + 8, 0, 8);
    inet_ntop(AF_INET6, &six, out_place, INET6_ADDRSTRLEN);
}

// Account names are compared without regard to case, as the database does. account "": the address alone.
static uint64_t key_of(const struct sign_in_limits *limits, const char *account, const char *address)
{
    char place[INET6_ADDRSTRLEN];
    unsigned char text[INET6_ADDRSTRLEN + 256], hash[crypto_shorthash_BYTES];
    size_t length = 0;
    write_place(address, place);
    for (const char *c = place; *c; c++)
        text[length++] = (unsigned char)*c;
    text[length++] = ' ';
    for (const char *c = account; *c && length < sizeof(text); c++)
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

// Seconds until this entry lets a try begin.
static int64_t wait_of(const struct entry *entry, const struct rule *rule, int64_t now_ms)
{
    if (entry->next_ms > now_ms)
        return (entry->next_ms - now_ms + 999) / 1000;
    return entry->failures >= rule->free_tries && entry->running > 0 ? 1 : 0;
}

static void forget_old(struct entry *entry, int64_t now_ms)
{
    if (entry->last_ms + FORGET_MS < now_ms) {
        entry->failures = 0;
        entry->next_ms = 0;
    }
}

int64_t sign_in_limits_begin(struct sign_in_limits *limits, const char *account, const char *address, int64_t now_ms)
{
    uint64_t account_key = key_of(limits, account, address), address_key = key_of(limits, "", address);
    pthread_mutex_lock(&limits->mutex);
    struct entry *entry = find_entry(limits, account_key);
    forget_old(entry, now_ms);
    int64_t wait_s = wait_of(entry, &ACCOUNT, now_ms);
    entry = find_entry(limits, address_key);
    forget_old(entry, now_ms);
    int64_t address_wait_s = wait_of(entry, &ADDRESS, now_ms);
    if (address_wait_s > wait_s)
        wait_s = address_wait_s;
    if (!wait_s) {
        find_entry(limits, address_key)->running++;
        find_entry(limits, account_key)->running++;
    }
    pthread_mutex_unlock(&limits->mutex);
    return wait_s;
}

bool sign_in_limits_is_suspect(struct sign_in_limits *limits, const char *address, int64_t now_ms)
{
    uint64_t key = key_of(limits, "", address);
    pthread_mutex_lock(&limits->mutex);
    struct entry *entry = find_entry(limits, key);
    forget_old(entry, now_ms);
    bool is_suspect = entry->failures > 0;
    pthread_mutex_unlock(&limits->mutex);
    return is_suspect;
}

static void end_try(struct entry *entry, const struct rule *rule, enum sign_in_outcome outcome, int64_t now_ms)
{
    if (entry->running > 0) // else it had to give way to another
        entry->running--;
    if (outcome == SIGN_IN_FAILED)
        count_failure(entry, rule, now_ms);
    if (outcome == SIGN_IN_SUCCEEDED && rule == &ACCOUNT) {
        entry->failures = 0;
        entry->next_ms = 0;
    }
}

void sign_in_limits_end(struct sign_in_limits *limits, const char *account, const char *address,
                        enum sign_in_outcome outcome, int64_t now_ms)
{
    uint64_t account_key = key_of(limits, account, address), address_key = key_of(limits, "", address);
    pthread_mutex_lock(&limits->mutex);
    end_try(find_entry(limits, account_key), &ACCOUNT, outcome, now_ms);
    end_try(find_entry(limits, address_key), &ADDRESS, outcome, now_ms);
    pthread_mutex_unlock(&limits->mutex);
}
