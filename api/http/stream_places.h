// The places of streams, each of which holds a thread while it lives: shared between people, so that one who opens many
// keeps nobody else out. A person has a quarter of them at most; the last eighth is for administrators of the tenant.
#pragma once
#include "base/uuid.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

struct stream_places {
    pthread_mutex_t lock;
    int place_count;
    char (*owners)[UUID_SIZE]; // of place_count; "" where it is free
    atomic_int taken;
};

void stream_places_init(struct stream_places *places, int place_count);
void stream_places_done(struct stream_places *places);
// Sets out_place, to be given back. owner: the uuid of who opens it. ERROR_UNAVAILABLE where none is left for the
// owner. O(places).
int stream_places_take(struct stream_places *places, const char *owner, bool is_administrator, int *out_place,
                       struct error *err);
void stream_places_give_back(struct stream_places *places, int place);
