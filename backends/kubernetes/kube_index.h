// A table from texts to what the owner keeps. Not thread-safe.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct kube_index_slot;
struct kube_index {
    struct kube_index_slot **buckets;
    size_t bucket_count, count;
};

// NULL: none.
void *kube_index_find(const struct kube_index *index, const char *key);
// The key is borrowed, and lives as long as the value stays. What stood there is replaced.
void kube_index_set(struct kube_index *index, const char *key, void *value);
// What stood there; NULL: nothing did.
void *kube_index_take(struct kube_index *index, const char *key);
// The values, in no order: *position starts at 0. NULL: there are no more. What was returned last may be taken out.
void *kube_index_next(const struct kube_index *index, size_t *position, struct kube_index_slot **place);
// The values are the owner's.
void kube_index_done(struct kube_index *index);
