// The published cycle: one thread replaces it, any may hold it.
#pragma once
#include "reconciler/reconciler.h"
#include "reconciler/world/world.h"

#include <pthread.h>

struct view {
    struct reconciler_view shown; // first: what others hold is a pointer to it
    atomic_int references;
    struct arena arena; // of snapshot and plan
    struct world *world;
};

struct view_slot {
    pthread_mutex_t lock;
    struct view *view;
};

void view_slot_init(struct view_slot *slot);
void view_slot_done(struct view_slot *slot);
// A view with an empty arena; reference 1.
struct view *view_create(struct world *world);
struct view *view_acquire(struct view_slot *slot); // NULL where nothing was published
void view_release(struct view *view);              // NULL is fine
// Takes the caller's reference over.
void view_publish(struct view_slot *slot, struct view *view);
