#include "api/access/sign_in_crowd.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/settings.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_MS INT64_C(3600000)
#define KEPT_MS (30 * 24 * HOUR_MS)

struct
try {
    char address[INET6_ADDRSTRLEN];
    uint64_t account;
    int64_t time_ms; // 0: none
};

struct sign_in_crowd {
    pthread_mutex_t mutex;
    unsigned char hash_key[crypto_shorthash_KEYBYTES];
    struct try tries[CROWD_TRIES];
    size_t next;
    int64_t told_ms;
};

struct sign_in_crowd *sign_in_crowd_create(void)
{
    struct sign_in_crowd *crowd = memory_array(1, sizeof(*crowd));
    pthread_mutex_init(&crowd->mutex, NULL);
    crypto_shorthash_keygen(crowd->hash_key);
    return crowd;
}

void sign_in_crowd_destroy(struct sign_in_crowd *crowd)
{
    if (!crowd)
        return;
    pthread_mutex_destroy(&crowd->mutex);
    free(crowd);
}

static bool is_known(const uint64_t *accounts, size_t count, uint64_t account)
{
    for (size_t i = 0; i < count; i++)
        if (accounts[i] == account)
            return true;
    return false;
}

static bool is_crowd(const struct sign_in_crowd *crowd, const char *address, int64_t now_ms)
{
    uint64_t accounts[CROWD_TRIES];
    size_t from_here = 0, account_count = 0;
    for (size_t i = 0; i < CROWD_TRIES; i++) {
        const struct try *try = &crowd->tries[i];
        if (!try->time_ms || now_ms - try->time_ms > HOUR_MS)
            return false;
        if (strcmp(try->address, address) != 0)
            continue;
        from_here++;
        if (!is_known(accounts, account_count, try->account))
            accounts[account_count++] = try->account;
    }
    return from_here >= CROWD_FROM_ONE && account_count >= CROWD_ACCOUNTS;
}

bool sign_in_crowd_note(struct sign_in_crowd *crowd, const char *account, const char *address, int64_t now_ms)
{
    unsigned char hash[crypto_shorthash_BYTES];
    crypto_shorthash(hash, (const unsigned char *)account, strlen(account), crowd->hash_key);
    pthread_mutex_lock(&crowd->mutex);
    struct try *try = &crowd->tries[crowd->next];
    crowd->next = (crowd->next + 1) % CROWD_TRIES;
    snprintf(try->address, sizeof(try->address), "%s", address);
    memcpy(&try->account, hash, sizeof(try->account));
    try->time_ms = now_ms;
    bool tells = (!crowd->told_ms || now_ms - crowd->told_ms > HOUR_MS) && is_crowd(crowd, try->address, now_ms);
    if (tells)
        crowd->told_ms = now_ms;
    pthread_mutex_unlock(&crowd->mutex);
    return tells;
}

const char *sign_in_crowd_sentence(const char *kept, int64_t now_ms, struct arena *arena, const char **out_advice)
{
    char address[INET6_ADDRSTRLEN], when[TIMESTAMP_SIZE];
    struct in6_addr unused;
    int64_t time_ms;
    if (!kept || sscanf(kept, "%" SCNd64 " %45s", &time_ms, address) != 2 || now_ms - time_ms > KEPT_MS ||
        (inet_pton(AF_INET, address, &unused) != 1 && inet_pton(AF_INET6, address, &unused) != 1))
        return NULL;
    timestamp_format(time_ms, when);
    *out_advice = arena_printf(arena,
                               "if a proxy of yours is there, start with --trusted-proxy %s, else everybody is slowed "
                               "by everybody's wrong passwords; if none is, somebody guesses passwords",
                               address);
    return arena_printf(arena, "%s makes most tries to sign in, for many accounts, last seen at %s", address, when);
}

static void log_kept(const char *kept, int64_t now_ms, struct arena *arena)
{
    const char *advice, *sentence = sign_in_crowd_sentence(kept, now_ms, arena, &advice);
    if (sentence)
        log_write(LOG_WARN, "api", "%s: %s", sentence, advice);
}

static int keep(struct db_conn *conn, void *context, struct error *err)
{
    return db_set_meta_in(conn, SIGN_IN_CROWD_META, context, err);
}

void sign_in_crowd_tell(struct db *db, const char *address, int64_t now_ms)
{
    struct arena arena;
    struct error err = {0};
    char text[LOG_TEXT_SIZE];
    arena_init(&arena);
    char *kept = arena_printf(&arena, "%" PRId64 " %s", now_ms, address);
    log_kept(kept, now_ms, &arena);
    if (db_write_alone(db, keep, kept, &err) < 0)
        log_write(LOG_WARN, "api", "the next start will not say it again cause=%s", log_text(err.message, text));
    arena_done(&arena);
}

int sign_in_crowd_remind(struct db *db, bool knows_proxies, int64_t now_ms, struct error *err)
{
    struct arena arena;
    const char *kept;
    arena_init(&arena);
    struct db_conn *conn = db_acquire(db);
    int rc = db_find_meta(conn, SIGN_IN_CROWD_META, &arena, &kept, err);
    db_give_back(db, conn);
    if (rc == 0 && kept && *kept && knows_proxies)
        rc = db_write_alone(db, keep, (char[]){""}, err);
    else if (rc == 0)
        log_kept(kept, now_ms, &arena);
    arena_done(&arena);
    return rc;
}
