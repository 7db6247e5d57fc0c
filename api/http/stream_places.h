// The places of streams, each of which holds a thread while it lives: shared between people, so that one who opens many
// keeps nobody else out. A person has a quarter of them at most; the last eighth is for administrators of the tenant.
// Streams whose peer has gone end within a moment: who finds no place because of them waits for that.
#pragma once
#include "base/uuid.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct error;

struct stream_places {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    int place_count;
    struct stream_place *places; // of place_count
    atomic_int taken;
    void (*wake)(void *context); // streams that wait for something to tell; NULL: they look often enough
    void *wake_context;
};

// Who opens a stream.
struct stream_owner {
    const char *uuid;
    bool is_administrator;
    int socket; // of the connection, its own as long as it has the place; -1: not known
};

void stream_places_init(struct stream_places *places, int place_count);
void stream_places_done(struct stream_places *places);
// Sets out_place, to be given back. ERROR_UNAVAILABLE where none is left for the owner. O(places).
int stream_places_take(struct stream_places *places, const struct stream_owner *owner, int *out_place,
                       struct error *err);
void stream_places_give_back(struct stream_places *places, int place);
// Whether the peer of the place's connection has gone, or sends no more.
bool stream_places_is_gone(struct stream_places *places, int place);
