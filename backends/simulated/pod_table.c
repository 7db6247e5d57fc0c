#include "backends/simulated/pod_table.h"

#include "base/arena.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pod_table_init(struct pod_table *table)
{
    *table = (struct pod_table){.bucket_count = 64};
    table->buckets = memory_array(table->bucket_count, sizeof(struct sim_pod *));
    table->heap = memory_array(table->bucket_count, sizeof(struct sim_pod *));
}

static void destroy_pod(struct sim_pod *pod)
{
    free(pod->node_name);
    free(pod);
}

void pod_table_done(struct pod_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        destroy_pod(table->heap[i]);
    free(table->buckets);
    free(table->heap);
    *table = (struct pod_table){0};
}

static struct sim_pod **bucket_of(const struct pod_table *table, const char *uuid)
{
    return &table->buckets[(hash_text(HASH_START, uuid) >> 17) & (table->bucket_count - 1)];
}

static void grow(struct pod_table *table)
{
    table->bucket_count *= 2;
    free(table->buckets);
    table->buckets = memory_array(table->bucket_count, sizeof(struct sim_pod *));
    table->heap = memory_realloc(table->heap, table->bucket_count * sizeof(struct sim_pod *));
    for (size_t i = 0; i < table->count; i++) {
        struct sim_pod **bucket = bucket_of(table, table->heap[i]->uuid);
        table->heap[i]->next = *bucket;
        *bucket = table->heap[i];
    }
}

struct sim_pod *pod_table_find(const struct pod_table *table, const char *uuid)
{
    struct sim_pod *pod = *bucket_of(table, uuid);
    while (pod && strcmp(pod->uuid, uuid) != 0)
        pod = pod->next;
    return pod;
}

static bool is_before(const struct sim_pod *a, const struct sim_pod *b)
{
    if (a->due < b->due || a->due > b->due)
        return a->due < b->due;
    return strcmp(a->uuid, b->uuid) < 0;
}

static void place(struct pod_table *table, size_t index, struct sim_pod *pod)
{
    table->heap[index] = pod;
    pod->heap_index = index;
}

static void sift(struct pod_table *table, struct sim_pod *pod)
{
    size_t i = pod->heap_index;
    while (i > 0 && is_before(pod, table->heap[(i - 1) / 2])) {
        place(table, i, table->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < table->count && is_before(table->heap[child + 1], table->heap[child]))
            child++;
        if (child >= table->count || !is_before(table->heap[child], pod))
            break;
        place(table, i, table->heap[child]);
        i = child;
    }
    place(table, i, pod);
}

struct sim_pod *pod_table_add(struct pod_table *table, const char *uuid, const char *node_name)
{
    if (table->count == table->bucket_count)
        grow(table);
    struct sim_pod *pod = memory_array(1, sizeof(*pod));
    snprintf(pod->uuid, sizeof(pod->uuid), "%s", uuid);
    pod->node_name = memory_strdup(node_name ? node_name : "");
    pod->due = INFINITY;
    struct sim_pod **bucket = bucket_of(table, pod->uuid);
    pod->next = *bucket;
    *bucket = pod;
    place(table, table->count++, pod);
    sift(table, pod);
    return pod;
}

void pod_table_remove(struct pod_table *table, struct sim_pod *pod)
{
    struct sim_pod **link = bucket_of(table, pod->uuid);
    while (*link != pod)
        link = &(*link)->next;
    *link = pod->next;
    struct sim_pod *last = table->heap[--table->count];
    if (last != pod) {
        last->heap_index = pod->heap_index;
        sift(table, last);
    }
    destroy_pod(pod);
}

void pod_table_set_due(struct pod_table *table, struct sim_pod *pod, double due)
{
    pod->due = due;
    sift(table, pod);
}

struct sim_pod *pod_table_first(const struct pod_table *table)
{
    return table->count ? table->heap[0] : NULL;
}
