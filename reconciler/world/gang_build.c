#include "reconciler/world/gang_build.h"

#include "model/pod.h"
#include "model/sub_groups.h"

#include <stdlib.h>
#include <string.h>

static const struct snapshot_topology_constraint NO_TOPOLOGY = {SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE};

// Pods of a gang stand close together where all its pools have the same network: in one domain of the lowest level if
// that can be, else of the next above.
static void set_topology_of_pools(const struct world *world, const struct cache_workload *workload,
                                  struct snapshot_workload *out)
{
    uint32_t topology = world->pool_topologies[out->node_pools[0]];
    for (size_t i = 1; i < out->node_pool_count; i++)
        if (world->pool_topologies[out->node_pools[i]] != topology)
            return;
    if (workload->min_pods < 2 || topology == SNAPSHOT_NONE || world->topologies[topology].level_count == 0)
        return;
    out->topology.topology = topology;
    out->topology.preferred = (uint32_t)(world->topologies[topology].level_count - 1);
}

static uint32_t find_level(const struct snapshot_topology *topology, const char *level)
{
    for (size_t i = 0; level && i < topology->level_count; i++)
        if (strcmp(topology->levels[i], level) == 0)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

// None where the topology, or both levels, are gone: what nobody can meet must not keep a workload waiting for ever.
static struct snapshot_topology_constraint resolve(const struct world *world, const struct topology_wish *wish)
{
    struct snapshot_topology_constraint constraint = {.topology = world_topology_by_name(world, wish->name)};
    if (constraint.topology == SNAPSHOT_NONE)
        return NO_TOPOLOGY;
    constraint.required = find_level(&world->topologies[constraint.topology], wish->required);
    constraint.preferred = find_level(&world->topologies[constraint.topology], wish->preferred);
    bool has_level = constraint.required != SNAPSHOT_NONE || constraint.preferred != SNAPSHOT_NONE;
    return has_level ? constraint : NO_TOPOLOGY;
}

static bool has_master(const struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++)
        if (workload->pods[i]->is_master)
            return true;
    return false;
}

// The minimum of an elastic gang with a master is each role's: workers alone are no gang.
static void set_roles(const struct cache_workload *workload, struct cache_pod *const *pods, struct arena *arena,
                      struct snapshot_workload *out, struct snapshot_pod *out_pods)
{
    enum {
        MASTER,
        WORKER,
        ROLE_COUNT
    };
    if (workload->min_pods < 2 || workload->min_pods >= workload->pods_wanted || !has_master(workload))
        return;
    struct snapshot_sub_group *groups = arena_array(arena, ROLE_COUNT, sizeof(*groups));
    for (int i = 0; i < ROLE_COUNT; i++)
        groups[i] = (struct snapshot_sub_group){.name = i == MASTER ? POD_ROLE_TEXT_MASTER : POD_ROLE_TEXT_WORKER,
                                                .parent = SNAPSHOT_NONE,
                                                .min_pods = i == MASTER ? 1 : (uint32_t)workload->min_pods - 1,
                                                .min_sub_groups = SNAPSHOT_MIN_ALL,
                                                .topology = NO_TOPOLOGY};
    out->sub_groups = groups;
    out->sub_group_count = ROLE_COUNT;
    for (size_t i = 0; i < out->pod_count; i++)
        out_pods[i].sub_group = pods[i]->is_master ? MASTER : WORKER;
}

struct by_name {
    const char *name;
    size_t place; // in the specification
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct by_name *)a)->name, ((const struct by_name *)b)->name);
}

// The scheduler has them in the order of their names.
static void set_sub_groups(const struct world *world, const struct sub_groups *asked, struct cache_pod *const *pods,
                           struct arena *arena, struct snapshot_workload *out, struct snapshot_pod *out_pods)
{
    struct by_name *sorted = arena_array(arena, asked->count, sizeof(*sorted));
    uint32_t *places = arena_array(arena, asked->count, sizeof(*places));
    for (size_t i = 0; i < asked->count; i++)
        sorted[i] = (struct by_name){asked->groups[i].name, i};
    qsort(sorted, asked->count, sizeof(*sorted), compare_names);
    for (uint32_t i = 0; i < asked->count; i++)
        places[sorted[i].place] = i;
    struct snapshot_sub_group *groups = arena_array(arena, asked->count, sizeof(*groups));
    for (size_t i = 0; i < asked->count; i++) {
        const struct sub_group *group = &asked->groups[sorted[i].place];
        groups[i] = (struct snapshot_sub_group){
            .name = group->name,
            .parent = group->parent == SUB_GROUP_NONE ? SNAPSHOT_NONE : places[group->parent],
            .min_pods = group->child_count ? 0 : (uint32_t)group->minimum,
            .min_sub_groups = group->child_count ? (uint32_t)group->minimum : SNAPSHOT_MIN_ALL,
            .topology = resolve(world, &group->topology)};
    }
    out->sub_groups = groups;
    out->sub_group_count = asked->count;
    out->min_sub_groups = (uint32_t)asked->minimum;
    for (size_t i = 0; i < out->pod_count; i++) {
        size_t place = sub_groups_of_pod(asked, pods[i]->is_master, pods[i]->pod_index);
        out_pods[i].sub_group = place == SUB_GROUP_NONE ? 0 : places[place];
    }
}

void gang_build(const struct world *world, const struct cache_workload *workload, struct cache_pod *const *pods,
                struct arena *arena, struct snapshot_workload *out, struct snapshot_pod *out_pods)
{
    struct sub_groups asked;
    sub_groups_parse(workload->sub_groups_json, arena, &asked);
    if (workload->sub_groups_json)
        out->topology = resolve(world, &asked.topology);
    else
        set_topology_of_pools(world, workload, out);
    if (asked.count > 0)
        set_sub_groups(world, &asked, pods, arena, out, out_pods);
    else
        set_roles(workload, pods, arena, out, out_pods);
}
