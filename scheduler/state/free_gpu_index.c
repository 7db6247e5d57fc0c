#include "scheduler/state/free_gpu_index.h"

#include "base/arena.h"
#include "scheduler/state/node.h"

static uint8_t clamp(int64_t gpus, uint32_t most)
{
    return (uint8_t)(gpus < 0 ? 0 : gpus > most ? most : gpus);
}

static void set_bit(uint64_t *rows, const struct free_gpu_index *index, size_t row, uint32_t position, bool is_set)
{
    uint64_t *word = &rows[row * index->words + position / 64];
    uint64_t bit = UINT64_C(1) << position % 64;
    *word = is_set ? *word | bit : *word & ~bit;
}

static void enter(struct free_gpu_index *index, uint32_t position, const struct node *node)
{
    uint8_t free = clamp(node_free(node, DIMENSION_GPU), index->most_gpus);
    uint8_t idle = clamp(node->idle[DIMENSION_GPU], index->most_gpus);
    if (free != index->free_of[position]) {
        set_bit(index->free, index, index->free_of[position], position, false);
        set_bit(index->free, index, free, position, true);
        index->free_of[position] = free;
    }
    for (; index->idle_of[position] < idle; index->idle_of[position]++)
        set_bit(index->idle, index, index->idle_of[position] + 1U, position, true);
    for (; index->idle_of[position] > idle; index->idle_of[position]--)
        set_bit(index->idle, index, index->idle_of[position], position, false);
}

static struct free_gpu_index *make(struct cycle *cycle, const struct pool *pool)
{
    struct free_gpu_index *index = arena_alloc(cycle->scratch, sizeof(*index));
    for (size_t i = 0; i < pool->node_count; i++) {
        if (pool->nodes[i]->capacity[DIMENSION_GPU] > index->most_gpus)
            index->most_gpus = (uint32_t)pool->nodes[i]->capacity[DIMENSION_GPU];
    }
    index->words = (pool->node_count + 63) / 64;
    if (index->most_gpus > FREE_GPU_INDEX_MOST || pool->spec->gpu_placement != PLACEMENT_BINPACK) {
        index->words = 0;
        return index;
    }
    index->free = arena_array(cycle->scratch, (index->most_gpus + 1) * index->words, sizeof(*index->free));
    index->idle = arena_array(cycle->scratch, (index->most_gpus + 1) * index->words, sizeof(*index->idle));
    index->free_of = arena_array(cycle->scratch, pool->node_count, sizeof(*index->free_of));
    index->idle_of = arena_array(cycle->scratch, pool->node_count, sizeof(*index->idle_of));
    for (uint32_t i = 0; i < pool->node_count; i++) {
        set_bit(index->free, index, 0, i, true);
        set_bit(index->idle, index, 0, i, true);
        enter(index, i, pool->nodes[i]);
    }
    return index;
}

struct free_gpu_index *free_gpu_index_of(struct cycle *cycle, const struct pool *pool)
{
    if (!cycle->free_gpu)
        cycle->free_gpu = arena_array(cycle->scratch, cycle->snapshot->node_pool_count, sizeof(*cycle->free_gpu));
    struct free_gpu_index **index = &cycle->free_gpu[pool->index];
    if (!*index)
        *index = make(cycle, pool);
    return (*index)->words > 0 ? *index : NULL;
}

void free_gpu_index_note(struct cycle *cycle, const struct node *node)
{
    struct free_gpu_index *index = cycle->free_gpu ? cycle->free_gpu[node->spec->node_pool] : NULL;
    if (index && index->words > 0)
        enter(index, node->position, node);
}
