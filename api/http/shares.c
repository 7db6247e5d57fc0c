#include "api/http/shares.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/places.h"
#include "base/timestamp.h"
#include "db/db.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    CALLER_READS_MAX = DB_DEFAULT_READERS / 2,
    WAIT_SECONDS = 10,
    CALLER_WAITS_PART = 8, // of the threads
    ALL_WAIT_PART = 4,
};
static const size_t ALL_BYTES_MAX = PLACE_BOUND_ANSWERS << 20;
static const size_t ALL_BODY_BYTES_MAX = PLACE_BOUND_BODIES << 20;

struct share {
    int subject_type;
    int64_t subject_id;
    size_t holders; // requests from begin to end; 0: the place is free
    size_t reading;
    size_t waiting;
    size_t bytes;
    size_t body_bytes;
};

struct shares {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_stopping;
    size_t waiting;
    size_t bytes;
    size_t body_bytes;
    size_t place_count;
    struct share *places;
};

struct shares *shares_create(size_t thread_count)
{
    struct shares *shares = memory_array(1, sizeof(*shares));
    condition_init(&shares->changed);
    pthread_mutex_init(&shares->lock, NULL);
    shares->place_count = thread_count;
    shares->places = memory_array(thread_count, sizeof(*shares->places));
    return shares;
}

void shares_destroy(struct shares *shares)
{
    if (!shares)
        return;
    pthread_cond_destroy(&shares->changed);
    pthread_mutex_destroy(&shares->lock);
    free(shares->places);
    free(shares);
}

void shares_read(struct shares *shares, size_t *out_bytes, size_t *out_body_bytes)
{
    pthread_mutex_lock(&shares->lock);
    *out_bytes = shares->bytes;
    *out_body_bytes = shares->body_bytes;
    pthread_mutex_unlock(&shares->lock);
}

void shares_stop(struct shares *shares)
{
    pthread_mutex_lock(&shares->lock);
    shares->is_stopping = true;
    pthread_cond_broadcast(&shares->changed);
    pthread_mutex_unlock(&shares->lock);
}

// The caller's place, else a free one: there are as many as threads.
static struct share *find_place(struct shares *shares, int subject_type, int64_t subject_id)
{
    struct share *unused = NULL;
    for (size_t i = 0; i < shares->place_count; i++) {
        struct share *place = &shares->places[i];
        if (place->holders > 0 && place->subject_id == subject_id && place->subject_type == subject_type)
            return place;
        if (place->holders == 0 && !unused)
            unused = place;
    }
    if (unused)
        *unused = (struct share){.subject_type = subject_type, .subject_id = subject_id};
    return unused;
}

static size_t caller_bytes_max(void)
{
    return places_part(PLACE_ANSWERS, PLACE_BOUND_ANSWERS) << 20;
}

static size_t caller_body_bytes_max(void)
{
    return places_part(PLACE_BODIES, PLACE_BOUND_BODIES) << 20;
}

static bool has_room(const struct shares *shares, const struct share *share)
{
    return share->reading < CALLER_READS_MAX && share->bytes < caller_bytes_max() &&
           (share->bytes == 0 || shares->bytes < ALL_BYTES_MAX);
}

// Each who waits holds a thread.
static bool may_wait(const struct shares *shares, const struct share *share)
{
    return share->waiting < shares->place_count / CALLER_WAITS_PART &&
           shares->waiting < shares->place_count / ALL_WAIT_PART;
}

// Under the lock, until there is room. Returns whether there is.
static bool wait_for_room(struct shares *shares, struct share *share)
{
    struct timespec until = condition_after(WAIT_SECONDS * 1000);
    bool may_read = has_room(shares, share) || may_wait(shares, share);
    share->waiting++;
    shares->waiting++;
    while (may_read && !has_room(shares, share))
        may_read = !shares->is_stopping && pthread_cond_timedwait(&shares->changed, &shares->lock, &until) != ETIMEDOUT;
    share->waiting--;
    shares->waiting--;
    return may_read;
}

int shares_begin(struct shares *shares, int subject_type, int64_t subject_id, struct share **out_share,
                 struct error *err)
{
    pthread_mutex_lock(&shares->lock);
    struct share *share = find_place(shares, subject_type, subject_id);
    bool may_read = false;
    if (share) {
        share->holders++;
        may_read = wait_for_room(shares, share);
        share->reading += may_read;
        share->holders -= !may_read;
    }
    pthread_mutex_unlock(&shares->lock);
    if (!may_read)
        return error_set(err, ERROR_UNAVAILABLE,
                         "%d of your requests are read at once, and %zu MiB of their answers"
                         " wait to be sent at most: try again when some have ended",
                         CALLER_READS_MAX, caller_bytes_max() >> 20);
    *out_share = share;
    return 0;
}

static bool may_hold(const struct shares *shares, const struct share *share, size_t held_bytes, size_t more)
{
    return share->body_bytes == held_bytes ||
           (share->body_bytes + more <= caller_body_bytes_max() && shares->body_bytes + more <= ALL_BODY_BYTES_MAX);
}

int shares_hold_body(struct shares *shares, int subject_type, int64_t subject_id, size_t bytes, struct held_body *held,
                     struct error *err)
{
    if (bytes <= held->bytes)
        return 0;
    size_t more = bytes - held->bytes;
    pthread_mutex_lock(&shares->lock);
    struct share *share = held->share ? held->share : find_place(shares, subject_type, subject_id);
    bool may = share && may_hold(shares, share, held->bytes, more);
    if (may) {
        share->holders += !held->share;
        share->body_bytes += more;
        shares->body_bytes += more;
        *held = (struct held_body){share, bytes};
    }
    pthread_mutex_unlock(&shares->lock);
    if (!may)
        return error_set(err, ERROR_UNAVAILABLE,
                         "body: %zu MiB of yours are taken in at once at most, and %zu MiB of all: try again when some"
                         " requests have ended",
                         caller_body_bytes_max() >> 20, ALL_BODY_BYTES_MAX >> 20);
    return 0;
}

void shares_give_body(struct shares *shares, const struct held_body *held)
{
    if (!held->share)
        return;
    pthread_mutex_lock(&shares->lock);
    held->share->holders--;
    held->share->body_bytes -= held->bytes;
    shares->body_bytes -= held->bytes;
    pthread_mutex_unlock(&shares->lock);
}

void shares_end_reading(struct shares *shares, struct share *share, size_t answer_bytes)
{
    pthread_mutex_lock(&shares->lock);
    share->reading--;
    share->bytes += answer_bytes;
    shares->bytes += answer_bytes;
    pthread_cond_broadcast(&shares->changed);
    pthread_mutex_unlock(&shares->lock);
}

void shares_end(struct shares *shares, struct share *share, size_t answer_bytes)
{
    pthread_mutex_lock(&shares->lock);
    share->holders--;
    share->bytes -= answer_bytes;
    shares->bytes -= answer_bytes;
    pthread_cond_broadcast(&shares->changed);
    pthread_mutex_unlock(&shares->lock);
}
