#include "scheduler/victims/fairness.h"

#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/loss_bounds.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/ranking.h"

#include <stdlib.h>
#include <string.h>

enum resource fairness_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    const struct queue *queue = cycle_queue(pool, workload);
    struct amounts requested = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib);
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (queue->allocated.of[r] + requested.of[r] > queue->fair_share.of[r])
            return r;
        if (!workload->spec->preemptible &&
            queue->allocated_non_preemptible.of[r] + requested.of[r] > queue->spec->deserved.of[r])
            return r;
    }
    return RESOURCE_COUNT;
}

enum evidence_code fairness_protects(struct queue *reclaimer, struct amounts requested, struct queue *victim,
                                     const struct queue **out_side)
{
    struct queue *own, *other;
    queue_find_sides(reclaimer, victim, &own, &other);
    if (out_side)
        *out_side = other;
    if (queue_exceeds_deserved(own, amounts_add(own->allocated, requested))) {
        if (queue_exceeds_share(other, other->allocated))
            return EVIDENCE_CODE_COUNT;
        return queue_exceeds_deserved(other, other->allocated) ? EVIDENCE_WITHIN_FAIR_SHARE : EVIDENCE_WITHIN_QUOTA;
    }
    // Inside its quota: whoever is over quota in something it asks for, or not below quota in any of it.
    bool is_below = false;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t deserved = other->spec->deserved.of[r];
        if (requested.of[r] <= 0 || deserved == QUANTITY_UNLIMITED)
            continue;
        if (other->allocated.of[r] > deserved)
            return EVIDENCE_CODE_COUNT;
        is_below = is_below || other->allocated.of[r] < deserved;
    }
    if (!is_below || ranking_may_take(reclaimer, reclaimer->allocated, own, own->allocated, requested, other))
        return EVIDENCE_CODE_COUNT;
    return EVIDENCE_WITHIN_QUOTA;
}

bool fairness_may_take_by_rank(const struct frozen_queues *frozen, const struct queue *reclaimer,
                               const struct queue *own, struct amounts requested, const struct queue *other)
{
    return ranking_may_take(reclaimer, frozen_queues_of(frozen, reclaimer), own, frozen_queues_of(frozen, own),
                            requested, other);
}

bool fairness_may_take(const struct frozen_queues *frozen, struct queue *reclaimer, struct amounts requested,
                       struct queue *victim)
{
    struct queue *own, *other;
    queue_find_sides(reclaimer, victim, &own, &other);
    struct amounts held = frozen_queues_of(frozen, other);
    return queue_exceeds_share(other, held) || fairness_may_take_by_rank(frozen, reclaimer, own, requested, other) ||
           (!queue_exceeds_deserved(own, amounts_add(frozen_queues_of(frozen, own), requested)) &&
            queue_exceeds_deserved(other, held));
}

// What is left of a queue while the scenario's victims are taken from it one by one.
struct rest {
    struct amounts amounts;
    bool is_touched;
    bool involves[RESOURCE_COUNT];
};

struct check {
    struct search *search;
    struct amounts requested;
    struct queue *reclaimer;
    const struct frozen_queues *frozen;
    struct rest *projects;
    struct rest *departments;
};

static struct rest *rest_of(const struct check *check, const struct queue *queue)
{
    return queue->kind == QUEUE_KIND_PROJECT ? &check->projects[queue->index] : &check->departments[queue->index];
}

// Either the victim's side still holds more than its share, or the reclaimer stays in its quota and the victim's side
// still holds more than its own, or rank decides.
static bool may_take_more(const struct check *check, struct queue *victim, enum eviction_rule *out_rule)
{
    struct queue *own, *other;
    queue_find_sides(check->reclaimer, victim, &own, &other);
    struct amounts left = rest_of(check, other)->amounts;
    *out_rule = EVICTION_ABOVE_SHARE;
    if (queue_exceeds_share(other, left))
        return true;
    *out_rule = EVICTION_OWED_QUOTA;
    if (!queue_exceeds_deserved(own, amounts_add(frozen_queues_of(check->frozen, own), check->requested)) &&
        queue_exceeds_deserved(other, left))
        return true;
    *out_rule = EVICTION_HIGHER_RANK;
    return fairness_may_take_by_rank(check->frozen, check->reclaimer, own, check->requested, other);
}

static bool take_chunk(const struct check *check, struct queue *victim, struct amounts chunk,
                       enum eviction_rule *out_rule)
{
    if (!may_take_more(check, victim, out_rule))
        return false;
    for (struct queue *queue = victim; queue; queue = queue->parent) {
        struct rest *rest = rest_of(check, queue);
        rest->amounts = amounts_subtract(rest->amounts, chunk);
        rest->is_touched = true;
        for (size_t r = 0; r < RESOURCE_COUNT; r++)
            rest->involves[r] = rest->involves[r] || chunk.of[r] > 0;
    }
    return true;
}

// What an evicted pod gave up; nothing where it was placed again.
static struct amounts given_up(const struct cycle *cycle, const struct pod *pod)
{
    if (!pod->state.evicted)
        return (struct amounts){0};
    return request_amounts(&pod->request, cycle->nodes[pod->state.origin.node].gpu_memory_mib);
}

static bool is_nothing(struct amounts amounts)
{
    return amounts_are_within(amounts, (struct amounts){0});
}

// A victim workload of the scenario; its pods are a chain through the scenario's list.
struct victim_workload {
    uint32_t project;
    uint32_t workload;
    size_t first; // position of its first pod
};

// The pods that went at once went by this rule; the others have theirs.
static void note_core(struct cycle *cycle, const struct scenario *scenario, const struct victim_workload *taken,
                      const size_t *next, enum eviction_rule rule)
{
    size_t position = taken->first;
    do {
        struct pod *pod = &cycle->pods[scenario->pods[position]];
        if (pod->rule == EVICTION_RULE_COUNT)
            pod->rule = (uint8_t)rule;
        position = next[position];
    } while (position > 0);
}

// A victim's pods beyond the first `minimum` of each group go one by one, then the others at once. next: by position,
// that of the same workload's next pod; 0: none.
static bool take_workload(const struct check *check, const struct scenario *scenario,
                          const struct victim_workload *taken, const size_t *next)
{
    struct cycle *cycle = check->search->cycle;
    const struct workload *victim = &cycle->workloads[taken->workload];
    struct queue *queue = cycle_queue(check->search->pool, victim);
    uint32_t *seen = arena_array(&check->search->arena, victim->group_count, sizeof(*seen));
    struct amounts core = {0};
    enum eviction_rule rule;
    size_t position = taken->first;
    do {
        struct pod *pod = &cycle->pods[scenario->pods[position]];
        struct amounts amounts = given_up(cycle, pod);
        pod->rule = EVICTION_RULE_COUNT;
        if (seen[pod->group]++ < victim->groups[pod->group].minimum)
            core = amounts_add(core, amounts);
        else if (!is_nothing(amounts) && !take_chunk(check, queue, amounts, &rule))
            return false;
        else if (!is_nothing(amounts))
            pod->rule = (uint8_t)rule;
        position = next[position];
    } while (position > 0);
    if (is_nothing(core))
        return true;
    if (!take_chunk(check, queue, core, &rule))
        return false;
    note_core(cycle, scenario, taken, next, rule);
    return true;
}

static int compare_victims(const void *a, const void *b)
{
    const struct victim_workload *left = a, *right = b;
    if (left->project != right->project)
        return left->project < right->project ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

// Project by project in the order of names, inside one in the order in which they were taken.
static bool take_all(const struct check *check, const struct scenario *scenario)
{
    struct cycle *cycle = check->search->cycle;
    struct arena *arena = &check->search->arena;
    size_t *last = cycle->bounds->positions; // + 1; 0: not seen
    size_t *next = arena_array(arena, scenario->count, sizeof(*next));
    struct victim_workload *victims = arena_array(arena, scenario->count, sizeof(*victims));
    size_t count = 0;
    for (size_t i = 0; i < scenario->count; i++) {
        uint32_t workload = cycle->pods[scenario->pods[i]].workload;
        if (last[workload] > 0)
            next[last[workload] - 1] = i;
        else
            victims[count++] = (struct victim_workload){cycle->workloads[workload].spec->project, workload, i};
        last[workload] = i + 1;
    }
    for (size_t i = 0; i < count; i++)
        last[victims[i].workload] = 0;
    qsort(victims, count, sizeof(*victims), compare_victims);
    for (size_t i = 0; i < count; i++) {
        if (!take_workload(check, scenario, &victims[i], next))
            return false;
    }
    return true;
}

// Whether mine / my share * multiplier >= theirs / their share, where my share is exceeded.
static bool is_more_saturated(int64_t mine, int64_t my_share, int64_t theirs, int64_t their_share,
                              int64_t multiplier_milli)
{
    bool infinite = my_share == 0 && mine > 0;
    if (their_share <= 0 || (!infinite && mine <= my_share))
        return false;
    if (infinite)
        return true;
    const __int128 left = (__int128)mine * their_share, right = (__int128)theirs * my_share;
    // left * multiplier / 1000 >= right, in parts, so that 128 bits hold it.
    return left / 1000 * multiplier_milli + left % 1000 * multiplier_milli / 1000 >= right;
}

static bool sibling_allows(const struct check *check, const struct queue *own, struct amounts mine,
                           const struct queue *sibling)
{
    const struct rest *rest = rest_of(check, sibling);
    if (sibling == own || sibling->parent != own->parent || !rest->is_touched)
        return true;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if ((rest->involves[r] || check->requested.of[r] > 0) &&
            is_more_saturated(mine.of[r], own->fair_share.of[r], rest->amounts.of[r], sibling->fair_share.of[r],
                              check->search->cycle->snapshot->settings.saturation_multiplier_milli))
            return false;
    }
    return true;
}

// What the pods of this probe are charged where they were placed.
static struct amounts placed_amounts(const struct search *search)
{
    const struct cycle *cycle = search->cycle;
    struct amounts sum = {0};
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const struct pod *pod = &cycle->pods[search->workload->unit[i]];
        sum = amounts_add(sum, request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib));
    }
    return sum;
}

// At no level does the reclaimer end more saturated than a sibling from which it takes.
static bool levels_allow(const struct check *check)
{
    const struct pool *pool = check->search->pool;
    struct amounts placed = placed_amounts(check->search);
    bool preemptible = check->search->workload->spec->preemptible;
    for (struct queue *own = check->reclaimer; own; own = own->parent) {
        struct amounts mine = amounts_add(rest_of(check, own)->amounts, check->requested);
        bool is_project = own->kind == QUEUE_KIND_PROJECT;
        size_t count = is_project ? check->search->cycle->snapshot->project_count : pool->department_count;
        for (size_t i = 0; i < count; i++) {
            if (!sibling_allows(check, own, mine, is_project ? &pool->projects[i] : &pool->departments[i]))
                return false;
        }
        struct amounts before = amounts_subtract(own->allocated_non_preemptible, placed);
        if (!preemptible && queue_exceeds_deserved(own, amounts_add(before, check->requested)))
            return false;
    }
    return true;
}

bool fairness_may_lose(const struct search *search, const struct workload *victim)
{
    return fairness_may_take(search->context, cycle_queue(search->pool, search->workload), search->pending,
                             cycle_queue(search->pool, victim));
}

struct queue *fairness_side(struct queue *reclaimer, struct queue *victim)
{
    struct queue *own, *side;
    queue_find_sides(reclaimer, victim, &own, &side);
    return side;
}

bool fairness_allows(struct search *search, const struct scenario *scenario)
{
    size_t project_count = search->cycle->snapshot->project_count;
    size_t department_count = search->pool->department_count;
    struct check check = {.search = search,
                          .requested = search->pending,
                          .reclaimer = cycle_queue(search->pool, search->workload),
                          .frozen = search->context};
    check.projects = arena_array(&search->arena, project_count + department_count, sizeof(*check.projects));
    check.departments = check.projects + project_count;
    for (size_t p = 0; p < project_count; p++)
        check.projects[p].amounts = check.frozen->projects[p];
    for (size_t d = 0; d < department_count; d++)
        check.departments[d].amounts = check.frozen->departments[d];
    return take_all(&check, scenario) && levels_allow(&check);
}
