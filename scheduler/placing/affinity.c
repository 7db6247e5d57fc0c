#include "scheduler/placing/affinity.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct entry { // a node with the label
    struct node *node;
    const char *value;
};

struct best { // of a domain: where the first pod stands best
    uint32_t domain;
    uint32_t position; // of the node in the pool
    struct rating rating;
};

bool affinity_is_open(const struct workload *workload)
{
    return workload->spec->pod_affinity == POD_AFFINITY_REQUIRED && workload->counts.held == 0 &&
           workload->unit_count > 1;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = strcmp(left->value, right->value);
    return order ? order
                 : (left->node->position > right->node->position) - (left->node->position < right->node->position);
}

// As placement_place chooses: the better rating, then the first in the order of nodes.
static int compare_bests(const void *a, const void *b)
{
    const struct best *left = a, *right = b;
    int order = rating_compare(right->rating, left->rating);
    return order ? order : (left->position > right->position) - (left->position < right->position);
}

static size_t list_entries(const struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                           const struct node_set *set, struct arena *arena, struct entry *entries)
{
    struct node_set listed = set->nodes ? *set : placement_list(pool, set, arena);
    size_t count = 0;
    for (size_t i = 0; i < listed.count; i++) {
        struct node *node = &cycle->nodes[listed.nodes[i]];
        const char *value = placement_affinity_value(workload, node);
        if (value)
            entries[count++] = (struct entry){node, value};
    }
    qsort(entries, count, sizeof(*entries), compare_entries);
    return count;
}

struct affinity_domains affinity_find(struct cycle *cycle, const struct pool *pool, const struct pod *first,
                                      const struct node_set *set, struct arena *arena)
{
    struct entry *entries = arena_array(arena, pool->node_count, sizeof(*entries));
    size_t count = list_entries(cycle, pool, &cycle->workloads[first->workload], set, arena, entries);
    struct affinity_domains domains = {.nodes = arena_array(arena, count, sizeof(struct node *)),
                                       .first = arena_array(arena, count + 1, sizeof(*domains.first)),
                                       .order = arena_array(arena, count, sizeof(*domains.order))};
    struct best *bests = arena_array(arena, count, sizeof(*bests));
    uint32_t domain_count = 0;
    for (size_t i = 0; i < count;) {
        struct best best = {.domain = domain_count};
        bool fits = false;
        size_t start = i;
        for (; i < count && strcmp(entries[i].value, entries[start].value) == 0; i++) {
            struct best next = {.domain = domain_count, .position = entries[i].node->position};
            domains.nodes[i] = entries[i].node;
            if (!placement_rate(cycle, pool, first, entries[i].node, &next.rating))
                continue;
            if (!fits || compare_bests(&next, &best) < 0)
                best = next;
            fits = true;
        }
        domains.first[domain_count++] = start;
        if (fits)
            bests[domains.count++] = best;
    }
    domains.first[domain_count] = count;
    qsort(bests, domains.count, sizeof(*bests), compare_bests);
    for (size_t i = 0; i < domains.count; i++)
        domains.order[i] = bests[i].domain;
    return domains;
}

struct node_set affinity_nodes(const struct affinity_domains *domains, size_t i, struct arena *arena)
{
    size_t first = domains->first[domains->order[i]], end = domains->first[domains->order[i] + 1];
    uint32_t *nodes = arena_array(arena, end - first, sizeof(*nodes));
    for (size_t n = first; n < end; n++)
        nodes[n - first] = domains->nodes[n]->index;
    return (struct node_set){.nodes = nodes, .count = end - first};
}
