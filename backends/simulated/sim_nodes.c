#include "backends/simulated/sim_nodes.h"

#include "backends/facts.h"
#include "base/arena.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_MINIMUM = 64
};

void sim_nodes_done(struct sim_nodes *nodes)
{
    for (size_t i = 0; i < nodes->bucket_count; i++)
        for (struct sim_node *node = nodes->buckets[i], *next; node; node = next) {
            next = node->next;
            free(node->name);
            free(node);
        }
    free(nodes->buckets);
    *nodes = (struct sim_nodes){0};
}

static struct sim_node **bucket_of(const struct sim_nodes *nodes, const char *name)
{
    uint64_t hash = hash_text(HASH_START, name);
    return &nodes->buckets[(hash ^ hash >> 32) & (nodes->bucket_count - 1)];
}

static void grow(struct sim_nodes *nodes)
{
    struct sim_nodes old = *nodes;
    nodes->bucket_count = old.bucket_count ? old.bucket_count * 2 : BUCKETS_MINIMUM;
    nodes->buckets = memory_array(nodes->bucket_count, sizeof(struct sim_node *));
    for (size_t i = 0; i < old.bucket_count; i++)
        for (struct sim_node *node = old.buckets[i], *next; node; node = next) {
            next = node->next;
            struct sim_node **bucket = bucket_of(nodes, node->name);
            node->next = *bucket;
            *bucket = node;
        }
    free(old.buckets);
}

static void note_change(struct sim_nodes *nodes, struct sim_node *node)
{
    if (node->is_changed)
        return;
    node->is_changed = true;
    node->next_changed = nodes->changed;
    nodes->changed = node;
}

struct sim_node *sim_nodes_get(struct sim_nodes *nodes, const char *name)
{
    if (nodes->count >= nodes->bucket_count)
        grow(nodes);
    struct sim_node **bucket = bucket_of(nodes, name);
    for (struct sim_node *node = *bucket; node; node = node->next)
        if (strcmp(node->name, name) == 0)
            return node;
    struct sim_node *node = memory_array(1, sizeof(*node));
    *node = (struct sim_node){.name = memory_strdup(name), .next = *bucket};
    *bucket = node;
    nodes->count++;
    note_change(nodes, node);
    return node;
}

static void set_lost(struct sim_nodes *nodes, struct sim_node *node, bool is_lost)
{
    if (node->is_lost == is_lost)
        return;
    node->is_lost = is_lost;
    nodes->lost_count += is_lost ? 1 : (size_t)-1;
    note_change(nodes, node);
}

void sim_nodes_list(struct sim_nodes *nodes, const struct backend_node *list, size_t count)
{
    for (size_t i = 0; i < nodes->bucket_count; i++)
        for (struct sim_node *node = nodes->buckets[i]; node; node = node->next)
            node->is_listed = false;
    for (size_t i = 0; i < count; i++) {
        struct sim_node *node = sim_nodes_get(nodes, list[i].name);
        node->is_listed = true;
        set_lost(nodes, node, !list[i].ready || list[i].removed);
    }
    for (size_t i = 0; i < nodes->bucket_count; i++)
        for (struct sim_node *node = nodes->buckets[i]; node; node = node->next)
            if (!node->is_listed)
                set_lost(nodes, node, false);
}

void sim_nodes_use(struct sim_nodes *nodes, const char *name, int64_t cpu_milli, int64_t memory_bytes)
{
    struct sim_node *node = sim_nodes_get(nodes, name);
    node->cpu_milli += cpu_milli;
    node->memory_bytes += memory_bytes;
    note_change(nodes, node);
}

void sim_nodes_tell(struct sim_nodes *nodes, struct backend_facts *facts, int64_t time_ms)
{
    for (struct sim_node *node; (node = nodes->changed);) {
        nodes->changed = node->next_changed;
        node->is_changed = false;
        struct backend_fact *fact = backend_facts_add(facts, BACKEND_NODE_LOAD, "", 0, time_ms);
        snprintf(fact->node_name, sizeof(fact->node_name), "%s", node->name);
        fact->cpu_milli = node->is_lost ? -1 : node->cpu_milli;
        fact->memory_bytes = node->is_lost ? -1 : node->memory_bytes;
    }
}
