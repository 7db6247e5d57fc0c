// What victims may lose lawfully, before anything is simulated: see loss_bounds.h.
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/victims.h"

// What of a pod counts against the search's bound: whole devices, where the pending pods ask for such.
static int64_t bounded_milli(const struct search *search, const struct pod *pod)
{
    return search->must_free_devices == INT64_MIN ? victims_amounts(search->cycle, pod).of[RESOURCE_GPU]
                                                  : pod->request.of[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE;
}

// Shared devices that the pod stands on and that nobody has counted under either mark.
static uint32_t count_shared(struct victims *victims, const struct pod *pod, uint32_t mark)
{
    const struct place *place = &pod->state.place;
    uint32_t count = 0;
    for (uint32_t i = 0; i < place->shared_count; i++) {
        struct shared_device *device = &victims->search->cycle->nodes[place->node].shared[place->shared[i]];
        count += device->mark != mark && device->mark != victims->recorded_mark;
        if (device->mark != victims->recorded_mark)
            device->mark = mark;
    }
    return count;
}

static void add_losses(struct victims *victims, struct loss_bounds *losses, const uint32_t *pods, size_t count,
                       int64_t whole_milli, uint32_t mark)
{
    const struct search *search = victims->search;
    struct queue *side =
        fairness_side(cycle_queue(search->pool, search->workload),
                      cycle_queue(search->pool, &search->cycle->workloads[search->cycle->pods[pods[0]].workload]));
    struct loss loss = {.largest_milli = whole_milli};
    for (size_t i = 0; i < count; i++) {
        const struct pod *pod = &search->cycle->pods[pods[i]];
        const struct workload *workload = &search->cycle->workloads[pod->workload];
        losses->shared_count += count_shared(victims, pod, mark);
        if (search->may_lose(search, workload))
            loss.milli += bounded_milli(search, pod);
        loss.grain_milli = loss_grain(loss.grain_milli, victims_amounts(search->cycle, pod).of[RESOURCE_GPU]);
    }
    loss_bounds_add(losses, side, loss);
}

// What a workload has popped counts recorded pods twice where they are popped again: an upper bound is enough.
void victims_open_losses(struct victims *victims)
{
    struct search *search = victims->search;
    const struct cycle *cycle = search->cycle;
    if (!search->most_lost)
        return;
    loss_bounds_open(&victims->recorded_losses, cycle, search->pool, &search->probe_arena);
    loss_bounds_open(&victims->losses, cycle, search->pool, &search->probe_arena);
    victims->recorded_mark = ++search->cycle->stamp;
    for (size_t i = 0; i < search->recorded.count; i++) {
        const struct pod *pod = &cycle->pods[search->recorded.pods[i]];
        victims_mark(victims, &cycle->workloads[pod->workload])->popped_milli +=
            victims_amounts(cycle, pod).of[RESOURCE_GPU];
    }
    for (size_t i = 0; i < search->recorded.count; i++) {
        const struct pod *pod = &cycle->pods[search->recorded.pods[i]];
        victims->recorded_devices += pod->request.of[DIMENSION_GPU] + pod->request.shared_devices;
        add_losses(victims, &victims->recorded_losses, &pod->index, 1,
                   victims_mark(victims, &cycle->workloads[pod->workload])->popped_milli, victims->recorded_mark);
    }
}

static bool may_be_lost(const struct search *search, const struct loss_bounds *losses)
{
    int64_t needed = search->must_free_milli;
    if (search->must_free_devices != INT64_MIN)
        needed = (search->must_free_devices - losses->shared_count) * GPU_MILLI_PER_DEVICE;
    return needed <= 0 || search->most_lost(search, losses) >= needed;
}

bool victims_sides_may_lose_enough(struct victims *victims, const size_t *units, size_t count)
{
    struct search *search = victims->search;
    if (!search->most_lost || (search->must_free_milli <= 0 && search->must_free_devices <= 0))
        return true;
    uint32_t mark = ++search->cycle->stamp;
    loss_bounds_reset(&victims->losses, &victims->recorded_losses);
    for (size_t i = 0; i < count; i++) {
        const struct victim_unit *unit = &victims->units[units[i]];
        add_losses(victims, &victims->losses, unit->pods, unit->count, unit->whole_milli, mark);
    }
    return may_be_lost(search, &victims->losses);
}

// Where one project loses workloads of one pod, they go in the order in which they were taken, behind the recorded
// ones. Whichever is the last to go, no more than it and those before it are lost.
static bool may_be_lost_in_turn(struct victims *victims)
{
    const struct search *search = victims->search;
    const struct loss_bounds *losses = &victims->taken_losses;
    int64_t before = fairness_most_before_last(search, losses);
    if (victims->has_parts || losses->shared_count > 0 || before == INT64_MAX || before == INT64_MIN)
        return true;
    struct in_turn *turn = &victims->in_turn;
    if (turn->before_milli != before) { // from the start: the grain is another
        struct loss recorded =
            victims->recorded_losses.count > 0 ? victims->recorded_losses.sides[0].loss : (struct loss){0};
        *turn = (struct in_turn){.before_milli = before, .sum_milli = recorded.milli};
        turn->most_milli =
            recorded.milli < before + recorded.largest_milli ? recorded.milli : before + recorded.largest_milli;
    }
    for (; turn->count < victims->summed_count; turn->count++) {
        int64_t last = victims->units[turn->count].loss_milli;
        turn->sum_milli += last;
        int64_t most = turn->sum_milli < before + last ? turn->sum_milli : before + last;
        turn->most_milli = most > turn->most_milli ? most : turn->most_milli;
    }
    return turn->most_milli >= search->must_free_milli;
}

// The same of all units: they may lose no less than some of them. The more there are, the larger the last piece, the
// smaller the grain, and the less is left of the reclaimer's own department to be more saturated than others.
// Summed up only where some were tried in vain: most searches end with the first that are tried.
bool victims_all_may_lose_enough(struct victims *victims)
{
    enum {
        TRIED_IN_VAIN = 16
    };
    const struct search *search = victims->search;
    if (!search->most_lost || search->cycle->is_plain || ++victims->tried_count <= TRIED_IN_VAIN)
        return true;
    if (!victims->taken_losses.sides) {
        loss_bounds_open(&victims->taken_losses, search->cycle, search->pool, &victims->search->probe_arena);
        loss_bounds_reset(&victims->taken_losses, &victims->recorded_losses);
        victims->taken_mark = ++search->cycle->stamp;
        victims->in_turn.before_milli = -1;
    }
    for (; victims->summed_count < victims->unit_count; victims->summed_count++) {
        const struct victim_unit *unit = &victims->units[victims->summed_count];
        add_losses(victims, &victims->taken_losses, unit->pods, unit->count, unit->whole_milli, victims->taken_mark);
        victims->has_parts = victims->has_parts || unit->workload->spec->pod_count > 1;
    }
    return may_be_lost(search, &victims->taken_losses) && may_be_lost_in_turn(victims);
}
