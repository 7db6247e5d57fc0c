#include "api/http/change_feed.h"

#include "base/arena.h"
#include "base/condition.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct change_feed {
    pthread_mutex_t lock;
    pthread_cond_t grown;
    struct db_change ring[CHANGE_FEED_SIZE];
    uint64_t count;    // ever added; the newest is at (count - 1) % CHANGE_FEED_SIZE
    int64_t forgotten; // the highest revision of which changes are no longer here
    int64_t last;      // the highest revision
};

static void add(const struct db_change *changes, size_t count, void *context)
{
    struct change_feed *feed = context;
    pthread_mutex_lock(&feed->lock);
    for (size_t i = 0; i < count; i++) {
        struct db_change *slot = &feed->ring[feed->count % CHANGE_FEED_SIZE];
        if (feed->count >= CHANGE_FEED_SIZE)
            feed->forgotten = slot->revision;
        *slot = changes[i];
        feed->count++;
        if (changes[i].revision > feed->last)
            feed->last = changes[i].revision;
    }
    pthread_cond_broadcast(&feed->grown);
    pthread_mutex_unlock(&feed->lock);
}

struct change_feed *change_feed_create(struct db *db)
{
    struct change_feed *feed = memory_array(1, sizeof(*feed));
    pthread_mutex_init(&feed->lock, NULL);
    condition_init(&feed->grown);
    feed->last = feed->forgotten = db_last_revision(db);
    db_add_listener(db, add, feed);
    return feed;
}

void change_feed_destroy(struct change_feed *feed)
{
    if (!feed)
        return;
    pthread_cond_destroy(&feed->grown);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

// The first place in the ring (counted as `count`) with a revision above after: they ascend.
static uint64_t first_above(const struct change_feed *feed, int64_t after)
{
    uint64_t low = feed->count > CHANGE_FEED_SIZE ? feed->count - CHANGE_FEED_SIZE : 0, high = feed->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (feed->ring[middle % CHANGE_FEED_SIZE].revision > after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool change_feed_read(struct change_feed *feed, int64_t after, struct db_change *out_changes, size_t maximum,
                      size_t *out_count)
{
    pthread_mutex_lock(&feed->lock);
    bool is_whole = after >= feed->forgotten && after <= feed->last;
    size_t count = 0;
    if (is_whole) {
        uint64_t at = first_above(feed, after);
        while (at < feed->count && count < maximum)
            out_changes[count++] = feed->ring[at++ % CHANGE_FEED_SIZE];
        // A revision that was cut in two is left for the next call.
        if (at < feed->count) {
            int64_t cut = feed->ring[at % CHANGE_FEED_SIZE].revision;
            while (count > 0 && out_changes[count - 1].revision == cut)
                count--;
            is_whole = count > 0;
        }
    }
    pthread_mutex_unlock(&feed->lock);
    *out_count = count;
    return is_whole;
}

bool change_feed_wait(struct change_feed *feed, int64_t after, int64_t wait_ms)
{
    struct timespec until = condition_after(wait_ms);
    pthread_mutex_lock(&feed->lock);
    if (feed->last <= after)
        pthread_cond_timedwait(&feed->grown, &feed->lock, &until);
    bool has_grown = feed->last > after;
    pthread_mutex_unlock(&feed->lock);
    return has_grown;
}

int64_t change_feed_last(struct change_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    int64_t last = feed->last;
    pthread_mutex_unlock(&feed->lock);
    return last;
}

void change_feed_wake(struct change_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    pthread_cond_broadcast(&feed->grown);
    pthread_mutex_unlock(&feed->lock);
}
