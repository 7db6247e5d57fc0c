#include "api/shares.h"

#include "base/arena.h"
#include "base/error.h"
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
};
static const size_t CALLER_BYTES_MAX = 16 << 20;
static const size_t ALL_BYTES_MAX = 64 << 20;

struct share {
    int subject_type;
    int64_t subject_id;
    size_t holders; // requests from begin to end; 0: the place is free
    size_t reading;
    size_t bytes;
};

struct shares {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_stopping;
    size_t bytes;
    size_t place_count;
    struct share *places;
};

struct shares *shares_create(size_t thread_count)
{
    struct shares *shares = memory_array(1, sizeof(*shares));
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&shares->changed, &attributes);
    pthread_condattr_destroy(&attributes);
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

static bool has_room(const struct shares *shares, const struct share *share)
{
    return share->reading < CALLER_READS_MAX && share->bytes < CALLER_BYTES_MAX &&
           (share->bytes == 0 || shares->bytes < ALL_BYTES_MAX);
}

int shares_begin(struct shares *shares, int subject_type, int64_t subject_id, struct share **out_share,
                 struct error *err)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&shares->lock);
    struct share *share = find_place(shares, subject_type, subject_id);
    bool may_read = share != NULL;
    if (share)
        share->holders++;
    while (may_read && !has_room(shares, share))
        may_read = !shares->is_stopping && pthread_cond_timedwait(&shares->changed, &shares->lock, &until) != ETIMEDOUT;
    if (may_read)
        share->reading++;
    else if (share)
        share->holders--;
    pthread_mutex_unlock(&shares->lock);
    if (!may_read)
        return error_set(err, ERROR_UNAVAILABLE,
                         "%d of your requests are read at once, and %zu MiB of their answers"
                         " wait to be sent at most: try again when some have ended",
                         CALLER_READS_MAX, CALLER_BYTES_MAX >> 20);
    *out_share = share;
    return 0;
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
