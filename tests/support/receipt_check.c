#include "tests/support/receipt_check.h"

#include "base/arena.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

struct sums {
    const struct snapshot *snapshot;
    struct amounts *projects; // [project * pools + pool]
    struct amounts *departments;
    uint32_t *node_of; // of each pod; SNAPSHOT_NONE: not charged
};

static struct amounts charge(const struct snapshot *snapshot, const struct snapshot_pod *pod, uint32_t node)
{
    struct amounts amounts = {.of = {[RESOURCE_CPU] = pod->cpu_milli, [RESOURCE_MEMORY] = pod->memory_bytes}};
    int64_t each = pod->gpu_portion_milli > 0 ? pod->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
    if (pod->gpu_memory_mib > 0) {
        // Device memory counts in whole hundreds, one where nothing is known; charged by hundredths, rounded up.
        int64_t memory = snapshot->nodes[node].gpu_memory_mib / 100 * 100;
        int64_t known = memory > 0 ? memory : 100;
        each = (pod->gpu_memory_mib * 100 + known - 1) / known * 10;
    }
    amounts.of[RESOURCE_GPU] = each * pod->gpu_devices;
    for (size_t i = 0; i < pod->extended_count; i++)
        amounts.of[RESOURCE_GPU] +=
            pod->extended[i].count * snapshot->extended_resources[pod->extended[i].resource].gpu_milli;
    return amounts;
}

static void move(struct sums *sums, uint32_t pod, uint32_t node, int64_t sign)
{
    const struct snapshot *snapshot = sums->snapshot;
    uint32_t project = snapshot->workloads[snapshot->pods[pod].workload].project;
    size_t pools = snapshot->node_pool_count, pool = snapshot->nodes[node].node_pool;
    struct amounts amounts = charge(snapshot, &snapshot->pods[pod], node);
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        sums->projects[project * pools + pool].of[r] += sign * amounts.of[r];
        sums->departments[snapshot->projects[project].department * pools + pool].of[r] += sign * amounts.of[r];
    }
    sums->node_of[pod] = sign > 0 ? node : SNAPSHOT_NONE;
}

static bool is_held(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_BINDING || status == SNAPSHOT_POD_BOUND || status == SNAPSHOT_POD_RUNNING;
}

static void open_sums(struct sums *sums, const struct snapshot *snapshot, struct arena *arena)
{
    size_t pools = snapshot->node_pool_count;
    sums->snapshot = snapshot;
    sums->projects = arena_array(arena, snapshot->project_count * pools, sizeof(*sums->projects));
    sums->departments = arena_array(arena, snapshot->department_count * pools, sizeof(*sums->departments));
    sums->node_of = arena_array(arena, snapshot->pod_count, sizeof(*sums->node_of));
    for (uint32_t p = 0; p < snapshot->pod_count; p++) {
        sums->node_of[p] = SNAPSHOT_NONE;
        if (is_held(snapshot->pods[p].status))
            move(sums, p, snapshot->pods[p].node, 1);
    }
}

static bool equals(struct amounts a, struct amounts b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

struct numbers {
    const struct snapshot *snapshot;
    const struct sums *before;
    const struct sums *after;
    const char *name;
    bool shares_stand; // no workload goes from pool to pool: shares are divided once
    const struct plan *plan;
};

static void check_side(const struct numbers *numbers, const struct plan_receipt_side *side, uint32_t workload,
                       uint32_t pool, const char *which)
{
    const struct snapshot *snapshot = numbers->snapshot;
    if (workload == SNAPSHOT_NONE) {
        check_true(side->project == SNAPSHOT_NONE, "%s: %s: nobody", numbers->name, which);
        return;
    }
    const struct snapshot_project *project = &snapshot->projects[snapshot->workloads[workload].project];
    size_t pools = snapshot->node_pool_count;
    size_t p = snapshot->workloads[workload].project * pools + pool, d = project->department * pools + pool;
    check_int(side->project, snapshot->workloads[workload].project, "%s: %s: project", numbers->name, which);
    check_int(side->department, project->department, "%s: %s: department", numbers->name, which);
    const struct plan_receipt_queue *own = &side->project_queue, *above = &side->department_queue;
    check_true(equals(own->allocated_before, numbers->before->projects[p]), "%s: %s: project before", numbers->name,
               which);
    check_true(equals(own->allocated_after, numbers->after->projects[p]), "%s: %s: project after", numbers->name,
               which);
    check_true(equals(own->deserved, project->queues[pool].deserved) && equals(own->limit, project->queues[pool].limit),
               "%s: %s: quota and limit", numbers->name, which);
    if (numbers->shares_stand)
        check_true(equals(own->fair_share, numbers->plan->projects[p].fair_share), "%s: %s: fair share", numbers->name,
                   which);
    if (!snapshot->settings.full_hierarchy_fairness)
        return;
    check_true(equals(above->allocated_before, numbers->before->departments[d]), "%s: %s: department before",
               numbers->name, which);
    check_true(equals(above->allocated_after, numbers->after->departments[d]), "%s: %s: department after",
               numbers->name, which);
    check_true(equals(above->deserved, snapshot->departments[project->department].queues[pool].deserved),
               "%s: %s: department's quota", numbers->name, which);
}

// What both rules of reclaim ask of the side that gives: more than its share, or more than its quota.
static bool exceeds(const struct plan_receipt_queue *queue, bool quota_only)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        int64_t line = queue->deserved.of[r];
        if (!quota_only && line != QUANTITY_UNLIMITED && queue->fair_share.of[r] > line)
            line = queue->fair_share.of[r];
        if (!quota_only && queue->limit.of[r] < line)
            line = queue->limit.of[r];
        if (queue->allocated_before.of[r] > line)
            return true;
    }
    return false;
}

static int64_t rank_of(const struct numbers *numbers, const struct plan_receipt_side *side, uint32_t pool,
                       bool is_inside)
{
    return is_inside ? numbers->snapshot->projects[side->project].queues[pool].rank
                     : numbers->snapshot->departments[side->department].queues[pool].rank;
}

static void check_rule(const struct numbers *numbers, const struct plan_decision *decision)
{
    const struct plan_receipt *receipt = decision->receipt;
    const struct plan_receipt_side *victim = &receipt->victim, *beneficiary = &receipt->beneficiary;
    check_true((receipt->rule == EVICTION_MOVED) == decision->moved, "%s: moved", numbers->name);
    check_true((receipt->rule == EVICTION_STALE_GANG) == (decision->action == ACTION_STALE_GANG_EVICTION),
               "%s: stale gang", numbers->name);
    if (receipt->rule == EVICTION_HIGHER_PRIORITY)
        check_true(decision->action == ACTION_PREEMPT && victim->project == beneficiary->project &&
                       numbers->snapshot->workloads[decision->workload].priority <
                           numbers->snapshot->workloads[decision->beneficiary].priority,
                   "%s: higher priority", numbers->name);
    bool is_inside =
        victim->department == beneficiary->department || !numbers->snapshot->settings.full_hierarchy_fairness;
    if (receipt->rule == EVICTION_HIGHER_RANK)
        check_true(rank_of(numbers, beneficiary, decision->node_pool, is_inside) >
                           rank_of(numbers, victim, decision->node_pool, is_inside) &&
                       numbers->snapshot->node_pools[decision->node_pool].reclaims_by_rank,
                   "%s: higher rank", numbers->name);
    if (receipt->rule != EVICTION_ABOVE_SHARE && receipt->rule != EVICTION_OWED_QUOTA)
        return;
    check_true(decision->action == ACTION_RECLAIM && victim->project != beneficiary->project, "%s: reclaim",
               numbers->name);
    check_true(
        exceeds(is_inside ? &victim->project_queue : &victim->department_queue, receipt->rule == EVICTION_OWED_QUOTA),
        "%s: %s by its numbers", numbers->name, eviction_rule_name(receipt->rule));
}

static bool shares_stand(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        if (snapshot->workloads[i].node_pool_count > 1 || snapshot->workloads[i].promise != SNAPSHOT_PROMISE_NONE)
            return false;
    }
    return true;
}

static void apply(struct sums *sums, const struct plan_decision *decision)
{
    if (decision->verb == PLAN_EVICT || decision->verb == PLAN_WITHDRAW)
        move(sums, decision->pod, sums->node_of[decision->pod], -1);
    else
        move(sums, decision->pod, decision->node, 1);
}

static void check_eviction(const struct numbers *numbers, const struct plan_decision *decision)
{
    const struct snapshot *snapshot = numbers->snapshot;
    const struct snapshot_pod *pod = &snapshot->pods[decision->pod];
    check_true(decision->receipt != NULL, "%s: an eviction has a receipt", numbers->name);
    check_side(numbers, &decision->receipt->victim, decision->workload, decision->node_pool, "victim");
    check_side(numbers, &decision->receipt->beneficiary, decision->beneficiary, decision->node_pool, "beneficiary");
    check_rule(numbers, decision);
    check_int(decision->gpu_milli, charge(snapshot, pod, decision->node).of[RESOURCE_GPU], "%s: GPUs", numbers->name);
    bool ran = is_held(pod->status) && pod->started_ms != SNAPSHOT_TIME_NONE && pod->started_ms < snapshot->now_ms;
    check_int(decision->lost_ms, ran ? snapshot->now_ms - pod->started_ms : 0, "%s: lost run time", numbers->name);
}

void receipts_check(const struct snapshot *snapshot, const struct plan *plan, const char *name,
                    unsigned counts[EVICTION_RULE_COUNT])
{
    struct arena arena;
    struct sums before, after;
    arena_init(&arena);
    open_sums(&before, snapshot, &arena);
    open_sums(&after, snapshot, &arena);
    struct numbers numbers = {snapshot, &before, &after, name, shares_stand(snapshot), plan};
    size_t end = 0;
    for (size_t start = 0; start < plan->decision_count; start = end) {
        for (; end < plan->decision_count && plan->decisions[end].statement == plan->decisions[start].statement; end++)
            apply(&after, &plan->decisions[end]);
        for (size_t i = start; i < end; i++) {
            if (plan->decisions[i].verb != PLAN_EVICT)
                continue;
            check_eviction(&numbers, &plan->decisions[i]);
            counts[plan->decisions[i].receipt->rule]++;
        }
        for (size_t i = start; i < end; i++)
            apply(&before, &plan->decisions[i]);
    }
    arena_done(&arena);
}
