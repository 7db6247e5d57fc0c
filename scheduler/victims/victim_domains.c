#include "base/arena.h"
#include "scheduler/state/domains.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/victims.h"

static uint32_t count_demands(const struct victims *victims, uint32_t group, int64_t *out_demand)
{
    const struct search *search = victims->search;
    const struct workload *workload = search->workload;
    *out_demand = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const struct pod *pod = &search->cycle->pods[workload->unit[i]];
        if (!unit_is_below(workload, pod->group, group))
            continue;
        *out_demand += victims_pending_milli(search, pod);
        count++;
    }
    return count;
}

// Rooms of a level's domains: idle, releasing and what the victims free.
static size_t measure_level(const struct victims *victims, const struct domain_tree *tree, int level, int64_t *rooms)
{
    struct search *search = victims->search;
    int64_t *by_domain = arena_array(&search->arena, tree->count, sizeof(*by_domain));
    for (size_t i = 0; i < search->pool->node_count; i++) {
        uint32_t node = search->pool->node_indices[i];
        if (tree->lowest[node] != SNAPSHOT_NONE)
            by_domain[domain_at_level(tree, tree->lowest[node], level)] += victims_node_milli(victims, node);
    }
    size_t count = 0;
    for (uint32_t d = 0; d < tree->count; d++) {
        if (tree->domains[d].level == level)
            rooms[count++] = by_domain[d];
    }
    return count;
}

static bool requires_level(const struct group *group, uint32_t topology, uint32_t level)
{
    return group->is_set && group->topology && group->topology->topology == topology &&
           group->topology->required == level;
}

// Whether the sets that require this level fit into its domains by first fit. A set inside another such set counts with
// it.
static bool level_may_suffice(struct victims *victims, uint32_t topology, uint32_t level)
{
    struct search *search = victims->search;
    const struct workload *workload = search->workload;
    const struct domain_tree *tree = domain_tree_of(search->cycle, topology);
    int64_t *rooms = arena_array(&search->arena, tree->count, sizeof(*rooms));
    int64_t *demands = arena_array(&search->arena, workload->group_count, sizeof(*demands));
    size_t room_count = measure_level(victims, tree, (int)level, rooms);
    size_t demand_count = 0;
    for (uint32_t g = 0; g < workload->group_count; g++) {
        bool is_inside = false;
        for (uint32_t up = workload->groups[g].parent; up != SNAPSHOT_NONE; up = workload->groups[up].parent)
            is_inside = is_inside || requires_level(&workload->groups[up], topology, level);
        if (requires_level(&workload->groups[g], topology, level) && !is_inside &&
            count_demands(victims, g, &demands[demand_count]) > 0)
            demand_count++;
    }
    return victims_first_fit(demands, demand_count, rooms, room_count);
}

bool victims_domains_may_suffice(struct victims *victims)
{
    const struct workload *workload = victims->search->workload;
    bool suffices = true;
    for (uint32_t g = 0; g < workload->group_count && suffices; g++) {
        const struct snapshot_topology_constraint *constraint = workload->groups[g].topology;
        if (!constraint || constraint->required == SNAPSHOT_NONE || !workload->groups[g].is_set)
            continue;
        bool is_known = false;
        for (uint32_t before = 0; before < g; before++)
            is_known =
                is_known || requires_level(&workload->groups[before], constraint->topology, constraint->required);
        suffices = is_known || level_may_suffice(victims, constraint->topology, constraint->required);
    }
    arena_clear(&victims->search->arena);
    return suffices;
}
