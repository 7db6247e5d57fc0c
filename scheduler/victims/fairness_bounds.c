// What the fairness test lets sides lose at most, from sums alone: see loss_bounds.h.
#include "scheduler/state/queue.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/fast/loss_bounds.h"

// What all chunks of a side but the last may sum up to: they leave it above its share, or its quota, and so are less
// than what it holds above it, and a multiple of the grain. INT64_MAX: any sum; INT64_MIN: not even one may go.
static int64_t most_before_last(const struct search *search, struct queue *own, const struct loss_side *side)
{
    const struct frozen_queues *frozen = search->context;
    const struct queue *queue = side->queue;
    struct amounts held = frozen_queues_of(frozen, queue);
    if (fairness_may_take_by_rank(frozen, cycle_queue(search->pool, search->workload), own, search->pending, queue))
        return INT64_MAX;
    bool within = amounts_are_within(amounts_add(frozen_queues_of(frozen, own), search->pending), own->spec->deserved);
    int64_t grain = side->loss.grain_milli > 0 ? side->loss.grain_milli : INT64_MAX;
    int64_t most = INT64_MIN;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t kept = queue_allocatable_share(queue, r);
        if (within && queue->spec->deserved.of[r] < kept)
            kept = queue->spec->deserved.of[r];
        if (held.of[r] <= kept)
            continue;
        if (r != RESOURCE_GPU)
            return INT64_MAX; // while it is above in something else
        int64_t above = held.of[r] - kept - 1;
        most = above - above % grain;
    }
    return most;
}

static int64_t most_of_side(const struct search *search, struct queue *own, const struct loss_side *side)
{
    int64_t before = most_before_last(search, own, side);
    if (before == INT64_MIN)
        return 0;
    return before < side->loss.milli - side->loss.largest_milli ? before + side->loss.largest_milli : side->loss.milli;
}

int64_t fairness_most_before_last(const struct search *search, const struct loss_bounds *losses)
{
    if (losses->count != 1 || losses->sides[0].queue->kind != QUEUE_KIND_PROJECT)
        return INT64_MAX;
    return most_before_last(search, cycle_queue(search->pool, search->workload), &losses->sides[0]);
}

// What another department may lose without ending less saturated than the reclaimer's, which holds at least so much.
static int64_t most_of_department(const struct search *search, const struct queue *own, int64_t mine,
                                  const struct queue *other)
{
    int64_t held = frozen_queues_of(search->context, other).of[RESOURCE_GPU];
    int64_t my_share = own->fair_share.of[RESOURCE_GPU], their_share = other->fair_share.of[RESOURCE_GPU];
    if (their_share <= 0 || mine <= my_share)
        return INT64_MAX;
    if (my_share == 0)
        return 0;
    const __int128 level = (__int128)mine * their_share;
    int64_t multiplier = search->cycle->snapshot->settings.saturation_multiplier_milli;
    const __int128 bound = level / 1000 * multiplier + level % 1000 * multiplier / 1000; // as is_more_saturated has it
    const __int128 kept = bound / my_share + 1;
    return kept >= held ? 0 : held - (int64_t)kept;
}

int64_t fairness_most_lost(const struct search *search, const struct loss_bounds *losses)
{
    struct queue *project = cycle_queue(search->pool, search->workload), *own = project->parent;
    int64_t sum = 0;
    for (size_t i = 0; i < losses->count; i++) {
        if (losses->sides[i].queue->kind == QUEUE_KIND_PROJECT)
            sum += most_of_side(search, project, &losses->sides[i]);
    }
    const struct frozen_queues *frozen = search->context;
    int64_t mine = frozen_queues_of(frozen, own).of[RESOURCE_GPU] - sum + search->pending.of[RESOURCE_GPU];
    for (size_t i = 0; i < losses->count; i++) {
        if (losses->sides[i].queue->kind == QUEUE_KIND_PROJECT)
            continue;
        int64_t most = most_of_side(search, own, &losses->sides[i]);
        int64_t of_department = most_of_department(search, own, mine, losses->sides[i].queue);
        sum += most < of_department ? most : of_department;
    }
    return sum;
}
