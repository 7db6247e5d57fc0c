#include "backends/kubernetes/watch/kube_store.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_FIRST = 64
};

void kube_store_init(struct kube_store *store)
{
    *store = (struct kube_store){.bucket_count = BUCKETS_FIRST};
    store->buckets = memory_array(store->bucket_count, sizeof(*store->buckets));
}

void kube_store_done(struct kube_store *store)
{
    for (size_t i = 0; i < store->bucket_count; i++) {
        for (struct kube_entry *entry; (entry = store->buckets[i]);) {
            store->buckets[i] = entry->next;
            free(entry);
        }
    }
    free(store->buckets);
    *store = (struct kube_store){0};
}

static uint64_t hash_of(const char *namespace, const char *name)
{
    uint64_t hash = hash_text(hash_bytes(hash_text(HASH_START, namespace), "/", 1), name);
    return hash ^ hash >> 29;
}

struct kube_entry *kube_store_find(const struct kube_store *store, const char *namespace, const char *name)
{
    uint64_t hash = hash_of(namespace, name);
    struct kube_entry *entry = store->buckets[hash % store->bucket_count];
    while (entry && (entry->hash != hash || strcmp(entry->name, name) != 0 || strcmp(entry->namespace, namespace) != 0))
        entry = entry->next;
    return entry;
}

static void put(struct kube_store *store, struct kube_entry *entry)
{
    struct kube_entry **bucket = &store->buckets[entry->hash % store->bucket_count];
    entry->next = *bucket;
    *bucket = entry;
}

static void grow(struct kube_store *store)
{
    struct kube_store old = *store;
    store->bucket_count = old.bucket_count * 2;
    store->buckets = memory_array(store->bucket_count, sizeof(*store->buckets));
    for (size_t i = 0; i < old.bucket_count; i++) {
        for (struct kube_entry *entry; (entry = old.buckets[i]);) {
            old.buckets[i] = entry->next;
            put(store, entry);
        }
    }
    free(old.buckets);
}

static const char *put_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    const char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

struct kube_entry *kube_store_add(struct kube_store *store, const char *namespace, const char *name, const char *uid,
                                  const char *version)
{
    if (store->count >= store->bucket_count)
        grow(store);
    size_t size = strlen(namespace) + strlen(name) + strlen(uid) + strlen(version) + 4;
    struct kube_entry *entry = memory_alloc(sizeof(*entry) + size);
    char *at = entry->text;
    *entry = (struct kube_entry){.hash = hash_of(namespace, name),
                                 .namespace = put_text(&at, namespace),
                                 .name = put_text(&at, name),
                                 .uid = put_text(&at, uid),
                                 .version = put_text(&at, version)};
    put(store, entry);
    store->count++;
    return entry;
}

void kube_store_take(struct kube_store *store, struct kube_entry *entry)
{
    struct kube_entry **at = &store->buckets[entry->hash % store->bucket_count];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    store->count--;
}
