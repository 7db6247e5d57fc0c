#include "base/arena.h"
#include "base/error.h"
#include "reconciler/check/plan_check.h"
#include "reconciler/check/plan_reading.h"
#include "scheduler/pod_status.h"

// What everybody holds while the plan's statements are gone through.
struct ledger {
    const struct snapshot *snapshot;
    const struct plan *plan;
    struct amounts *projects;    // by project and node pool
    struct amounts *departments; // by department and node pool
    uint32_t *node_of;           // by pod; SNAPSHOT_NONE
    uint32_t *left;              // by pod: the node that it left last
    struct amounts *lost;        // by workload: in this statement
};

// The project or department that answers for a victim: the highest that the beneficiary does not belong to.
struct side {
    const struct amounts *held;
    const struct snapshot_queue *queue;
};

static size_t in_pool(const struct ledger *ledger, uint32_t index, uint32_t node_pool)
{
    return (size_t)index * ledger->snapshot->node_pool_count + node_pool;
}

static uint32_t department_of(const struct ledger *ledger, uint32_t workload)
{
    return ledger->snapshot->projects[ledger->snapshot->workloads[workload].project].department;
}

static void add(struct amounts *sum, const struct amounts *amounts, int64_t sign)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        sum->of[r] += sign * amounts->of[r];
}

static void count_pod(struct ledger *ledger, uint32_t pod, uint32_t node, int64_t sign)
{
    const struct snapshot *snapshot = ledger->snapshot;
    uint32_t workload = snapshot->pods[pod].workload, pool = snapshot->nodes[node].node_pool;
    struct amounts amounts = plan_reading_charge(snapshot, &snapshot->pods[pod], &snapshot->nodes[node]);
    add(&ledger->projects[in_pool(ledger, snapshot->workloads[workload].project, pool)], &amounts, sign);
    add(&ledger->departments[in_pool(ledger, department_of(ledger, workload), pool)], &amounts, sign);
}

static void lose(struct ledger *ledger, uint32_t pod, uint32_t node, int64_t sign)
{
    const struct snapshot *snapshot = ledger->snapshot;
    struct amounts amounts = plan_reading_charge(snapshot, &snapshot->pods[pod], &snapshot->nodes[node]);
    add(&ledger->lost[snapshot->pods[pod].workload], &amounts, sign);
}

static bool takes(const struct plan_decision *decision)
{
    return decision->verb == PLAN_EVICT || decision->verb == PLAN_WITHDRAW;
}

static void apply(struct ledger *ledger, const struct plan_decision *decision)
{
    uint32_t *node = &ledger->node_of[decision->pod], *left = &ledger->left[decision->pod];
    if (takes(decision) && *node != SNAPSHOT_NONE) {
        count_pod(ledger, decision->pod, *node, -1);
        lose(ledger, decision->pod, *node, 1);
        *left = *node;
        *node = SNAPSHOT_NONE;
    } else if (!takes(decision) && *node == SNAPSHOT_NONE) {
        *node = decision->node;
        count_pod(ledger, decision->pod, *node, 1);
        if (decision->beneficiary != SNAPSHOT_NONE && *left != SNAPSHOT_NONE) // it only moves
            lose(ledger, decision->pod, *left, -1);
    }
}

static struct side side_of(const struct ledger *ledger, const struct plan_decision *eviction)
{
    const struct snapshot *snapshot = ledger->snapshot;
    uint32_t department = department_of(ledger, eviction->workload), pool = eviction->node_pool;
    uint32_t project = snapshot->workloads[eviction->workload].project;
    if (snapshot->settings.full_hierarchy_fairness && department != department_of(ledger, eviction->beneficiary))
        return (struct side){&ledger->departments[in_pool(ledger, department, pool)],
                             &snapshot->departments[department].queues[pool]};
    return (struct side){&ledger->projects[in_pool(ledger, project, pool)], &snapshot->projects[project].queues[pool]};
}

// Whether the side, before it lost this, held more of something than it deserves, or than its limit.
static bool was_above(const struct side *side, const struct amounts *lost)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        int64_t before = side->held->of[r] + lost->of[r];
        if (before > side->queue->deserved.of[r] || before > side->queue->limit.of[r])
            return true;
    }
    return false;
}

// Whether the beneficiary's side stays within what it deserves and ranks above the victim's, where rank decides.
static bool outranks(const struct ledger *ledger, const struct plan_decision *eviction, const struct side *victim)
{
    struct plan_decision own = *eviction;
    own.workload = eviction->beneficiary;
    own.beneficiary = eviction->workload;
    struct side side = side_of(ledger, &own);
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (side.held->of[r] > side.queue->deserved.of[r])
            return false;
    }
    return ledger->snapshot->node_pools[eviction->node_pool].reclaims_by_rank && side.queue->rank > victim->queue->rank;
}

static bool is_lost(const struct amounts *lost)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (lost->of[r] > 0)
            return true;
    }
    return false;
}

// Victims go one after the other while their side is above; which was the last the plan does not say: one must fit.
static int check_statement(const struct ledger *ledger, size_t first, size_t end, struct error *err)
{
    const struct plan_decision *decisions = ledger->plan->decisions;
    const struct amounts *seen = NULL;
    for (size_t i = first; i < end; i++) {
        if (!takes(&decisions[i]) || !is_lost(&ledger->lost[decisions[i].workload]))
            continue;
        struct side side = side_of(ledger, &decisions[i]);
        bool fits = side.held == seen || outranks(ledger, &decisions[i], &side);
        for (size_t v = first; v < end && !fits; v++)
            fits = takes(&decisions[v]) && side_of(ledger, &decisions[v]).held == side.held &&
                   is_lost(&ledger->lost[decisions[v].workload]) &&
                   was_above(&side, &ledger->lost[decisions[v].workload]);
        if (!fits)
            return error_set(err, ERROR_INTERNAL,
                             "pod %s would be reclaimed of what its project or department deserves",
                             ledger->snapshot->pods[decisions[i].pod].name);
        seen = side.held;
    }
    return 0;
}

int plan_check_reclaims(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
                        struct error *err)
{
    size_t pools = snapshot->node_pool_count;
    bool reclaims = false;
    for (size_t i = 0; i < plan->decision_count && !reclaims; i++)
        reclaims = plan->decisions[i].action == ACTION_RECLAIM && plan->decisions[i].verb == PLAN_EVICT;
    if (!reclaims)
        return 0;
    struct ledger ledger = {.snapshot = snapshot,
                            .plan = plan,
                            .projects = arena_array(arena, snapshot->project_count * pools, sizeof(struct amounts)),
                            .departments =
                                arena_array(arena, snapshot->department_count * pools, sizeof(struct amounts)),
                            .node_of = arena_array(arena, snapshot->pod_count, sizeof(uint32_t)),
                            .left = arena_array(arena, snapshot->pod_count, sizeof(uint32_t)),
                            .lost = arena_array(arena, snapshot->workload_count, sizeof(struct amounts))};
    for (uint32_t p = 0; p < snapshot->pod_count; p++) {
        bool holds = pod_status_is_allocated(snapshot->pods[p].status);
        ledger.node_of[p] = holds ? snapshot->pods[p].node : SNAPSHOT_NONE;
        ledger.left[p] = SNAPSHOT_NONE;
        if (holds)
            count_pod(&ledger, p, snapshot->pods[p].node, 1);
    }
    for (size_t first = 0, end; first < plan->decision_count; first = end) {
        const struct plan_decision *decisions = plan->decisions;
        for (end = first; end < plan->decision_count && decisions[end].statement == decisions[first].statement; end++)
            apply(&ledger, &decisions[end]);
        if (decisions[first].action == ACTION_RECLAIM && check_statement(&ledger, first, end, err) < 0)
            return -1;
        for (size_t i = first; i < end; i++)
            ledger.lost[decisions[i].workload] = (struct amounts){0};
    }
    return 0;
}
