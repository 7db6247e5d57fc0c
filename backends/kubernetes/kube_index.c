#include "backends/kubernetes/kube_index.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct kube_index_slot {
    struct kube_index_slot *next;
    const char *key;
    void *value;
};

static struct kube_index_slot **find_slot(const struct kube_index *index, const char *key)
{
    struct kube_index_slot **at = &index->buckets[hash_text(HASH_START, key) & (index->bucket_count - 1)];
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

static void grow(struct kube_index *index)
{
    struct kube_index larger = {.bucket_count = index->bucket_count ? index->bucket_count * 2 : 64};
    larger.buckets = memory_array(larger.bucket_count, sizeof(struct kube_index_slot *));
    for (size_t i = 0; i < index->bucket_count; i++)
        for (struct kube_index_slot *slot = index->buckets[i], *next; slot; slot = next) {
            struct kube_index_slot **at = find_slot(&larger, slot->key);
            next = slot->next;
            slot->next = NULL;
            *at = slot;
        }
    larger.count = index->count;
    free(index->buckets);
    *index = larger;
}

void *kube_index_find(const struct kube_index *index, const char *key)
{
    struct kube_index_slot *slot = index->count ? *find_slot(index, key) : NULL;
    return slot ? slot->value : NULL;
}

void kube_index_set(struct kube_index *index, const char *key, void *value)
{
    if (index->count >= index->bucket_count)
        grow(index);
    struct kube_index_slot **at = find_slot(index, key);
    if (!*at) {
        *at = memory_array(1, sizeof(**at));
        index->count++;
    }
    (*at)->key = key;
    (*at)->value = value;
}

void *kube_index_take(struct kube_index *index, const char *key)
{
    if (index->count == 0)
        return NULL;
    struct kube_index_slot **at = find_slot(index, key), *slot = *at;
    if (!slot)
        return NULL;
    void *value = slot->value;
    *at = slot->next;
    free(slot);
    index->count--;
    return value;
}

void *kube_index_next(const struct kube_index *index, size_t *position, struct kube_index_slot **place)
{
    struct kube_index_slot *slot = *place; // the one that comes next in the present bucket
    while (!slot && *position < index->bucket_count)
        slot = index->buckets[(*position)++];
    *place = slot ? slot->next : NULL;
    return slot ? slot->value : NULL;
}

void kube_index_done(struct kube_index *index)
{
    for (size_t i = 0; i < index->bucket_count; i++)
        for (struct kube_index_slot *slot = index->buckets[i], *next; slot; slot = next) {
            next = slot->next;
            free(slot);
        }
    free(index->buckets);
    *index = (struct kube_index){0};
}
