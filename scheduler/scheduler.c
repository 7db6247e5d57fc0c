#include "scheduler/scheduler.h"

#include "base/arena.h"
#include "scheduler/actions/allocate.h"
#include "scheduler/actions/evictions.h"
#include "scheduler/actions/outcome.h"
#include "scheduler/actions/promises.h"
#include "scheduler/placing/explain.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/cycle.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/receipts.h"
#include "scheduler/state/unit.h"

static void (*const ACTIONS[ACTION_COUNT])(struct cycle *cycle, struct pool *pool) = {
    [ACTION_ALLOCATE] = allocate_run, [ACTION_CONSOLIDATION] = consolidation_run, [ACTION_RECLAIM] = reclaim_run,
    [ACTION_PREEMPT] = preempt_run,   [ACTION_STALE_GANG_EVICTION] = stale_run,
};

static void find_home(struct cycle *cycle, struct workload *workload)
{
    workload->home = SNAPSHOT_NONE;
    for (uint32_t i = 0; i < workload->spec->pod_count && workload->counts.used > 0; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod_status_is_used(pod->state.status) && place_is(pod->state.place)) {
            workload->home = cycle->nodes[pod->state.place.node].spec->node_pool;
            return;
        }
    }
}

// Whether one of its first `count` preferences is the pool.
static bool prefers(const struct workload *workload, const struct pool *pool, size_t count)
{
    for (size_t i = 0; i < count && i < workload->spec->node_pool_count; i++) {
        if (workload->spec->node_pools[i] == pool->index)
            return true;
    }
    return false;
}

static bool may_stand_in(const struct workload *workload, const struct pool *pool)
{
    return workload->home == SNAPSHOT_NONE || workload->home == pool->index;
}

static void add_requested(struct queue *queue, const struct workload *workload, struct amounts amounts)
{
    if (workload->spec->over_budget) {
        queue->asked_in_quota_milli = quantity_add(queue->asked_in_quota_milli, amounts.of[RESOURCE_GPU]);
        amounts.of[RESOURCE_GPU] = 0;
    }
    queue->requested = amounts_add_asked(queue->requested, amounts);
}

// What may not go beyond the quota asks for no more than that, behind all else that is asked for.
static void add_asked_in_quota(struct queue *queue)
{
    int64_t left = queue->spec->deserved.of[RESOURCE_GPU];
    if (left != QUANTITY_UNLIMITED)
        left -= queue->requested.of[RESOURCE_GPU];
    struct amounts amounts = {0};
    if (left > 0)
        amounts.of[RESOURCE_GPU] = left < queue->asked_in_quota_milli ? left : queue->asked_in_quota_milli;
    queue->requested = amounts_add_asked(queue->requested, amounts);
}

// What the pool's queues ask for: what stands and is promised there, and all that is pending and has come to this pool.
static void sum_requested(struct cycle *cycle, struct pool *pool, size_t round)
{
    for (size_t d = 0; d < pool->department_count; d++)
        pool->departments[d].requested = (struct amounts){0};
    for (size_t p = 0; p < cycle->snapshot->project_count; p++) {
        pool->projects[p].requested = pool->projects[p].allocated;
        pool->projects[p].asked_in_quota_milli = 0;
        receipt_settle(&pool->projects[p]);
    }
    for (size_t i = 0; i < cycle->snapshot->workload_count; i++) {
        const struct workload *workload = &cycle->workloads[i];
        if (workload->counts.pending == 0 || !may_stand_in(workload, pool) || !prefers(workload, pool, round + 1))
            continue;
        struct queue *queue = cycle_queue(pool, workload);
        for (uint32_t p = 0; p < workload->spec->pod_count; p++) {
            const struct pod *pod = &cycle->pods[workload->spec->first_pod + p];
            if (pod->state.status == SNAPSHOT_POD_PENDING)
                add_requested(queue, workload, request_amounts(&pod->request, pool->smallest_gpu_memory_mib));
        }
    }
    for (size_t p = 0; p < cycle->snapshot->project_count; p++) {
        struct queue *queue = &pool->projects[p];
        add_asked_in_quota(queue);
        queue->parent->requested = amounts_add_asked(queue->parent->requested, queue->requested);
    }
}

// The workloads that wait for the pool in this round, and those that hold something there.
static void open_pool(struct cycle *cycle, struct pool *pool, size_t round)
{
    size_t workload_count = cycle->snapshot->workload_count;
    if (!pool->waiting) {
        pool->waiting = arena_array(cycle->scratch, workload_count, sizeof(*pool->waiting));
        pool->holders = arena_array(cycle->scratch, workload_count, sizeof(*pool->holders));
    }
    pool->waiting_count = pool->holder_count = 0;
    for (size_t i = 0; i < workload_count; i++) {
        struct workload *workload = &cycle->workloads[i];
        find_home(cycle, workload);
        if (workload->home == pool->index)
            pool->holders[pool->holder_count++] = workload;
        if (workload->counts.pending + workload->counts.gated > 0 && may_stand_in(workload, pool) &&
            round < workload->spec->node_pool_count && workload->spec->node_pools[round] == pool->index)
            pool->waiting[pool->waiting_count++] = workload;
    }
    sum_requested(cycle, pool, round);
    cycle->opened_count++;
    queue_divide_fair_shares(cycle, pool);
}

static bool has_action(const struct snapshot *snapshot, enum scheduler_action action)
{
    for (size_t i = 0; i < snapshot->action_count; i++) {
        if (snapshot->actions[i] == action)
            return true;
    }
    return false;
}

static bool has_promise(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        if (snapshot->workloads[i].promise != SNAPSHOT_PROMISE_NONE)
            return true;
    }
    return false;
}

static void note_unready(struct cycle *cycle, const struct pool *pool)
{
    for (size_t i = 0; i < pool->waiting_count; i++) {
        if (!pool->waiting[i]->spec->deleting && !unit_workload_is_ready(pool->waiting[i]))
            explain_not_ready(cycle, pool, pool->waiting[i]);
    }
}

// Actions that search for victims.
static size_t count_searches(const struct snapshot *snapshot)
{
    return (size_t)has_action(snapshot, ACTION_CONSOLIDATION) + has_action(snapshot, ACTION_RECLAIM) +
           has_action(snapshot, ACTION_PREEMPT);
}

// Actions up to `last`; ACTION_COUNT: all.
static void plan_pool(struct cycle *cycle, struct pool *pool, size_t round, enum scheduler_action last)
{
    open_pool(cycle, pool, round);
    if (round > 0 && pool->waiting_count == 0) {
        cycle->search_budget.turn += count_searches(cycle->snapshot);
        return;
    }
    note_unready(cycle, pool);
    cycle->preference = (uint32_t)round;
    for (size_t i = 0; i < cycle->snapshot->action_count; i++) {
        cycle->action = cycle->snapshot->actions[i];
        ACTIONS[cycle->action](cycle, pool);
        if (cycle->action == last)
            return;
    }
}

// Returns the number of rounds.
static size_t begin(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    if (has_action(snapshot, ACTION_ALLOCATE) && has_promise(snapshot)) {
        for (size_t p = 0; p < snapshot->node_pool_count; p++)
            open_pool(cycle, &cycle->pools[p], 0);
        promises_keep(cycle);
    }
    size_t rounds = 1;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        if (snapshot->workloads[i].node_pool_count > rounds)
            rounds = snapshot->workloads[i].node_pool_count;
    }
    cycle->search_budget.turn_count = rounds * snapshot->node_pool_count * count_searches(snapshot);
    return rounds;
}

struct plan *scheduler_run(struct cycle *cycle)
{
    size_t rounds = begin(cycle);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t p = 0; p < cycle->snapshot->node_pool_count; p++)
            plan_pool(cycle, &cycle->pools[p], round, ACTION_COUNT);
    }
    return outcome_make(cycle);
}

// The last round in which somebody may wait for the pool.
static size_t last_round(const struct cycle *cycle, uint32_t node_pool)
{
    size_t last = 0;
    for (size_t i = 0; i < cycle->snapshot->workload_count; i++) {
        const struct workload *workload = &cycle->workloads[i];
        for (size_t round = last + 1; round < workload->spec->node_pool_count; round++)
            if (workload->spec->node_pools[round] == node_pool && workload->counts.pending + workload->counts.gated > 0)
                last = round;
    }
    return last;
}

void scheduler_run_to_last_try(struct cycle *cycle, uint32_t node_pool)
{
    cycle->is_silent = true;
    begin(cycle);
    size_t last = last_round(cycle, node_pool);
    for (size_t round = 0; round < last; round++) {
        for (size_t p = 0; p < cycle->snapshot->node_pool_count; p++)
            plan_pool(cycle, &cycle->pools[p], round, ACTION_COUNT);
    }
    // Nobody waits for a pool after another one in the same round: who is tried in this one does not depend on others.
    if (has_action(cycle->snapshot, ACTION_ALLOCATE))
        plan_pool(cycle, &cycle->pools[node_pool], last, ACTION_ALLOCATE);
}

int scheduler_plan(const struct snapshot *snapshot, struct arena *arena, struct plan **out_plan, struct error *err)
{
    return scheduler_plan_with(snapshot, &(struct scheduler_options){0}, arena, out_plan, err);
}

int scheduler_plan_with(const struct snapshot *snapshot, const struct scheduler_options *options, struct arena *arena,
                        struct plan **out_plan, struct error *err)
{
    struct cycle *cycle;
    if (cycle_open_with(snapshot, arena, options->scratch ? options->scratch : arena, &cycle, err) < 0)
        return -1;
    cycle->is_plain = options->plain_search;
    cycle->is_silent = options->decisions_only;
    *out_plan = scheduler_run(cycle);
    return 0;
}
