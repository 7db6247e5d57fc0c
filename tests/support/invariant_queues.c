// Goes through the decisions in the order they were taken, with sums of its own, statement by statement. Queues are
// looked at where a statement ends, for in the middle of it victims are gone that come back.
#include "tests/support/invariant_queues.h"

#include "scheduler/pod_status.h"

#include <stdlib.h>
#include <string.h>

struct tally {
    struct amounts allocated;
    struct amounts non_preemptible;
};

struct replay {
    const struct view *view;
    size_t project_queues; // the first of tallies; then those of departments
    size_t queues;
    struct tally *now;
    struct tally *start;  // of the statement
    struct tally *placed; // by the statement
    uint32_t *node_of;    // of each pod; SNAPSHOT_NONE
    uint32_t *left;       // of each pod: the node that it left last
    struct amounts *lost; // of each workload, by the statement
    bool *has_lost;       // workloads that lost a pod, not only a promise, by an earlier statement
    uint32_t *victim_of;  // of each workload: the statement that took a pod of it last, by its first decision and 1
    bool shares_change;   // workloads try several pools in turn: a pool's fair shares are not those of its first turn
};

static size_t project_queue(const struct replay *replay, uint32_t workload, uint32_t pool)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    return snapshot->workloads[workload].project * snapshot->node_pool_count + pool;
}

static size_t department_queue(const struct replay *replay, uint32_t workload, uint32_t pool)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    uint32_t department = snapshot->projects[snapshot->workloads[workload].project].department;
    return replay->project_queues + department * snapshot->node_pool_count + pool;
}

static const struct plan_queue *numbers(const struct replay *replay, const struct plan *plan, size_t queue)
{
    return queue < replay->project_queues ? &plan->projects[queue] : &plan->departments[queue - replay->project_queues];
}

static const char *queue_name(const struct replay *replay, size_t queue)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    return queue < replay->project_queues
               ? snapshot->projects[queue / snapshot->node_pool_count].name
               : snapshot->departments[(queue - replay->project_queues) / snapshot->node_pool_count].name;
}

static struct amounts charge(const struct snapshot *snapshot, const struct snapshot_pod *pod, uint32_t node)
{
    struct amounts amounts = {.of = {[RESOURCE_CPU] = pod->cpu_milli, [RESOURCE_MEMORY] = pod->memory_bytes}};
    int64_t each = GPU_MILLI_PER_DEVICE;
    if (pod->gpu_portion_milli > 0) {
        each = pod->gpu_portion_milli;
    } else if (pod->gpu_memory_mib > 0) {
        // The core knows device memory in steps of 100 MiB, and one step where nothing is said.
        int64_t known = snapshot->nodes[node].gpu_memory_mib / 100 * 100, memory = known > 0 ? known : 100;
        each = (pod->gpu_memory_mib * 100 + memory - 1) / memory * 10;
    }
    amounts.of[RESOURCE_GPU] = (int64_t)pod->gpu_devices * each;
    for (size_t i = 0; i < pod->extended_count; i++)
        amounts.of[RESOURCE_GPU] +=
            pod->extended[i].count * snapshot->extended_resources[pod->extended[i].resource].gpu_milli;
    return amounts;
}

static void add(struct amounts *sum, const struct amounts *amounts, int64_t sign)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        sum->of[r] += sign * amounts->of[r];
}

static void add_to_queues(struct replay *replay, struct tally *tallies, uint32_t pod, uint32_t node, int64_t sign)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    uint32_t workload = snapshot->pods[pod].workload, pool = snapshot->nodes[node].node_pool;
    struct amounts amounts = charge(snapshot, &snapshot->pods[pod], node);
    const size_t of[] = {project_queue(replay, workload, pool), department_queue(replay, workload, pool)};
    for (size_t i = 0; i < 2; i++) {
        add(&tallies[of[i]].allocated, &amounts, sign);
        if (!snapshot->workloads[workload].preemptible)
            add(&tallies[of[i]].non_preemptible, &amounts, sign);
    }
}

static bool check_sums(const struct replay *replay, const struct plan *plan, const char *rule)
{
    for (size_t q = 0; q < replay->queues; q++) {
        const struct plan_queue *queue = numbers(replay, plan, q);
        if (q >= replay->project_queues && !replay->view->snapshot->settings.full_hierarchy_fairness)
            break;
        if (memcmp(&queue->allocated, &replay->now[q].allocated, sizeof(queue->allocated)) != 0 ||
            memcmp(&queue->allocated_non_preemptible, &replay->now[q].non_preemptible, sizeof(queue->allocated)) != 0)
            return breach_set(replay->view->breach, rule, "%s", queue_name(replay, q));
    }
    return true;
}

static bool check_bounds(const struct replay *replay)
{
    for (size_t q = 0; q < replay->queues; q++) {
        const struct plan_queue *queue = numbers(replay, replay->view->plan, q);
        if (q >= replay->project_queues && !replay->view->snapshot->settings.full_hierarchy_fairness)
            break;
        for (size_t r = 0; r < RESOURCE_COUNT; r++) {
            if (replay->placed[q].allocated.of[r] > 0 && replay->now[q].allocated.of[r] > queue->limit.of[r])
                return breach_set(replay->view->breach, "nothing placed over a limit", "%s", queue_name(replay, q));
            if (replay->placed[q].non_preemptible.of[r] > 0 &&
                replay->now[q].non_preemptible.of[r] > queue->deserved.of[r])
                return breach_set(replay->view->breach, "nothing non-preemptible placed over what is deserved", "%s",
                                  queue_name(replay, q));
        }
    }
    return true;
}

static bool is_same_statement(const struct replay *replay, size_t first, size_t next)
{
    const struct plan_decision *a = &replay->view->plan->decisions[first], *b = &replay->view->plan->decisions[next];
    return a->statement == b->statement && a->action == b->action && a->node_pool == b->node_pool;
}

static bool apply(struct replay *replay, size_t first, const struct plan_decision *decision)
{
    const struct snapshot_pod *pod = &replay->view->snapshot->pods[decision->pod];
    uint32_t *node = &replay->node_of[decision->pod];
    bool leaves = decision->verb == PLAN_EVICT || decision->verb == PLAN_WITHDRAW;
    if (leaves != (*node != SNAPSHOT_NONE))
        return breach_set(replay->view->breach, "only what holds a place loses it, only what has none gets one", "%s",
                          pod->name);
    if (leaves) {
        struct amounts amounts = charge(replay->view->snapshot, pod, *node);
        add(&replay->lost[decision->workload], &amounts, 1);
        add_to_queues(replay, replay->now, decision->pod, *node, -1);
        replay->left[decision->pod] = *node;
        *node = SNAPSHOT_NONE;
        replay->victim_of[decision->workload] = (uint32_t)first + 1;
        return true;
    }
    if (replay->has_lost[decision->workload] && replay->victim_of[decision->workload] != first + 1)
        return breach_set(replay->view->breach, "what lost a pod gets nothing more in the cycle", "%s", pod->name);
    *node = decision->node;
    if (decision->beneficiary != SNAPSHOT_NONE) { // a victim that has a place again, be it charged otherwise there
        struct amounts amounts = charge(replay->view->snapshot, pod, replay->left[decision->pod]);
        add(&replay->lost[decision->workload], &amounts, -1);
    }
    add_to_queues(replay, replay->now, decision->pod, *node, 1);
    add_to_queues(replay, replay->placed, decision->pod, *node, 1);
    return true;
}

static bool check_victim(const struct replay *replay, const struct plan_decision *decision)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    struct breach *breach = replay->view->breach;
    const struct snapshot_workload *victim = &snapshot->workloads[decision->workload];
    if (decision->action == ACTION_STALE_GANG_EVICTION)
        return true;
    if (decision->action == ACTION_ALLOCATE)
        return breach_set(breach, "allocate takes nothing away", "%s", victim->name);
    if (!victim->preemptible)
        return breach_set(breach, "a non-preemptible workload keeps its pods", "%s", victim->name);
    if (decision->beneficiary == SNAPSHOT_NONE || decision->beneficiary == decision->workload)
        return breach_set(breach, "what is taken is taken for another workload", "%s", victim->name);
    const struct snapshot_workload *beneficiary = &snapshot->workloads[decision->beneficiary];
    if (decision->action == ACTION_RECLAIM && victim->project == beneficiary->project)
        return breach_set(breach, "reclaim takes from other projects", "%s for %s", victim->name, beneficiary->name);
    if (decision->action == ACTION_PREEMPT &&
        (victim->project != beneficiary->project || victim->priority >= beneficiary->priority))
        return breach_set(breach, "preemption takes from lower priorities of the project", "%s for %s", victim->name,
                          beneficiary->name);
    if (decision->action == ACTION_CONSOLIDATION && replay->node_of[decision->pod] == SNAPSHOT_NONE)
        return breach_set(breach, "consolidation has a new place for all that it moves", "%s", victim->name);
    return true;
}

static bool is_above(const struct amounts *amounts, const struct amounts *bound)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        if (amounts->of[r] > bound->of[r])
            return true;
    return false;
}

// docs/scheduler.md, 2.1: what a queue may hold before it is more than its own.
static struct amounts allocatable_share(const struct plan_queue *queue)
{
    struct amounts share;
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        int64_t amount = queue->deserved.of[r];
        if (amount != QUANTITY_UNLIMITED && queue->fair_share.of[r] > amount)
            amount = queue->fair_share.of[r];
        share.of[r] = amount < queue->limit.of[r] ? amount : queue->limit.of[r];
    }
    return share;
}

// The two queues that differ first from the root down.
static void leveled(const struct replay *replay, uint32_t beneficiary, uint32_t victim, uint32_t pool, size_t *out_a,
                    size_t *out_b)
{
    *out_a = department_queue(replay, beneficiary, pool);
    *out_b = department_queue(replay, victim, pool);
    if (*out_a != *out_b && replay->view->snapshot->settings.full_hierarchy_fairness)
        return;
    *out_a = project_queue(replay, beneficiary, pool);
    *out_b = project_queue(replay, victim, pool);
}

// Ours: the beneficiary's side and its project stay within what they deserve, and it ranks above the victim's side.
static bool outranks(const struct replay *replay, const struct plan_decision *decision, bool within_deserved)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    uint32_t pool = decision->node_pool;
    const struct snapshot_project *own = &snapshot->projects[snapshot->workloads[decision->beneficiary].project];
    const struct snapshot_project *other = &snapshot->projects[snapshot->workloads[decision->workload].project];
    bool is_inside = own->department == other->department || !snapshot->settings.full_hierarchy_fairness;
    size_t leaf = project_queue(replay, decision->beneficiary, pool);
    struct amounts mine = replay->start[leaf].allocated;
    add(&mine, &replay->placed[leaf].allocated, 1);
    int64_t above = is_inside ? own->queues[pool].rank : snapshot->departments[own->department].queues[pool].rank,
            below = is_inside ? other->queues[pool].rank : snapshot->departments[other->department].queues[pool].rank;
    return snapshot->node_pools[pool].reclaims_by_rank && within_deserved && above > below &&
           !is_above(&mine, &own->queues[pool].deserved);
}

// 6.9: until the last victim goes, its queue is above its share, or above what it deserves for one who stays within
// what it deserves itself. Which victim is the last the plan does not say: some victim must fit. Rank may allow more.
static bool check_reclaim(const struct replay *replay, const struct plan_decision *decision)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    uint32_t beneficiary = decision->beneficiary, pool = decision->node_pool;
    size_t a, b, other_a, other_b;
    leveled(replay, beneficiary, decision->workload, pool, &a, &b);
    struct amounts taken = {0};
    for (uint32_t w = 0; w < snapshot->workload_count; w++) {
        leveled(replay, beneficiary, w, pool, &other_a, &other_b);
        if (w != beneficiary && other_b == b)
            add(&taken, &replay->lost[w], 1);
    }
    struct amounts mine = replay->start[a].allocated;
    size_t leaf = project_queue(replay, beneficiary, pool);
    add(&mine, &replay->placed[leaf].allocated, 1);
    bool within_deserved = !is_above(&mine, &numbers(replay, replay->view->plan, a)->deserved);
    if (outranks(replay, decision, within_deserved))
        return true;
    const struct plan_queue *theirs = numbers(replay, replay->view->plan, b);
    struct amounts share = allocatable_share(theirs);
    for (uint32_t w = 0; w < snapshot->workload_count; w++) {
        leveled(replay, beneficiary, w, pool, &other_a, &other_b);
        struct amounts remaining = replay->start[b].allocated;
        add(&remaining, &taken, -1);
        add(&remaining, &replay->lost[w], 1);
        if (w != beneficiary && other_b == b && is_above(&replay->lost[w], &(struct amounts){0}) &&
            (is_above(&remaining, &share) || (within_deserved && is_above(&remaining, &theirs->deserved))))
            return true;
    }
    return breach_set(replay->view->breach, "reclaim takes no more than what is over the share", "%s for %s",
                      snapshot->workloads[decision->workload].name, snapshot->workloads[beneficiary].name);
}

// 6.3: a project reclaims up to its fair share. An amount of GPU memory counts otherwise there than on a node.
static bool check_reclaimer(const struct replay *replay, const struct plan_decision *decision)
{
    const struct snapshot *snapshot = replay->view->snapshot;
    const struct snapshot_workload *workload = &snapshot->workloads[decision->beneficiary];
    bool by_memory = false;
    for (uint32_t p = workload->first_pod; p < workload->first_pod + workload->pod_count; p++)
        by_memory = by_memory || snapshot->pods[p].gpu_memory_mib > 0;
    size_t queue = project_queue(replay, decision->beneficiary, decision->node_pool);
    struct amounts mine = replay->start[queue].allocated;
    add(&mine, &replay->placed[queue].allocated, 1);
    if (!by_memory && is_above(&mine, &numbers(replay, replay->view->plan, queue)->fair_share))
        return breach_set(replay->view->breach, "nobody reclaims beyond the fair share", "%s", workload->name);
    return true;
}

static bool is_placed(const struct replay *replay, uint32_t workload, size_t first, size_t end)
{
    const struct plan_decision *decisions = replay->view->plan->decisions;
    for (size_t i = first; i < end; i++) {
        if (decisions[i].workload == workload && (decisions[i].verb == PLAN_PIPELINE || decisions[i].verb == PLAN_BIND))
            return true;
    }
    return false;
}

static bool check_statement(struct replay *replay, size_t first, size_t end)
{
    const struct plan_decision *decisions = replay->view->plan->decisions;
    for (size_t i = first; i < end; i++) {
        if (decisions[i].verb == PLAN_PIPELINE || decisions[i].verb == PLAN_BIND)
            continue;
        if (!check_victim(replay, &decisions[i]))
            return false;
        if (decisions[i].action != ACTION_STALE_GANG_EVICTION &&
            !is_placed(replay, decisions[i].beneficiary, first, end))
            return breach_set(replay->view->breach, "the beneficiary gets its place in the same statement", "%s",
                              replay->view->snapshot->workloads[decisions[i].beneficiary].name);
        bool is_lost = is_above(&replay->lost[decisions[i].workload], &(struct amounts){0});
        if (decisions[i].action == ACTION_RECLAIM && is_lost && !replay->shares_change &&
            (!check_reclaim(replay, &decisions[i]) || !check_reclaimer(replay, &decisions[i])))
            return false;
        if (decisions[i].verb == PLAN_EVICT && replay->node_of[decisions[i].pod] == SNAPSHOT_NONE)
            replay->has_lost[decisions[i].workload] = true;
    }
    return check_bounds(replay);
}

static bool replay_decisions(struct replay *replay)
{
    const struct plan *plan = replay->view->plan;
    for (size_t first = 0, end; first < plan->decision_count; first = end) {
        memcpy(replay->start, replay->now, replay->queues * sizeof(*replay->now));
        memset(replay->placed, 0, replay->queues * sizeof(*replay->placed));
        memset(replay->lost, 0, replay->view->snapshot->workload_count * sizeof(*replay->lost));
        if (first > 0 && plan->decisions[first].statement <= plan->decisions[first - 1].statement)
            return breach_set(replay->view->breach, "statements follow each other", "%u",
                              plan->decisions[first].statement);
        for (end = first; end < plan->decision_count && is_same_statement(replay, first, end); end++)
            if (!apply(replay, first, &plan->decisions[end]))
                return false;
        if (!check_statement(replay, first, end))
            return false;
    }
    for (size_t p = 0; p < replay->view->snapshot->pod_count; p++) {
        const struct plan_pod *place = &plan->pods[p];
        uint32_t node = pod_status_is_held(place->status) ? place->node : SNAPSHOT_NONE;
        if (node != replay->node_of[p])
            return breach_set(replay->view->breach, "the decisions lead to what the plan shows", "%s",
                              replay->view->snapshot->pods[p].name);
    }
    return check_sums(replay, plan, "a queue holds what its pods hold in the end");
}

bool invariant_statements_hold(const struct view *view)
{
    const struct snapshot *snapshot = view->snapshot;
    struct replay replay = {.view = view, .project_queues = snapshot->project_count * snapshot->node_pool_count};
    replay.queues = replay.project_queues + snapshot->department_count * snapshot->node_pool_count;
    replay.now = calloc(replay.queues + 1, sizeof(*replay.now));
    replay.start = calloc(replay.queues + 1, sizeof(*replay.start));
    replay.placed = calloc(replay.queues + 1, sizeof(*replay.placed));
    replay.node_of = calloc(snapshot->pod_count + 1, sizeof(*replay.node_of));
    replay.left = calloc(snapshot->pod_count + 1, sizeof(*replay.left));
    replay.lost = calloc(snapshot->workload_count + 1, sizeof(*replay.lost));
    replay.has_lost = calloc(snapshot->workload_count + 1, sizeof(*replay.has_lost));
    replay.victim_of = calloc(snapshot->workload_count + 1, sizeof(*replay.victim_of));
    for (size_t w = 0; w < snapshot->workload_count; w++)
        replay.shares_change = replay.shares_change || snapshot->workloads[w].node_pool_count > 1;
    for (uint32_t p = 0; p < snapshot->pod_count; p++) {
        bool is_held = pod_status_is_allocated(snapshot->pods[p].status);
        replay.node_of[p] = is_held ? snapshot->pods[p].node : SNAPSHOT_NONE;
        if (is_held)
            add_to_queues(&replay, replay.now, p, replay.node_of[p], 1);
    }
    bool holds = check_sums(&replay, view->before, "a queue holds what its pods hold") && replay_decisions(&replay);
    free(replay.now);
    free(replay.start);
    free(replay.placed);
    free(replay.node_of);
    free(replay.left);
    free(replay.lost);
    free(replay.has_lost);
    free(replay.victim_of);
    return holds;
}
