// All objects of the stand-in, their history, and one growing number as resourceVersion.
// A state of an object is a revision: JSON text that never changes, counted, shared by shelf, history and readers. A
// write makes a new one. The history is a list of changes; a state of the past is the present with changes undone.
// Everything here is called with the store's lock held, but for store_init and store_done.
#pragma once
#include "tests/fakekube/resources.h"
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct revision {
    size_t users;
    int64_t number; // its resourceVersion
    char *key;      // "namespace/name", or "name"
    char *text;     // JSON without kind and apiVersion, as items of lists are
    size_t length;
    json_t *labels; // NULL without labels
    json_t *fields; // resource_fields
};

struct change {
    int64_t number;
    int resource;
    bool is_gone;            // deleted: after is the last state, with the number of the deletion
    struct revision *before; // NULL: added
    struct revision *after;
};

struct shelf { // sorted by key
    struct revision **items;
    size_t count;
    size_t capacity;
};

struct store {
    pthread_mutex_t lock;
    pthread_cond_t changed; // broadcast at every change and every command to watches
    struct shelf shelves[RESOURCE_COUNT];
    struct change *history; // oldest first
    size_t history_count;
    size_t history_capacity;
    size_t history_max; // older changes are forgotten beyond this many
    int64_t number;
    int64_t compacted; // versions below this are refused
    int64_t dropped;   // changes up to this one are forgotten: an open watch may still read between the two
    int epoch;         // grows when the store goes back in time: watches end
    struct shelf kept[RESOURCE_COUNT];
    int64_t kept_number;                                           // 0: nothing kept
    void (*on_change)(void *context, const struct change *change); // may not write
    void *context;
};

void store_init(struct store *store);
void store_done(struct store *store);
void store_lock(struct store *store);
void store_unlock(struct store *store);

struct revision *revision_keep(struct revision *revision);
void revision_drop(struct revision *revision);           // NULL is fine
json_t *revision_value(const struct revision *revision); // parsed; a new reference

// Borrowed; NULL if there is none.
struct revision *store_find(struct store *store, int resource, const char *key);
// Writes value's new state and sets metadata.resourceVersion in value. Borrowed.
struct revision *store_put(struct store *store, int resource, const char *key, json_t *value);
// Removes it; value, if not NULL, is its last state, else what is there. Borrowed from the history.
struct revision *store_remove(struct store *store, int resource, const char *key, json_t *value);

// The first item whose key is not below key.
size_t shelf_seek(const struct shelf *shelf, const char *key);
void shelf_done(struct shelf *shelf);
// The state at a version, each item kept for the caller (shelf_done). -1: forgotten.
int store_state_at(struct store *store, int resource, int64_t number, struct shelf *out_shelf);
// The index in history of the first change after a version.
size_t store_history_after(const struct store *store, int64_t number);
// Refuses versions before now from here on.
void store_compact(struct store *store);
// Keeps the whole state; goes back to it, as etcd restored from a backup does.
void store_checkpoint(struct store *store);
int store_restore(struct store *store);
