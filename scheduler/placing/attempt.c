#include "scheduler/placing/attempt.h"

#include "base/arena.h"
#include "scheduler/placing/affinity.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/survey.h"
#include "scheduler/placing/topology.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

#include <stdlib.h>
#include <string.h>

struct placing {
    struct cycle *cycle;
    const struct pool *pool;
    struct workload *workload;
    bool promise_only;
    bool largest_first;   // not in the order of the unit
    const uint32_t *unit; // its pods, in the order in which they are placed
    struct attempt *attempt;
    const struct pod *first; // that was tried; NULL: none yet
};

static bool place_pods(struct placing *placing, uint32_t leaf, const struct node_set *set)
{
    const struct workload *workload = placing->workload;
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        struct pod *pod = &placing->cycle->pods[placing->unit[i]];
        if (pod->group != leaf)
            continue;
        if (!placing->first)
            placing->first = pod;
        if (!placement_place(placing->cycle, placing->pool, pod, set, placing->promise_only)) {
            placing->attempt->failed = pod;
            placing->attempt->group = leaf;
            if (placing->attempt->wants_nodes)
                placing->attempt->nodes = survey_nodes(placing->cycle, placing->pool, pod);
            return false;
        }
        placing->attempt->placed++;
    }
    return true;
}

// Largest first: the children in the order of the first pod of each.
static void order_by_first(const struct placing *placing, const struct group *group, uint32_t *order)
{
    const struct workload *workload = placing->workload;
    uint32_t count = 0;
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        uint32_t leaf = placing->cycle->pods[placing->unit[i]].group;
        for (uint32_t c = count; c < group->child_count; c++) {
            uint32_t child = order[c];
            if (!unit_is_below(workload, leaf, child))
                continue;
            memmove(order + count + 1, order + count, (c - count) * sizeof(*order));
            order[count++] = child;
            break;
        }
    }
}

static bool place_group(struct placing *placing, uint32_t index, const struct node_set *set);

static bool place_members(struct placing *placing, uint32_t index, const struct node_set *set)
{
    struct workload *workload = placing->workload;
    const struct group *group = &workload->groups[index];
    if (!group->is_set)
        return place_pods(placing, index, set);
    if (group->child_count == 1)
        return place_group(placing, workload->children[group->first_child], set);
    uint32_t *order = arena_array(placing->cycle->scratch, group->child_count, sizeof(*order));
    unit_order_children(workload, group, order);
    if (placing->largest_first)
        order_by_first(placing, group, order);
    for (uint32_t i = 0; i < group->child_count; i++) {
        if (!place_group(placing, order[i], set))
            return false;
    }
    return true;
}

static bool has_unit_pods(const struct placing *placing, uint32_t index)
{
    const struct workload *workload = placing->workload;
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        uint32_t group = placing->cycle->pods[workload->unit[i]].group;
        while (group != index && group != SNAPSHOT_NONE)
            group = workload->groups[group].parent;
        if (group == index)
            return true;
    }
    return false;
}

// Places the unit's pods of a member on one of the node sets that its topology leaves, tried in order.
static bool place_group(struct placing *placing, uint32_t index, const struct node_set *set)
{
    const struct group *group = &placing->workload->groups[index];
    if (!group->topology)
        return place_members(placing, index, set);
    if (!has_unit_pods(placing, index))
        return true;
    struct node_set listed;
    if (!set->nodes) {
        listed = placement_list(placing->pool, set, placing->cycle->scratch);
        set = &listed;
    }
    struct topology_sets sets = topology_find_sets(placing->cycle, placing->pool, placing->workload, index, set);
    if (sets.problem && !placing->attempt->topology_problem) {
        placing->attempt->topology_problem = sets.problem;
        placing->attempt->group = index;
    }
    uint32_t placed = placing->attempt->placed;
    for (size_t i = 0; i < sets.count; i++) {
        size_t checkpoint = statement_checkpoint(placing->cycle);
        if (place_members(placing, index, &sets.sets[i]))
            return true;
        statement_roll_back(placing->cycle, checkpoint);
        if (i + 1 < sets.count)
            placing->attempt->placed = placed;
    }
    return false;
}

static bool has_topology(const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->group_count; i++) {
        if (workload->groups[i].topology)
            return true;
    }
    return false;
}

// The first pod led where the others find no place: its second best domain is tried, and so on, each once.
static bool place_elsewhere(struct placing *placing, const struct node_set *set)
{
    struct attempt *attempt = placing->attempt;
    struct arena arena;
    bool is_placed = false;
    arena_init(&arena);
    struct affinity_domains domains = affinity_find(placing->cycle, placing->pool, placing->first, set, &arena);
    // Without topologies the best of all was tried already.
    for (size_t i = has_topology(placing->workload) ? 0 : 1; i < domains.count && !is_placed; i++) {
        struct node_set nodes = affinity_nodes(&domains, i, &arena);
        size_t checkpoint = statement_checkpoint(placing->cycle);
        struct attempt next = {0};
        placing->attempt = &next;
        is_placed = place_group(placing, 0, &nodes);
        if (!is_placed)
            statement_roll_back(placing->cycle, checkpoint);
        attempt->placed = next.placed > attempt->placed ? next.placed : attempt->placed;
    }
    arena_done(&arena);
    return is_placed;
}

struct sized_pod {
    uint32_t pod;
    uint32_t position;
    struct amounts amounts;
};

static int compare_amounts(const struct amounts *a, const struct amounts *b)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (a->of[r] != b->of[r])
            return a->of[r] > b->of[r] ? -1 : 1;
    }
    return 0;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct sized_pod *left = a, *right = b;
    int order = compare_amounts(&left->amounts, &right->amounts);
    return order ? order : (left->position > right->position) - (left->position < right->position);
}

// The unit with its largest pods first, by GPUs, then CPU, then memory. NULL: they are all alike.
static const uint32_t *order_by_size(const struct cycle *cycle, const struct pool *pool,
                                     const struct workload *workload, struct arena *arena)
{
    uint32_t count = workload->unit_count;
    if (count == 1)
        return NULL;
    struct sized_pod *pods = arena_array(arena, count, sizeof(*pods));
    for (uint32_t i = 0; i < count; i++) {
        const struct request *request = &cycle->pods[workload->unit[i]].request;
        pods[i] = (struct sized_pod){workload->unit[i], i, request_amounts(request, pool->largest_gpu_memory_mib)};
    }
    qsort(pods, count, sizeof(*pods), compare_sizes);
    if (compare_amounts(&pods[0].amounts, &pods[count - 1].amounts) == 0)
        return NULL;
    uint32_t *unit = arena_array(arena, count, sizeof(*unit));
    for (uint32_t i = 0; i < count; i++)
        unit[i] = pods[i].pod;
    return unit;
}

static bool place_unit(struct placing *placing, const struct node_set *set)
{
    size_t checkpoint = statement_checkpoint(placing->cycle);
    if (place_group(placing, 0, set))
        return true;
    statement_roll_back(placing->cycle, checkpoint);
    return placing->first && affinity_is_open(placing->workload) && place_elsewhere(placing, set);
}

// The second try of a gang whose pods are not alike: one after the other without going back, small pods may take what
// large ones need. What was found out in the first is told.
static bool place_largest_first(struct placing placing, const struct node_set *set)
{
    struct attempt *told = placing.attempt, unsaid = {0};
    struct arena arena;
    arena_init(&arena);
    placing.attempt = &unsaid;
    placing.first = NULL;
    placing.largest_first = true;
    placing.unit = order_by_size(placing.cycle, placing.pool, placing.workload, &arena);
    bool is_placed = placing.unit && place_unit(&placing, set);
    told->tried_orders = placing.unit;
    arena_done(&arena);
    return is_placed;
}

bool attempt_workload(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                      const struct node_set *set, bool promise_only, struct attempt *attempt)
{
    struct attempt ignored = {0};
    if (!attempt)
        attempt = &ignored;
    unit_find(cycle, workload);
    attempt->needed = workload->unit_count;
    if (workload->unit_count == 0)
        return false;
    struct amounts amounts = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    attempt->refusal = queue_check_capacity(pool, workload, amounts);
    if (attempt->refusal.queue)
        return false;
    struct placing placing = {.cycle = cycle,
                              .pool = pool,
                              .workload = workload,
                              .promise_only = promise_only,
                              .unit = workload->unit,
                              .attempt = attempt};
    if (place_unit(&placing, set))
        return true;
    return place_largest_first(placing, set);
}

// A gang that has to wait for one of its places waits as a whole: nothing is bound until everything can be.
static bool must_wait(const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct group *group = &workload->groups[i];
        if (!group->is_set && group->counts.held > group->counts.allocated && group->counts.allocated < group->minimum)
            return true;
    }
    return false;
}

void attempt_settle(struct cycle *cycle, const struct workload *workload)
{
    if (must_wait(workload))
        statement_promise_all(cycle, workload, 0);
}

void attempt_commit(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    cycle->counts[ACTION_ALLOCATE].workloads_placed++;
    attempt_settle(cycle, workload);
    statement_commit(cycle, pool->index, explain_allocation());
}
