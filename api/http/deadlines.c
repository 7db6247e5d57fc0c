#include "api/http/deadlines.h"
#include "api/http/sockets.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/timestamp.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TICK_MS = 250,
    CHORE_REST_MS = 20,
    STACK_BYTES = 1 << 20
};

struct deadline {
    uint64_t ends; // packed
    int64_t at_us; // 0: the slot is free
    enum deadline_effect effect;
    bool has_passed;
    bool is_late; // passed just now
};

struct deadlines {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    deadlines_chore chore;
    void *context;
    bool is_stopping;
    int64_t chore_at_us;  // 0: nobody wants it
    int64_t chore_was_us; // when it last began
    bool is_idle;         // the thread waits without a time
    size_t capacity;
    size_t used_count;
    struct deadline slots[];
};

static bool cut_late(int fd, const struct connection_ends *ends, void *context)
{
    struct deadlines *deadlines = context;
    for (size_t i = 0; i < deadlines->capacity; i++) {
        struct deadline *slot = &deadlines->slots[i];
        if (slot->is_late && slot->ends == connection_ends_pack(ends))
            shutdown(fd, slot->effect == DEADLINE_ENDS_READING ? SHUT_RD : SHUT_RDWR);
    }
    return false;
}

// Under the mutex: while a slot is taken its worker holds the connection open, so the ends cannot belong to another.
static void pass_deadlines(struct deadlines *deadlines)
{
    int64_t now_us = timestamp_monotonic_us();
    bool is_any_late = false;
    for (size_t i = 0; i < deadlines->capacity; i++) {
        struct deadline *slot = &deadlines->slots[i];
        slot->is_late = slot->at_us != 0 && !slot->has_passed && slot->at_us <= now_us;
        slot->has_passed |= slot->is_late;
        is_any_late |= slot->is_late;
    }
    if (is_any_late)
        sockets_visit(cut_late, deadlines);
}

// Under the mutex: until a deadline may have passed, the chore is due or something changes.
static void wait_for_work(struct deadlines *deadlines)
{
    int64_t now_us = timestamp_monotonic_us(), until_us = now_us + TICK_MS * 1000;
    if (deadlines->chore_at_us != 0 && (deadlines->used_count == 0 || deadlines->chore_at_us < until_us))
        until_us = deadlines->chore_at_us;
    if (until_us <= now_us)
        return;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&deadlines->changed, &deadlines->mutex, &until);
}

// Under the mutex, which is given back while the chore runs.
static void do_chore(struct deadlines *deadlines)
{
    deadlines->chore_was_us = timestamp_monotonic_us();
    deadlines->chore_at_us = 0;
    pthread_mutex_unlock(&deadlines->mutex);
    int64_t wait_ms = deadlines->chore(deadlines->context);
    pthread_mutex_lock(&deadlines->mutex);
    if (wait_ms > 0 && deadlines->chore_at_us == 0)
        deadlines->chore_at_us = timestamp_monotonic_us() + wait_ms * 1000;
}

static void *run(void *context)
{
    struct deadlines *deadlines = context;
    pthread_mutex_lock(&deadlines->mutex);
    while (!deadlines->is_stopping) {
        deadlines->is_idle = deadlines->used_count == 0 && deadlines->chore_at_us == 0;
        if (deadlines->is_idle) {
            pthread_cond_wait(&deadlines->changed, &deadlines->mutex);
            continue;
        }
        wait_for_work(deadlines);
        pass_deadlines(deadlines);
        if (deadlines->chore_at_us != 0 && deadlines->chore_at_us <= timestamp_monotonic_us())
            do_chore(deadlines);
    }
    pthread_mutex_unlock(&deadlines->mutex);
    return NULL;
}

struct deadlines *deadlines_create(size_t capacity, deadlines_chore chore, void *context, struct error *err)
{
    struct deadlines *deadlines = memory_alloc(sizeof(*deadlines) + capacity * sizeof(struct deadline));
    *deadlines = (struct deadlines){.capacity = capacity, .chore = chore, .context = context};
    memset(deadlines->slots, 0, capacity * sizeof(struct deadline));
    condition_init(&deadlines->changed);
    pthread_mutex_init(&deadlines->mutex, NULL);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int failed = pthread_create(&deadlines->thread, &attributes, run, deadlines);
    pthread_attr_destroy(&attributes);
    if (failed) {
        error_set(err, ERROR_INTERNAL, "housekeeping thread: %s", strerror(failed));
        free(deadlines);
        return NULL;
    }
    return deadlines;
}

void deadlines_destroy(struct deadlines *deadlines)
{
    if (!deadlines)
        return;
    pthread_mutex_lock(&deadlines->mutex);
    deadlines->is_stopping = true;
    pthread_cond_signal(&deadlines->changed);
    pthread_mutex_unlock(&deadlines->mutex);
    pthread_join(deadlines->thread, NULL);
    pthread_cond_destroy(&deadlines->changed);
    pthread_mutex_destroy(&deadlines->mutex);
    free(deadlines);
}

void deadlines_wake(struct deadlines *deadlines, int64_t wait_ms)
{
    int64_t at_us = timestamp_monotonic_us() + wait_ms * 1000;
    pthread_mutex_lock(&deadlines->mutex);
    if (at_us < deadlines->chore_was_us + CHORE_REST_MS * 1000)
        at_us = deadlines->chore_was_us + CHORE_REST_MS * 1000;
    if (deadlines->chore_at_us == 0 || at_us < deadlines->chore_at_us) {
        deadlines->chore_at_us = at_us;
        pthread_cond_signal(&deadlines->changed);
    }
    pthread_mutex_unlock(&deadlines->mutex);
}

size_t deadlines_begin(struct deadlines *deadlines, const struct connection_ends *ends, int64_t wait_ms,
                       enum deadline_effect effect)
{
    size_t slot = deadlines->capacity;
    int64_t at_us = timestamp_monotonic_us() + wait_ms * 1000;
    pthread_mutex_lock(&deadlines->mutex);
    for (size_t i = 0; i < deadlines->capacity && slot == deadlines->capacity; i++) {
        if (deadlines->slots[i].at_us == 0)
            slot = i;
    }
    if (slot < deadlines->capacity) {
        deadlines->slots[slot] =
            (struct deadline){.ends = connection_ends_pack(ends), .at_us = at_us, .effect = effect};
        deadlines->used_count++;
        if (deadlines->is_idle)
            pthread_cond_signal(&deadlines->changed);
    }
    pthread_mutex_unlock(&deadlines->mutex);
    return slot;
}

bool deadlines_end(struct deadlines *deadlines, size_t slot)
{
    if (slot >= deadlines->capacity)
        return false;
    pthread_mutex_lock(&deadlines->mutex);
    bool has_passed = deadlines->slots[slot].has_passed;
    deadlines->slots[slot].at_us = 0;
    deadlines->used_count--;
    pthread_mutex_unlock(&deadlines->mutex);
    return has_passed;
}
