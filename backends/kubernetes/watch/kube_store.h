// What is known of the objects of a watch: by namespace and name, with uid, version and what the owner keeps.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct kube_entry {
    struct kube_entry *next; // in its bucket
    uint64_t hash;
    void *kept;
    int64_t round;                                // the list that had it last
    const char *namespace, *name, *uid, *version; // in text
    char text[];
};

struct kube_store {
    struct kube_entry **buckets;
    size_t bucket_count, count;
};

void kube_store_init(struct kube_store *store);
// The entries' kept are the owner's to free before.
void kube_store_done(struct kube_store *store);
// NULL: unknown.
struct kube_entry *kube_store_find(const struct kube_store *store, const char *namespace, const char *name);
// There must be none of the name. The entry is the store's.
struct kube_entry *kube_store_add(struct kube_store *store, const char *namespace, const char *name, const char *uid,
                                  const char *version);
// The caller frees the entry.
void kube_store_take(struct kube_store *store, struct kube_entry *entry);
