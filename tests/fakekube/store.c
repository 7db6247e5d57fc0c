#include "tests/fakekube/store.h"
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HISTORY_MAX = 100000
};

void store_init(struct store *store)
{
    memset(store, 0, sizeof(*store));
    pthread_mutex_init(&store->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    store->history_max = HISTORY_MAX;
    store->number = 1;
}

static void forget(struct store *store, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        revision_drop(store->history[i].before);
        revision_drop(store->history[i].after);
    }
    store->history_count -= count;
    memmove(store->history, store->history + count, store->history_count * sizeof(*store->history));
}

void store_done(struct store *store)
{
    forget(store, store->history_count);
    free(store->history);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        shelf_done(&store->shelves[i]);
        shelf_done(&store->kept[i]);
    }
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->lock);
}

void store_lock(struct store *store)
{
    pthread_mutex_lock(&store->lock);
}

void store_unlock(struct store *store)
{
    pthread_mutex_unlock(&store->lock);
}

struct revision *revision_keep(struct revision *revision)
{
    if (revision)
        revision->users++;
    return revision;
}

void revision_drop(struct revision *revision)
{
    if (!revision || --revision->users > 0)
        return;
    json_decref(revision->labels);
    json_decref(revision->fields);
    free(revision->key);
    free(revision->text);
    free(revision);
}

json_t *revision_value(const struct revision *revision)
{
    return json_loadb(revision->text, revision->length, 0, NULL);
}

// Members of metadata that are empty are left out, as the real server writes them.
static void drop_empty(json_t *metadata)
{
    static const char *const MAY_BE_EMPTY[] = {"labels", "annotations", "finalizers", "ownerReferences"};
    for (size_t i = 0; i < sizeof(MAY_BE_EMPTY) / sizeof(*MAY_BE_EMPTY); i++) {
        json_t *value = json_object_get(metadata, MAY_BE_EMPTY[i]);
        if (value && json_object_size(value) == 0 && json_array_size(value) == 0)
            json_object_del(metadata, MAY_BE_EMPTY[i]);
    }
}

static struct revision *make_revision(int resource, const char *key, json_t *value, int64_t number)
{
    char version[24];
    snprintf(version, sizeof(version), "%" PRId64, number);
    json_object_set_new(json_object_made(value, "metadata"), "resourceVersion", json_string(version));
    drop_empty(json_object_get(value, "metadata"));
    json_t *item = json_copy(value);
    json_object_del(item, "kind");
    json_object_del(item, "apiVersion");
    struct revision *revision = memory_array(1, sizeof(*revision));
    *revision = (struct revision){.users = 1, .number = number, .key = memory_strdup(key)};
    revision->text = json_dumps(item, JSON_COMPACT);
    revision->length = strlen(revision->text);
    json_decref(item);
    revision->labels = json_deep_copy(json_at(value, "metadata.labels"));
    revision->fields = resource_fields(resource, value);
    return revision;
}

size_t shelf_seek(const struct shelf *shelf, const char *key)
{
    size_t low = 0;
    for (size_t high = shelf->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (strcmp(shelf->items[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void shelf_done(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        revision_drop(shelf->items[i]);
    free(shelf->items);
    *shelf = (struct shelf){0};
}

static bool is_at(const struct shelf *shelf, size_t place, const char *key)
{
    return place < shelf->count && strcmp(shelf->items[place]->key, key) == 0;
}

// Sets or, with NULL, takes out what stands under key. The shelf owns the revision.
static void shelf_set(struct shelf *shelf, const char *key, struct revision *revision)
{
    size_t place = shelf_seek(shelf, key);
    struct revision *old = is_at(shelf, place, key) ? shelf->items[place] : NULL;
    if (!old && !revision)
        return;
    if (old && revision) {
        shelf->items[place] = revision;
    } else if (old) {
        shelf->count--;
        memmove(shelf->items + place, shelf->items + place + 1, (shelf->count - place) * sizeof(*shelf->items));
    } else {
        if (shelf->count == shelf->capacity) {
            shelf->capacity = shelf->capacity ? 2 * shelf->capacity : 64;
            shelf->items = memory_realloc(shelf->items, shelf->capacity * sizeof(*shelf->items));
        }
        memmove(shelf->items + place + 1, shelf->items + place, (shelf->count - place) * sizeof(*shelf->items));
        shelf->items[place] = revision;
        shelf->count++;
    }
    revision_drop(old);
}

static void copy_shelf(const struct shelf *from, struct shelf *to)
{
    *to = (struct shelf){.count = from->count, .capacity = from->count};
    to->items = memory_array(from->count + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->count; i++)
        to->items[i] = revision_keep(from->items[i]);
}

struct revision *store_find(struct store *store, int resource, const char *key)
{
    const struct shelf *shelf = &store->shelves[resource];
    size_t place = shelf_seek(shelf, key);
    return is_at(shelf, place, key) ? shelf->items[place] : NULL;
}

static void record(struct store *store, const struct change *change)
{
    if (store->history_count >= store->history_max) {
        size_t half = store->history_count - store->history_max / 2;
        store->dropped = store->history[half - 1].number;
        if (store->compacted < store->dropped)
            store->compacted = store->dropped;
        forget(store, half);
    }
    if (store->history_count == store->history_capacity) {
        store->history_capacity = store->history_capacity ? 2 * store->history_capacity : 256;
        store->history = memory_realloc(store->history, store->history_capacity * sizeof(*store->history));
    }
    store->history[store->history_count++] = *change;
    if (store->on_change)
        store->on_change(store->context, change);
    pthread_cond_broadcast(&store->changed);
}

struct revision *store_put(struct store *store, int resource, const char *key, json_t *value)
{
    struct revision *before = revision_keep(store_find(store, resource, key));
    struct revision *after = make_revision(resource, key, value, ++store->number);
    shelf_set(&store->shelves[resource], key, revision_keep(after));
    record(store, &(struct change){.number = after->number, .resource = resource, .before = before, .after = after});
    return after;
}

struct revision *store_remove(struct store *store, int resource, const char *key, json_t *value)
{
    struct revision *before = revision_keep(store_find(store, resource, key));
    if (!before)
        return NULL;
    json_t *last = value ? json_incref(value) : revision_value(before);
    struct revision *after = make_revision(resource, key, last, ++store->number);
    json_decref(last);
    shelf_set(&store->shelves[resource], key, NULL);
    record(store, &(struct change){store->number, resource, true, before, after});
    return after;
}

int store_state_at(struct store *store, int resource, int64_t number, struct shelf *out_shelf)
{
    if (number < store->compacted)
        return -1;
    copy_shelf(&store->shelves[resource], out_shelf);
    size_t first = store_history_after(store, number);
    for (size_t i = store->history_count; i > first; i--) {
        const struct change *change = &store->history[i - 1];
        if (change->resource == resource)
            shelf_set(out_shelf, change->after->key, revision_keep(change->before));
    }
    return 0;
}

size_t store_history_after(const struct store *store, int64_t number)
{
    size_t low = 0;
    for (size_t high = store->history_count; low < high;) {
        size_t middle = (low + high) / 2;
        if (store->history[middle].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void store_compact(struct store *store)
{
    store->compacted = store->number;
}

void store_checkpoint(struct store *store)
{
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        shelf_done(&store->kept[i]);
        copy_shelf(&store->shelves[i], &store->kept[i]);
    }
    store->kept_number = store->number;
}

int store_restore(struct store *store)
{
    if (!store->kept_number)
        return -1;
    forget(store, store->history_count);
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        shelf_done(&store->shelves[i]);
        copy_shelf(&store->kept[i], &store->shelves[i]);
    }
    store->number = store->compacted = store->dropped = store->kept_number;
    store->epoch++;
    pthread_cond_broadcast(&store->changed);
    return 0;
}
