#include "scheduler/state/rooms.h"

#include "base/arena.h"
#include "scheduler/state/node.h"

static uint8_t clamp(int64_t gpus, uint32_t most)
{
    return (uint8_t)(gpus < 0 ? 0 : gpus > most ? most : gpus);
}

static void set_bit(uint64_t *rows, const struct rooms *rooms, size_t row, uint32_t position, bool is_set)
{
    uint64_t *word = &rows[row * rooms->words + position / 64];
    const uint64_t bit = UINT64_C(1) << position % 64;
    *word = is_set ? *word | bit : *word & ~bit;
}

static void enter(struct rooms *rooms, uint32_t position, const struct node *node)
{
    const uint8_t free = clamp(node_free(node, DIMENSION_GPU), rooms->most_gpus);
    const uint8_t idle = clamp(node->idle[DIMENSION_GPU], rooms->most_gpus);
    if (free != rooms->free_of[position]) {
        set_bit(rooms->free, rooms, rooms->free_of[position], position, false);
        set_bit(rooms->free, rooms, free, position, true);
        rooms->free_of[position] = free;
    }
    for (; rooms->idle_of[position] < idle; rooms->idle_of[position]++)
        set_bit(rooms->idle, rooms, rooms->idle_of[position] + 1U, position, true);
    for (; rooms->idle_of[position] > idle; rooms->idle_of[position]--)
        set_bit(rooms->idle, rooms, rooms->idle_of[position], position, false);
}

static struct rooms *make(struct cycle *cycle, const struct pool *pool)
{
    struct rooms *rooms = arena_alloc(cycle->scratch, sizeof *rooms);
    for (size_t i = 0; i < pool->node_count; i++) {
        if (pool->nodes[i]->capacity[DIMENSION_GPU] > rooms->most_gpus)
            rooms->most_gpus = (uint32_t)pool->nodes[i]->capacity[DIMENSION_GPU];
    }
    rooms->words = (pool->node_count + 63) / 64;
    if (rooms->most_gpus > ROOMS_MOST_GPUS || pool->spec->gpu_placement != PLACEMENT_BINPACK) {
        rooms->words = 0;
        return rooms;
    }
    rooms->free = arena_array(cycle->scratch, (rooms->most_gpus + 1) * rooms->words, sizeof *rooms->free);
    rooms->idle = arena_array(cycle->scratch, (rooms->most_gpus + 1) * rooms->words, sizeof *rooms->idle);
    rooms->free_of = arena_array(cycle->scratch, pool->node_count, sizeof *rooms->free_of);
    rooms->idle_of = arena_array(cycle->scratch, pool->node_count, sizeof *rooms->idle_of);
    for (uint32_t i = 0; i < pool->node_count; i++) {
        set_bit(rooms->free, rooms, 0, i, true);
        set_bit(rooms->idle, rooms, 0, i, true);
        enter(rooms, i, pool->nodes[i]);
    }
    return rooms;
}

struct rooms *rooms_of(struct cycle *cycle, const struct pool *pool)
{
    if (!cycle->rooms)
        cycle->rooms = arena_array(cycle->scratch, cycle->snapshot->node_pool_count, sizeof *cycle->rooms);
    struct rooms **rooms = &cycle->rooms[pool->index];
    if (!*rooms)
        *rooms = make(cycle, pool);
    return (*rooms)->words > 0 ? *rooms : NULL;
}

void rooms_note(struct cycle *cycle, const struct node *node)
{
    struct rooms *rooms = cycle->rooms ? cycle->rooms[node->spec->node_pool] : NULL;
    if (rooms && rooms->words > 0)
        enter(rooms, node->position, node);
}
