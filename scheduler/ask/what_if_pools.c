#include "scheduler/ask/what_if_pools.h"

#include "base/arena.h"
#include "scheduler/resource.h"

#include <stdlib.h>

struct pool_room {
    uint32_t pool;
    bool has_node; // that is large enough
    int64_t free_milli;
};

static bool is_asked(const struct snapshot_workload *workload, uint32_t pool)
{
    for (size_t i = 0; i < workload->node_pool_count; i++)
        if (workload->node_pools[i] == pool)
            return true;
    return false;
}

static int64_t held_milli(const struct snapshot_pod *pod)
{
    return pod->gpu_devices * (pod->gpu_portion_milli > 0 ? pod->gpu_portion_milli : (int64_t)GPU_MILLI_PER_DEVICE);
}

static struct pool_room *measure(const struct snapshot *snapshot, uint32_t largest, struct arena *arena)
{
    struct pool_room *rooms = arena_array(arena, snapshot->node_pool_count, sizeof(*rooms));
    for (uint32_t p = 0; p < snapshot->node_pool_count; p++)
        rooms[p].pool = p;
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (!node->ready || node->cordoned)
            continue;
        rooms[node->node_pool].has_node |= node->gpu_count >= largest;
        rooms[node->node_pool].free_milli += (int64_t)node->gpu_count * GPU_MILLI_PER_DEVICE;
    }
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        const struct snapshot_pod *pod = &snapshot->pods[i];
        if (pod->node != SNAPSHOT_NONE && pod->status != SNAPSHOT_POD_SUCCEEDED && pod->status != SNAPSHOT_POD_FAILED)
            rooms[snapshot->nodes[pod->node].node_pool].free_milli -= held_milli(pod);
    }
    return rooms;
}

static int compare_rooms(const void *a, const void *b)
{
    const struct pool_room *one = a, *other = b;
    if (one->free_milli != other->free_milli)
        return one->free_milli > other->free_milli ? -1 : 1;
    return one->pool < other->pool ? -1 : 1;
}

size_t what_if_other_pools(const struct snapshot *snapshot, const struct snapshot_workload *workload,
                           struct arena *arena, uint32_t **out_pools)
{
    uint32_t largest = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        uint32_t devices = snapshot->pods[workload->first_pod + i].gpu_devices;
        largest = devices > largest ? devices : largest;
    }
    struct pool_room *rooms = measure(snapshot, largest, arena);
    if (snapshot->node_pool_count > 1)
        qsort(rooms, snapshot->node_pool_count, sizeof(*rooms), compare_rooms);
    uint32_t *pools = arena_array(arena, snapshot->node_pool_count, sizeof(*pools));
    for (size_t i = 0; i < snapshot->node_pool_count; i++)
        if (rooms[i].has_node && !is_asked(workload, rooms[i].pool))
            pools[count++] = rooms[i].pool;
    *out_pools = pools;
    return count;
}
