#include "api/http/stream_places.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PERSONS_SHARE = 4,
    ADMINISTRATORS_SHARE = 8
};

void stream_places_init(struct stream_places *places, int place_count)
{
    pthread_mutex_init(&places->lock, NULL);
    places->place_count = place_count;
    places->owners = memory_array((size_t)place_count, sizeof(*places->owners));
}

void stream_places_done(struct stream_places *places)
{
    pthread_mutex_destroy(&places->lock);
    free(places->owners);
}

// Under the lock.
static int take(struct stream_places *places, const char *owner, bool is_administrator, int *out_place,
                struct error *err)
{
    int count = places->place_count, share = count < PERSONS_SHARE ? 1 : count / PERSONS_SHARE;
    int own = 0, taken = 0, free_place = -1;
    for (int i = 0; i < count; i++) {
        taken += places->owners[i][0] != '\0';
        own += strcmp(places->owners[i], owner) == 0;
        if (!places->owners[i][0])
            free_place = i;
    }
    if (own >= share)
        return error_set(err, ERROR_UNAVAILABLE, "streams: you hold %d, all that one account may have of %d", own,
                         count);
    if (free_place < 0 || (taken >= count - count / ADMINISTRATORS_SHARE && !is_administrator))
        return error_set(err, ERROR_UNAVAILABLE, "streams: all %d places are taken", count);
    snprintf(places->owners[free_place], UUID_SIZE, "%s", owner);
    *out_place = free_place;
    return 0;
}

int stream_places_take(struct stream_places *places, const char *owner, bool is_administrator, int *out_place,
                       struct error *err)
{
    pthread_mutex_lock(&places->lock);
    int rc = take(places, owner, is_administrator, out_place, err);
    if (rc == 0)
        atomic_fetch_add(&places->taken, 1);
    pthread_mutex_unlock(&places->lock);
    return rc;
}

void stream_places_give_back(struct stream_places *places, int place)
{
    pthread_mutex_lock(&places->lock);
    places->owners[place][0] = '\0';
    atomic_fetch_sub(&places->taken, 1);
    pthread_mutex_unlock(&places->lock);
}
