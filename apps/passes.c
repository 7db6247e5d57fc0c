#include "apps/passes.h"

#include "base/arena.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECRET_BYTES = 32
};

struct entry {
    bool is_used, is_code, is_over, is_asked;
    unsigned char hash[SECRET_BYTES];
    struct app_pass pass;
    int holds;
    int64_t used_us, asked_us;
};

struct passes {
    pthread_mutex_t lock;
    struct entry entries[PASSES_MAX];
};

struct passes *passes_create(void)
{
    struct passes *passes = memory_array(1, sizeof(*passes));
    pthread_mutex_init(&passes->lock, NULL);
    return passes;
}

void passes_destroy(struct passes *passes)
{
    if (!passes)
        return;
    pthread_mutex_destroy(&passes->lock);
    free(passes);
}

static void hash_text(const char *text, size_t length, unsigned char out[SECRET_BYTES])
{
    crypto_generichash(out, SECRET_BYTES, (const unsigned char *)text, length, NULL, 0);
}

static bool is_stale(const struct entry *entry, int64_t now_us)
{
    return entry->is_code && now_us - entry->used_us > PASS_CODE_SECONDS * INT64_C(1000000);
}

// A free entry, else of the person's own that nobody holds the one used last the longest ago where they have their
// part, else of all. Held ones stay, which are fewer than all: connections are bounded below PASSES_MAX.
static struct entry *make_room(struct passes *passes, const char *subject, int64_t now_us)
{
    struct entry *oldest = NULL, *own = NULL, *unused = NULL;
    int own_count = 0;
    for (int i = 0; i < PASSES_MAX; i++) {
        struct entry *entry = &passes->entries[i];
        bool is_free = !entry->is_used || ((is_stale(entry, now_us) || entry->is_over) && entry->holds == 0);
        if (is_free) {
            unused = unused ? unused : entry;
            continue;
        }
        bool is_own = strcmp(entry->pass.holder.subject, subject) == 0;
        own_count += is_own;
        if (entry->holds > 0)
            continue;
        if (!oldest || entry->used_us < oldest->used_us)
            oldest = entry;
        if (is_own && (!own || entry->used_us < own->used_us))
            own = entry;
    }
    return own_count >= PASSES_OF_ONE && own ? own : unused ? unused : oldest;
}

static void put(struct passes *passes, const struct app_pass *pass, bool is_code, int64_t now_us,
                char out_text[PASS_TEXT_SIZE])
{
    unsigned char secret[SECRET_BYTES];
    randombytes_buf(secret, sizeof(secret));
    sodium_bin2base64(out_text, PASS_TEXT_SIZE, secret, sizeof(secret), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    struct entry *entry = make_room(passes, pass->holder.subject, now_us);
    if (!entry)
        return; // the text is good for nothing
    *entry = (struct entry){.is_used = true, .is_code = is_code, .pass = *pass, .used_us = now_us, .asked_us = now_us};
    hash_text(out_text, strlen(out_text), entry->hash);
}

static struct entry *find(struct passes *passes, const char *text, size_t length, bool is_code, int64_t now_us)
{
    unsigned char hash[SECRET_BYTES];
    if (length != PASS_TEXT_SIZE - 1)
        return NULL;
    hash_text(text, length, hash);
    for (int i = 0; i < PASSES_MAX; i++) {
        struct entry *entry = &passes->entries[i];
        if (entry->is_used && !entry->is_over && entry->is_code == is_code && !is_stale(entry, now_us) &&
            sodium_memcmp(entry->hash, hash, sizeof(hash)) == 0)
            return entry;
    }
    return NULL;
}

void passes_issue(struct passes *passes, const struct app_pass *pass, int64_t now_us, char out_code[PASS_TEXT_SIZE])
{
    pthread_mutex_lock(&passes->lock);
    put(passes, pass, true, now_us, out_code);
    pthread_mutex_unlock(&passes->lock);
}

bool passes_peek(struct passes *passes, const char *code, size_t length, int64_t now_us, struct app_pass *out)
{
    pthread_mutex_lock(&passes->lock);
    const struct entry *entry = find(passes, code, length, true, now_us);
    if (entry)
        *out = entry->pass;
    pthread_mutex_unlock(&passes->lock);
    return entry != NULL;
}

static bool is_at(const struct app_pass *pass, const struct app_place *place)
{
    return !place || (pass->place.port == place->port && strcmp(pass->place.workload, place->workload) == 0);
}

bool passes_redeem(struct passes *passes, const char *code, size_t length, const struct app_place *place,
                   int64_t now_us, struct app_pass *out, char out_cookie[PASS_TEXT_SIZE])
{
    bool is_good = false;
    pthread_mutex_lock(&passes->lock);
    struct entry *entry = find(passes, code, length, true, now_us);
    if (entry && is_at(&entry->pass, place)) {
        *out = entry->pass;
        *entry = (struct entry){0};
        put(passes, out, false, now_us, out_cookie);
        is_good = true;
    }
    pthread_mutex_unlock(&passes->lock);
    return is_good;
}

int passes_hold(struct passes *passes, const char *cookie, size_t length, const struct app_place *place, int64_t now_us,
                struct app_pass *out)
{
    int number = -1;
    pthread_mutex_lock(&passes->lock);
    struct entry *entry = find(passes, cookie, length, false, now_us);
    if (entry && is_at(&entry->pass, place)) {
        *out = entry->pass;
        entry->used_us = now_us;
        entry->holds++;
        number = (int)(entry - passes->entries);
    }
    pthread_mutex_unlock(&passes->lock);
    return number;
}

void passes_let_go(struct passes *passes, int number)
{
    pthread_mutex_lock(&passes->lock);
    passes->entries[number].holds--;
    pthread_mutex_unlock(&passes->lock);
}

bool passes_is_over(struct passes *passes, int number)
{
    pthread_mutex_lock(&passes->lock);
    bool is_over = passes->entries[number].is_over;
    pthread_mutex_unlock(&passes->lock);
    return is_over;
}

int passes_next_to_ask(struct passes *passes, int64_t now_us, int64_t since_us, struct app_pass *out)
{
    int number = -1;
    pthread_mutex_lock(&passes->lock);
    for (int i = 0; i < PASSES_MAX && number < 0; i++) {
        struct entry *entry = &passes->entries[i];
        if (!entry->is_used || entry->holds == 0 || entry->is_over || entry->is_asked || entry->asked_us > since_us)
            continue;
        entry->is_asked = true;
        entry->asked_us = now_us;
        entry->holds++;
        *out = entry->pass;
        number = i;
    }
    pthread_mutex_unlock(&passes->lock);
    return number;
}

void passes_answer(struct passes *passes, int number, bool is_over)
{
    pthread_mutex_lock(&passes->lock);
    struct entry *entry = &passes->entries[number];
    entry->is_asked = false;
    entry->is_over = entry->is_over || is_over;
    entry->holds--;
    pthread_mutex_unlock(&passes->lock);
}
