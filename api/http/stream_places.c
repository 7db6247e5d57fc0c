#include "api/http/stream_places.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PERSONS_SHARE = 4,
    ADMINISTRATORS_SHARE = 8,
    WAKE_MS = 50,
    WAKES = 20
};

struct stream_place {
    char owner[UUID_SIZE]; // "" where it is free
    int socket;
};

void stream_places_init(struct stream_places *places, int place_count)
{
    *places = (struct stream_places){.place_count = place_count};
    pthread_mutex_init(&places->lock, NULL);
    condition_init(&places->given_back);
    places->places = memory_array((size_t)place_count, sizeof(*places->places));
}

void stream_places_done(struct stream_places *places)
{
    pthread_cond_destroy(&places->given_back);
    pthread_mutex_destroy(&places->lock);
    free(places->places);
}

static bool is_gone(int socket)
{
    struct pollfd look = {.fd = socket, .events = POLLRDHUP};
    return socket >= 0 && poll(&look, 1, 0) > 0;
}

bool stream_places_is_gone(struct stream_places *places, int place)
{
    return is_gone(places->places[place].socket); // written before the place was told
}

// Under the lock, as the two below. out_is_own: it is the owner's share that is used up.
static int take(struct stream_places *places, const struct stream_owner *owner, int *out_place, bool *out_is_own,
                struct error *err)
{
    int count = places->place_count, share = count < PERSONS_SHARE ? 1 : count / PERSONS_SHARE;
    int own = 0, taken = 0, free_place = -1;
    for (int i = 0; i < count; i++) {
        taken += places->places[i].owner[0] != '\0';
        own += strcmp(places->places[i].owner, owner->uuid) == 0;
        if (!places->places[i].owner[0])
            free_place = i;
    }
    *out_is_own = own >= share;
    if (own >= share)
        return error_set(err, ERROR_UNAVAILABLE, "streams: you hold %d, all that one account may have of %d", own,
                         count);
    if (free_place < 0 || (taken >= count - count / ADMINISTRATORS_SHARE && !owner->is_administrator))
        return error_set(err, ERROR_UNAVAILABLE, "streams: all %d places are taken", count);
    snprintf(places->places[free_place].owner, UUID_SIZE, "%s", owner->uuid);
    places->places[free_place].socket = owner->socket;
    *out_place = free_place;
    return 0;
}

// Whether a stream that is about to end is in the way.
static bool is_worth_waiting(const struct stream_places *places, const struct stream_owner *owner, bool is_own)
{
    for (int i = 0; i < places->place_count; i++) {
        const struct stream_place *place = &places->places[i];
        if (place->owner[0] && (!is_own || strcmp(place->owner, owner->uuid) == 0) && is_gone(place->socket))
            return true;
    }
    return false;
}

static void wait_for_one(struct stream_places *places)
{
    struct timespec until = condition_after(WAKE_MS);
    if (places->wake)
        places->wake(places->wake_context);
    pthread_cond_timedwait(&places->given_back, &places->lock, &until);
}

int stream_places_take(struct stream_places *places, const struct stream_owner *owner, int *out_place,
                       struct error *err)
{
    bool is_own;
    pthread_mutex_lock(&places->lock);
    int rc = take(places, owner, out_place, &is_own, err);
    for (int i = 0; rc < 0 && i < WAKES && is_worth_waiting(places, owner, is_own); i++) {
        wait_for_one(places);
        rc = take(places, owner, out_place, &is_own, err);
    }
    if (rc == 0)
        atomic_fetch_add(&places->taken, 1);
    pthread_mutex_unlock(&places->lock);
    return rc;
}

void stream_places_give_back(struct stream_places *places, int place)
{
    pthread_mutex_lock(&places->lock);
    places->places[place] = (struct stream_place){.socket = -1};
    atomic_fetch_sub(&places->taken, 1);
    pthread_cond_broadcast(&places->given_back);
    pthread_mutex_unlock(&places->lock);
}
