#include "scheduler/actions/outcome.h"

#include "base/arena.h"
#include "scheduler/actions/evictions.h"
#include "scheduler/placing/explain.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/devices.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"

#include <string.h>

static const struct plan_pod *make_pods(struct cycle *cycle)
{
    size_t count = cycle->snapshot->pod_count;
    struct plan_pod *pods = arena_array(cycle->arena, count, sizeof(*pods));
    for (size_t i = 0; i < count; i++) {
        const struct pod *pod = &cycle->pods[i];
        pods[i].status = pod->state.status;
        pods[i].node = pod->state.place.node;
        if (place_is(pod->state.place))
            pods[i].devices = devices_of(cycle, pod);
        else if (pod->spec->status == SNAPSHOT_POD_SUCCEEDED || pod->spec->status == SNAPSHOT_POD_FAILED)
            pods[i].node = pod->spec->node; // shown as it was read
    }
    return pods;
}

// In a word: the strongest of what its pods are, where its gang has a place.
static enum snapshot_pod_status status_of(struct cycle *cycle, const struct workload *workload)
{
    static const enum snapshot_pod_status ORDER[] = {
        SNAPSHOT_POD_BINDING,   SNAPSHOT_POD_BOUND,     SNAPSHOT_POD_RUNNING,
        SNAPSHOT_POD_PIPELINED, SNAPSHOT_POD_RELEASING, SNAPSHOT_POD_STUCK_IN_RELEASING,
        SNAPSHOT_POD_PENDING,   SNAPSHOT_POD_GATED,     SNAPSHOT_POD_FAILED};
    for (size_t s = 0; s < sizeof(ORDER) / sizeof(ORDER[0]); s++) {
        for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
            if (cycle->pods[workload->spec->first_pod + i].state.status == ORDER[s])
                return ORDER[s];
        }
    }
    return workload->spec->pod_count ? SNAPSHOT_POD_SUCCEEDED : SNAPSHOT_POD_PENDING;
}

static bool was_allocated(const struct cycle *cycle, const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        if (pod_status_is_allocated(cycle->snapshot->pods[workload->spec->first_pod + i].status) &&
            cycle->snapshot->pods[workload->spec->first_pod + i].status != SNAPSHOT_POD_PIPELINED)
            return true;
    }
    return false;
}

static void explain_promise(struct cycle *cycle, struct workload *workload)
{
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod->state.status != SNAPSHOT_POD_PIPELINED)
            continue;
        const struct node *node = &cycle->nodes[pod->state.place.node];
        const struct pool *pool = &cycle->pools[node->spec->node_pool];
        struct plan_explanation explanation = explain_blank(pool, EXPLANATION_WAITING_FOR_RELEASE, NULL, RESOURCE_GPU);
        uint32_t promised = workload->counts.held - workload->counts.allocated;
        explanation.pods_placed = explanation.pods_needed = promised;
        if (promised == 1)
            explanation.message = arena_printf(
                cycle->arena, "Promised a place on %s; waiting for the workload there to stop", node->spec->name);
        else
            explanation.message = arena_printf(
                cycle->arena, "Promised places for %u pods, the first on %s; waiting for the workloads there to stop",
                promised, node->spec->name);
        if (workload->explanations)
            workload->explanations->count = 0;
        explain_add(cycle, pool, workload, explanation);
        return;
    }
}

static void explain_loss(struct cycle *cycle, struct workload *workload)
{
    const struct pool *pool = &cycle->pools[workload->home != SNAPSHOT_NONE ? workload->home : 0];
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_LOST_A_POD, NULL, RESOURCE_GPU);
    explanation.message = "Gave up pods just now and is looked at again in the next cycle";
    explain_add(cycle, pool, workload, explanation);
}

static struct plan_workload make_workload(struct cycle *cycle, struct workload *workload)
{
    struct plan_workload plan = {.status = status_of(cycle, workload),
                                 .node_pool = workload->home,
                                 .promise = SNAPSHOT_PROMISE_NONE,
                                 .was_displaced = workload->lost_pod || workload->lost_promise,
                                 .was_passed = workload->was_passed,
                                 .is_stale = stale_is(workload)};
    plan.bound_first = workload->counts.allocated > 0 && !was_allocated(cycle, workload);
    if (workload->counts.held > workload->counts.allocated)
        explain_promise(cycle, workload);
    else if (workload->counts.pending > 0 && workload->lost_pod)
        explain_loss(cycle, workload);
    if (workload->explanations &&
        (workload->counts.pending + workload->counts.gated > 0 || workload->counts.held > workload->counts.allocated)) {
        plan.explanations = workload->explanations->items;
        plan.explanation_count = workload->explanations->count;
    }
    return plan;
}

enum claim {
    CLAIM_EVICTED, // something was evicted for it
    CLAIM_WAITED,  // it was promised what is being released anyway
    CLAIM_MOVED,
    CLAIM_COUNT
};

// First the workloads for whom something was evicted, last those that were moved; inside, in the order of decisions.
static void number_promises(const struct cycle *cycle, struct plan_workload *workloads)
{
    const struct journal *journal = cycle->journal;
    uint8_t *claims = arena_array(cycle->scratch, cycle->snapshot->workload_count, sizeof(*claims));
    memset(claims, CLAIM_WAITED, cycle->snapshot->workload_count);
    for (size_t i = 0; i < journal->count; i++) {
        const struct plan_decision *decision = &journal->decisions[i];
        if (decision->verb == PLAN_PIPELINE && decision->moved)
            claims[decision->workload] = CLAIM_MOVED;
        else if ((decision->verb == PLAN_EVICT || decision->verb == PLAN_WITHDRAW) &&
                 decision->beneficiary != SNAPSHOT_NONE && claims[decision->beneficiary] == CLAIM_WAITED)
            claims[decision->beneficiary] = CLAIM_EVICTED;
    }
    uint32_t next = 0;
    for (int claim = 0; claim < CLAIM_COUNT; claim++) {
        for (size_t i = 0; i < journal->count; i++) {
            const struct plan_decision *decision = &journal->decisions[i];
            const struct workload *workload = &cycle->workloads[decision->workload];
            if (decision->verb != PLAN_PIPELINE || claims[workload->index] != claim ||
                workload->counts.held == workload->counts.allocated ||
                workloads[workload->index].promise != SNAPSHOT_PROMISE_NONE)
                continue;
            workloads[workload->index].promise = next++;
        }
    }
}

static struct plan_queue make_queue(const struct queue *queue)
{
    return (struct plan_queue){.deserved = queue->spec->deserved,
                               .limit = queue->spec->limit,
                               .fair_share = queue->fair_share,
                               .allocated = queue->allocated,
                               .allocated_non_preemptible = queue->allocated_non_preemptible,
                               .requested = queue->requested};
}

static void make_queues(const struct cycle *cycle, struct plan *plan)
{
    const struct snapshot *snapshot = cycle->snapshot;
    size_t pools = snapshot->node_pool_count;
    struct plan_queue *projects = arena_array(cycle->arena, snapshot->project_count * pools, sizeof(*projects));
    struct plan_queue *departments =
        arena_array(cycle->arena, snapshot->department_count * pools, sizeof(*departments));
    for (size_t pool = 0; pool < pools; pool++) {
        for (size_t d = 0; d < snapshot->department_count; d++) {
            struct plan_queue *department = &departments[d * pools + pool];
            department->deserved = snapshot->departments[d].queues[pool].deserved;
            department->limit = snapshot->departments[d].queues[pool].limit;
            if (snapshot->settings.full_hierarchy_fairness)
                *department = make_queue(&cycle->pools[pool].departments[d]);
        }
        for (size_t p = 0; p < snapshot->project_count; p++) {
            struct plan_queue project = make_queue(&cycle->pools[pool].projects[p]);
            projects[p * pools + pool] = project;
            if (snapshot->settings.full_hierarchy_fairness)
                continue;
            // Departments play no role: theirs is what their projects have together.
            struct plan_queue *department = &departments[snapshot->projects[p].department * pools + pool];
            department->fair_share = amounts_add(department->fair_share, project.fair_share);
            department->allocated = amounts_add(department->allocated, project.allocated);
            department->allocated_non_preemptible =
                amounts_add(department->allocated_non_preemptible, project.allocated_non_preemptible);
            department->requested = amounts_add_asked(department->requested, project.requested);
        }
    }
    plan->projects = projects;
    plan->departments = departments;
}

static const struct plan_node *make_nodes(const struct cycle *cycle)
{
    struct plan_node *nodes = arena_array(cycle->arena, cycle->snapshot->node_count, sizeof(*nodes));
    for (size_t i = 0; i < cycle->snapshot->node_count; i++) {
        const struct node *node = &cycle->nodes[i];
        nodes[i] = (struct plan_node){.idle_gpus = node->idle[DIMENSION_GPU],
                                      .releasing_gpus = node->releasing[DIMENSION_GPU],
                                      .idle_cpu_milli = node->idle[DIMENSION_CPU],
                                      .releasing_cpu_milli = node->releasing[DIMENSION_CPU],
                                      .idle_memory_bytes = node->idle[DIMENSION_MEMORY],
                                      .releasing_memory_bytes = node->releasing[DIMENSION_MEMORY],
                                      .idle_pods = node->idle[DIMENSION_PODS]};
    }
    return nodes;
}

struct plan *outcome_make(struct cycle *cycle)
{
    size_t workload_count = cycle->snapshot->workload_count;
    struct plan *plan = arena_alloc(cycle->arena, sizeof(*plan));
    struct plan_workload *workloads = arena_array(cycle->arena, workload_count, sizeof(*workloads));
    for (size_t i = 0; i < workload_count; i++)
        workloads[i] = make_workload(cycle, &cycle->workloads[i]);
    number_promises(cycle, workloads);
    plan->decisions = cycle->journal->decisions;
    plan->decision_count = cycle->journal->count;
    plan->pods = make_pods(cycle);
    plan->workloads = workloads;
    make_queues(cycle, plan);
    plan->nodes = make_nodes(cycle);
    plan->search_cuts = cycle->cuts;
    plan->search_cut_count = cycle->cut_count;
    plan->search_turns = cycle->turns;
    plan->search_turn_count = cycle->turns_go_on ? cycle->turn_count : 0;
    plan->search_cycle = cycle->turns_go_on ? cycle->snapshot->search_cycle + 1 : 0;
    memcpy(plan->actions, cycle->counts, sizeof(plan->actions));
    plan->good_until_ms = cycle->good_until_ms;
    return plan;
}
