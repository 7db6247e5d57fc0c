#include "scheduler/placing/attempt.h"

#include "base/arena.h"
#include "scheduler/placing/affinity.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/survey.h"
#include "scheduler/placing/topology.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

struct placing {
    struct cycle *cycle;
    const struct pool *pool;
    struct workload *workload;
    bool promise_only;
    struct attempt *attempt;
    const struct pod *first; // that was tried; NULL: none yet
};

static bool place_pods(struct placing *placing, uint32_t leaf, const struct node_set *set)
{
    const struct workload *workload = placing->workload;
    for (uint32_t i = 0; i < workload->unit_count; i++) {
        struct pod *pod = &placing->cycle->pods[workload->unit[i]];
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
    attempt->refusal = queue_check_capacity(cycle_queue(pool, workload), amounts, workload->spec->preemptible);
    if (attempt->refusal.queue)
        return false;
    struct placing placing = {
        .cycle = cycle, .pool = pool, .workload = workload, .promise_only = promise_only, .attempt = attempt};
    size_t checkpoint = statement_checkpoint(cycle);
    if (place_group(&placing, 0, set))
        return true;
    statement_roll_back(cycle, checkpoint);
    return placing.first && affinity_is_open(workload) && place_elsewhere(&placing, set);
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
