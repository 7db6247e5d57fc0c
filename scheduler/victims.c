#include "scheduler/victims.h"

#include "scheduler/node.h"
#include "scheduler/queue.h"
#include "scheduler/rules.h"
#include "scheduler/topology.h"
#include "scheduler/unit.h"

#include <stdlib.h>
#include <string.h>

int64_t victims_pending_milli(const struct search *search, const struct pod *pod)
{
    return request_gpu_milli(&pod->request, search->pool->largest_gpu_memory_mib);
}

int64_t victims_node_milli(const struct victims *victims, uint32_t node)
{
    return node_free_gpu_milli(victims->search->cycle->snapshot, &victims->search->cycle->nodes[node]) +
           victims->freed_milli[node];
}

static struct amounts pod_amounts(const struct cycle *cycle, const struct pod *pod)
{
    return request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib);
}

static void find_same_milli(struct victims *victims)
{
    const struct search *search = victims->search;
    const struct workload *workload = search->workload;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const int64_t milli = victims_pending_milli(search, &search->cycle->pods[workload->unit[i]]);
        if (i == 0)
            victims->same_milli = milli;
        else if (victims->same_milli != milli)
            victims->same_milli = -1;
    }
}

// How many pods of the same request the node has room for.
static int64_t places_on(const struct victims *victims, uint32_t node)
{
    const int64_t milli = victims_node_milli(victims, node);
    return milli > 0 ? milli / victims->same_milli : 0;
}

static void free_pod(struct victims *victims, const struct pod *pod)
{
    const uint32_t node = pod->state.place.node;
    const bool counts = victims->same_milli > 0;
    if (counts)
        victims->place_count -= places_on(victims, node);
    victims->freed_milli[node] += pod_amounts(victims->search->cycle, pod).of[RESOURCE_GPU];
    if (counts)
        victims->place_count += places_on(victims, node);
}

void victims_open(struct victims *victims, struct search *search)
{
    struct cycle *cycle = search->cycle;
    struct arena *arena = &search->probe_arena;
    *victims = (struct victims){.search = search};
    size_t pods = 0;
    for (size_t i = 0; i < search->candidate_count; i++)
        pods += search->candidates[i]->counts.held;
    victims->units = arena_array(arena, pods, sizeof *victims->units);
    victims->pods = arena_array(arena, pods, sizeof *victims->pods);
    victims->last_unit = arena_array(arena, cycle->snapshot->workload_count, sizeof *victims->last_unit);
    victims->is_recorded = arena_array(arena, cycle->snapshot->pod_count, sizeof *victims->is_recorded);
    victims->freed_milli = arena_array(arena, cycle->snapshot->node_count, sizeof *victims->freed_milli);
    victims->recorded_milli = arena_array(arena, cycle->snapshot->node_count, sizeof *victims->recorded_milli);
    find_same_milli(victims);
    for (size_t i = 0; i < search->pool->node_count && victims->same_milli > 0; i++)
        victims->place_count += places_on(victims, search->pool->node_indices[i]);
    for (size_t i = 0; i < search->recorded.count; i++) {
        const struct pod *pod = &cycle->pods[search->recorded.pods[i]];
        victims->is_recorded[pod->index] = true;
        free_pod(victims, pod);
        victims->recorded_milli[pod->state.place.node] += pod_amounts(cycle, pod).of[RESOURCE_GPU];
    }
    walk_open(&victims->walk, cycle, search->pool, WALK_YIELD, search->candidates, search->candidate_count,
              SNAPSHOT_COUNT_UNLIMITED, arena);
}

bool victims_take(struct victims *victims)
{
    struct search *search = victims->search;
    struct cycle *cycle = search->cycle;
    for (struct workload *workload = walk_next(&victims->walk); workload; workload = walk_next(&victims->walk)) {
        uint32_t *pods = victims->pods + victims->pod_count;
        const uint32_t count = unit_take_victims(cycle, workload, pods);
        struct amounts popped = {0};
        bool is_recorded = false;
        uint32_t left = workload->counts.held;
        for (uint32_t i = 0; i < count; i++) {
            popped = amounts_add(popped, pod_amounts(cycle, &cycle->pods[pods[i]]));
            is_recorded = is_recorded || victims->is_recorded[pods[i]];
        }
        for (uint32_t g = 0; g < workload->group_count; g++)
            left -= workload->groups[g].taken;
        walk_count_popped(&victims->walk, workload, popped);
        if (left > 0)
            walk_push_back(&victims->walk, workload);
        if (is_recorded || count == 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            free_pod(victims, &cycle->pods[pods[i]]);
        victims->units[victims->unit_count++] = (struct victim_unit){
            .pods = pods, .count = count, .is_last = left == 0, .previous = victims->last_unit[workload->index]};
        victims->last_unit[workload->index] = victims->unit_count;
        victims->pod_count += count;
        return true;
    }
    return false;
}

void victims_close(struct victims *victims)
{
    for (size_t i = 0; i < victims->search->candidate_count; i++)
        unit_give_back(victims->search->cycle, victims->search->candidates[i]);
}

static int compare_descending(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

// Largest demand first, each into the first of the nodes (largest first) that still has room.
static bool first_fit(int64_t *demands, size_t demand_count, int64_t *rooms, size_t room_count)
{
    qsort(demands, demand_count, sizeof *demands, compare_descending);
    qsort(rooms, room_count, sizeof *rooms, compare_descending);
    for (size_t d = 0; d < demand_count; d++) {
        size_t i = 0;
        while (i < room_count && rooms[i] < demands[d])
            i++;
        if (i == room_count)
            return false;
        rooms[i] -= demands[d];
    }
    return true;
}

static bool gpus_may_suffice(const struct victims *victims)
{
    struct search *search = victims->search;
    if (victims->same_milli >= 0)
        return victims->same_milli == 0 || victims->place_count >= search->pending_count;
    int64_t *demands = arena_array(&search->arena, search->pending_count, sizeof *demands);
    int64_t *rooms = arena_array(&search->arena, search->pool->node_count, sizeof *rooms);
    for (uint32_t i = 0; i < search->pending_count; i++)
        demands[i] = victims_pending_milli(search, &search->cycle->pods[search->workload->unit[i]]);
    for (size_t i = 0; i < search->pool->node_count; i++)
        rooms[i] = victims_node_milli(victims, search->pool->node_indices[i]);
    const bool suffices = first_fit(demands, search->pending_count, rooms, search->pool->node_count);
    arena_clear(&search->arena);
    return suffices;
}

// Every pending pod has a node that may take it, among feasible nodes and those of victims.
static bool nodes_may_match(const struct victims *victims)
{
    struct search *search = victims->search;
    const struct cycle *cycle = search->cycle;
    const bool *checked = NULL;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const bool *accepts = rules_accepting_nodes(search->cycle, &cycle->pods[search->workload->unit[i]]);
        if (accepts == checked)
            continue;
        checked = accepts;
        bool found = false;
        for (size_t n = 0; n < search->pool->node_count && !found; n++) {
            const uint32_t node = search->pool->node_indices[n];
            found = accepts[node] && (search->feasible[node] || victims->freed_milli[node] > 0);
        }
        for (size_t p = 0; p < victims->pod_count && !found; p++)
            found = accepts[cycle->pods[victims->pods[p]].state.place.node];
        for (size_t p = 0; p < search->recorded.count && !found; p++)
            found = accepts[cycle->pods[search->recorded.pods[p]].state.place.node];
        if (!found)
            return false;
    }
    return true;
}

bool victims_may_suffice(struct victims *victims)
{
    return gpus_may_suffice(victims) && nodes_may_match(victims) && topology_may_suffice(victims);
}
