#include "scheduler/state/domains.h"

#include "base/arena.h"
#include "model/names.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/labels.h"
#include "scheduler/state/unit.h"

#include <string.h>

struct topology_cache {
    struct domain_tree *trees; // by topology; domains is NULL until built
};

static uint32_t find_child(struct domain_tree *tree, uint32_t parent, const char *id)
{
    for (uint32_t i = parent + 1; i < tree->count; i++) {
        if (tree->domains[i].parent == parent && strcmp(tree->domains[i].id, id) == 0)
            return i;
    }
    return SNAPSHOT_NONE;
}

static uint32_t place_node(struct cycle *cycle, struct domain_tree *tree, const struct snapshot_node *node)
{
    for (size_t level = 0; level < tree->spec->level_count; level++) {
        if (!node_label(node, tree->spec->levels[level]))
            return SNAPSHOT_NONE;
    }
    uint32_t domain = 0;
    for (size_t level = 0; level < tree->spec->level_count; level++) {
        const char *value = node_label(node, tree->spec->levels[level]);
        const char *id = level == 0 ? value : arena_printf(cycle->arena, "%s.%s", tree->domains[domain].id, value);
        uint32_t child = find_child(tree, domain, id);
        if (child == SNAPSHOT_NONE) {
            child = tree->count++;
            tree->domains[child] = (struct domain){.id = id, .level = (int)level, .parent = domain};
        }
        domain = child;
    }
    return domain;
}

static void build_tree(struct cycle *cycle, struct domain_tree *tree, uint32_t topology)
{
    const struct snapshot *snapshot = cycle->snapshot;
    tree->spec = &snapshot->topologies[topology];
    tree->domains =
        arena_array(cycle->scratch, snapshot->node_count * tree->spec->level_count + 1, sizeof(*tree->domains));
    tree->domains[0] = (struct domain){.id = "", .level = -1, .parent = SNAPSHOT_NONE};
    tree->count = 1;
    tree->lowest = arena_array(cycle->scratch, snapshot->node_count, sizeof(*tree->lowest));
    for (size_t n = 0; n < snapshot->node_count; n++)
        tree->lowest[n] = place_node(cycle, tree, &snapshot->nodes[n]);
}

const struct domain_tree *domain_tree_of(struct cycle *cycle, uint32_t topology)
{
    if (!cycle->topologies) {
        cycle->topologies = arena_alloc(cycle->scratch, sizeof(*cycle->topologies));
        cycle->topologies->trees =
            arena_array(cycle->scratch, cycle->snapshot->topology_count, sizeof(*cycle->topologies->trees));
    }
    struct domain_tree *tree = &cycle->topologies->trees[topology];
    if (!tree->domains)
        build_tree(cycle, tree, topology);
    return tree;
}

static uint32_t find_topology(const struct snapshot *snapshot, const char *name)
{
    for (size_t i = 0; name && i < snapshot->topology_count; i++) {
        if (strcmp(snapshot->topologies[i].name, name) == 0)
            return (uint32_t)i;
    }
    return SNAPSHOT_NONE;
}

const char *domains_pool_off(struct cycle *cycle, struct pool *pool)
{
    uint32_t topology = find_topology(cycle->snapshot, pool->spec->topology);
    if (pool->topology_is_known || topology == SNAPSHOT_NONE)
        return pool->topology_off;
    pool->topology_is_known = true;
    const struct domain_tree *tree = domain_tree_of(cycle, topology);
    const char **outside = arena_array(cycle->scratch, pool->node_count, sizeof(*outside));
    size_t count = 0;
    for (size_t i = 0; i < pool->node_count; i++) {
        if (tree->lowest[pool->node_indices[i]] == SNAPSHOT_NONE)
            outside[count++] = pool->nodes[i]->spec->name;
    }
    if (count > 0)
        pool->topology_off = names_topology_off(cycle->arena, tree->spec->name, pool->spec->name, outside, count);
    return pool->topology_off;
}

uint32_t domain_at_level(const struct domain_tree *tree, uint32_t domain, int level)
{
    while (tree->domains[domain].level > level)
        domain = tree->domains[domain].parent;
    return domain;
}

static bool is_in_unit(const struct workload *workload, uint32_t pod)
{
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        if (workload->unit[i] == pod)
            return true;
    }
    return false;
}

// Whether a pod of the unit stands in the same required-level domain as one of the group that stood there before; where
// there was none, as the first of the unit.
static bool is_kept(struct cycle *cycle, const struct workload *workload, const struct pod *placed, uint32_t group)
{
    const struct snapshot_topology_constraint *constraint = workload->groups[group].topology;
    const struct domain_tree *tree = domain_tree_of(cycle, constraint->topology);
    uint32_t lowest = tree->lowest[placed->state.place.node];
    if (lowest == SNAPSHOT_NONE)
        return false;
    uint32_t domain = domain_at_level(tree, lowest, (int)constraint->required);
    uint32_t unit_domain = SNAPSHOT_NONE, others = 0;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (!pod_status_is_held(pod->state.status) || !unit_is_below(workload, pod->group, group) ||
            tree->lowest[pod->state.place.node] == SNAPSHOT_NONE)
            continue;
        uint32_t theirs = domain_at_level(tree, tree->lowest[pod->state.place.node], (int)constraint->required);
        bool is_other = !is_in_unit(workload, pod->index);
        if (is_other && theirs == domain)
            return true;
        others += is_other;
        if (!is_other && unit_domain == SNAPSHOT_NONE)
            unit_domain = theirs;
    }
    return others == 0 && unit_domain == domain;
}

bool domains_hold_unit(struct cycle *cycle, const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        const struct pod *pod = &cycle->pods[workload->unit[i]];
        for (uint32_t g = pod->group; g != SNAPSHOT_NONE; g = workload->groups[g].parent) {
            const struct snapshot_topology_constraint *constraint = workload->groups[g].topology;
            if (constraint && constraint->required != SNAPSHOT_NONE && !is_kept(cycle, workload, pod, g))
                return false;
        }
    }
    return true;
}
