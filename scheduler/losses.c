#include "scheduler/losses.h"

#include "base/arena.h"

void losses_open(struct losses *losses, const struct cycle *cycle, const struct pool *pool, struct arena *arena)
{
    const size_t projects = cycle->snapshot->project_count;
    *losses = (struct losses){0};
    losses->sides = arena_array(arena, projects + pool->department_count, sizeof *losses->sides);
    losses->project_at = arena_array(arena, projects + pool->department_count, sizeof *losses->project_at);
    losses->department_at = losses->project_at + projects;
}

static uint32_t *position_of(const struct losses *losses, const struct queue *side)
{
    return side->kind == QUEUE_KIND_PROJECT ? &losses->project_at[side->index] : &losses->department_at[side->index];
}

void losses_add(struct losses *losses, struct queue *side, int64_t milli, int64_t largest_milli)
{
    uint32_t *position = position_of(losses, side);
    if (*position == 0) {
        losses->sides[losses->count++] = (struct loss_side){.queue = side};
        *position = (uint32_t)losses->count;
    }
    struct loss_side *entry = &losses->sides[*position - 1];
    entry->milli += milli;
    if (largest_milli > entry->largest_milli)
        entry->largest_milli = largest_milli;
}

void losses_reset(struct losses *losses, const struct losses *from)
{
    for (size_t i = 0; i < losses->count; i++)
        *position_of(losses, losses->sides[i].queue) = 0;
    losses->count = 0;
    losses->shared_count = from->shared_count;
    for (size_t i = 0; i < from->count; i++)
        losses_add(losses, from->sides[i].queue, from->sides[i].milli, from->sides[i].largest_milli);
}
