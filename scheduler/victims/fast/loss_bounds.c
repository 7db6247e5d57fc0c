#include "scheduler/victims/fast/loss_bounds.h"

#include "base/arena.h"

void loss_bounds_open(struct loss_bounds *losses, const struct cycle *cycle, const struct pool *pool,
                      struct arena *arena)
{
    size_t projects = cycle->snapshot->project_count;
    *losses = (struct loss_bounds){0};
    losses->sides = arena_array(arena, projects + pool->department_count, sizeof(*losses->sides));
    losses->project_at = arena_array(arena, projects + pool->department_count, sizeof(*losses->project_at));
    losses->department_at = losses->project_at + projects;
}

static uint32_t *position_of(const struct loss_bounds *losses, const struct queue *side)
{
    return side->kind == QUEUE_KIND_PROJECT ? &losses->project_at[side->index] : &losses->department_at[side->index];
}

int64_t loss_grain(int64_t a_milli, int64_t b_milli)
{
    while (b_milli > 0) {
        int64_t rest = a_milli % b_milli;
        a_milli = b_milli;
        b_milli = rest;
    }
    return a_milli;
}

void loss_bounds_add(struct loss_bounds *losses, struct queue *side, struct loss loss)
{
    uint32_t *position = position_of(losses, side);
    if (*position == 0) {
        losses->sides[losses->count++] = (struct loss_side){.queue = side};
        *position = (uint32_t)losses->count;
    }
    struct loss *sum = &losses->sides[*position - 1].loss;
    sum->milli += loss.milli;
    sum->grain_milli = loss_grain(sum->grain_milli, loss.grain_milli);
    if (loss.largest_milli > sum->largest_milli)
        sum->largest_milli = loss.largest_milli;
}

void loss_bounds_reset(struct loss_bounds *losses, const struct loss_bounds *from)
{
    for (size_t i = 0; i < losses->count; i++)
        *position_of(losses, losses->sides[i].queue) = 0;
    losses->count = 0;
    losses->shared_count = from->shared_count;
    for (size_t i = 0; i < from->count; i++)
        loss_bounds_add(losses, from->sides[i].queue, from->sides[i].loss);
}
