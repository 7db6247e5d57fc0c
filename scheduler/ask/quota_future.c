#include "scheduler/ask/quota_future.h"

#include "scheduler/pod_status.h"

#include <string.h>

void quota_future_init(struct quota_future *future, const struct snapshot *start)
{
    *future = (struct quota_future){.start = start, .good_until_ms = INT64_MAX};
    arena_init(&future->scratch);
    arena_init(&future->arena);
    simulation_init(&future->simulation, start);
    future->fates = arena_array(&future->arena, start->pod_count, sizeof(*future->fates));
    size_t pools = start->node_pool_count;
    future->projects = arena_array(&future->arena, start->project_count * pools, sizeof(*future->projects));
    future->departments = arena_array(&future->arena, start->department_count * pools, sizeof(*future->departments));
}

void quota_future_done(struct quota_future *future)
{
    simulation_done(&future->simulation);
    arena_done(&future->scratch);
    arena_done(&future->arena);
}

static void note_decision(struct quota_future *future, const struct plan_decision *decision)
{
    struct quota_fate *fate = &future->fates[decision->pod];
    fate->gpu_milli = decision->gpu_milli;
    fate->node_pool = decision->node_pool;
    if (decision->verb != PLAN_EVICT || !pod_status_is_allocated(future->start->pods[decision->pod].status) ||
        fate->is_evicted)
        return;
    fate->is_evicted = true;
    fate->action = decision->action;
    fate->beneficiary = decision->beneficiary;
    fate->lost_ms = decision->lost_ms;
}

static void note_plan(struct quota_future *future, const struct plan *plan)
{
    const struct snapshot *start = future->start;
    size_t pools = start->node_pool_count;
    for (size_t i = 0; i < plan->decision_count; i++)
        note_decision(future, &plan->decisions[i]);
    if (pools == 0)
        return;
    memcpy(future->projects, plan->projects, start->project_count * pools * sizeof(*future->projects));
    memcpy(future->departments, plan->departments, start->department_count * pools * sizeof(*future->departments));
    future->good_until_ms = plan->good_until_ms;
}

void quota_future_look(struct quota_future *future, const struct plan *plan)
{
    const struct snapshot *start = future->start;
    if (plan->decision_count > 0 || plan->search_turn_count > 0 || plan->good_until_ms <= start->now_ms)
        return;
    for (size_t i = 0; i < start->pod_count; i++)
        if (start->pods[i].status == SNAPSHOT_POD_PIPELINED || start->pods[i].status == SNAPSHOT_POD_RELEASING)
            return;
    note_plan(future, plan);
    future->is_at_rest = true;
}

static bool is_waiting(const struct snapshot_pod *pod)
{
    return pod->status == SNAPSHOT_POD_PENDING || pod->status == SNAPSHOT_POD_PIPELINED;
}

// Whether a pod has got a place or begins to lose it.
static bool has_acted(const struct snapshot *old, const struct snapshot *now)
{
    for (size_t i = 0; i < old->pod_count; i++)
        if (old->pods[i].status != now->pods[i].status && !(is_waiting(&old->pods[i]) && is_waiting(&now->pods[i])))
            return true;
    return false;
}

static bool has_other_promises(const struct snapshot *old, const struct snapshot *now)
{
    for (size_t i = 0; i < old->pod_count; i++)
        if (old->pods[i].status != now->pods[i].status || old->pods[i].node != now->pods[i].node)
            return true;
    for (size_t i = 0; i < old->workload_count; i++)
        if (old->workloads[i].promise != now->workloads[i].promise)
            return true;
    return false;
}

// A cycle that does nothing comes while pods stop: what stops is gone by the next. Promises alone may change for as
// long as something stops.
int quota_future_step(struct quota_future *future, struct error *err)
{
    struct simulation *simulation = &future->simulation;
    struct snapshot old = simulation->snapshot; // its arrays stay until the next step
    struct plan *plan;
    if (simulation_decide(simulation, &future->scratch, &plan, err) < 0)
        return -1;
    note_plan(future, plan);
    simulation_tell(simulation, plan);
    future->cycles++;
    if (!has_acted(&old, &simulation->snapshot) && !simulation_release(simulation))
        future->is_at_rest =
            !has_other_promises(&old, &simulation->snapshot) && simulation->snapshot.search_turn_count == 0;
    return 0;
}
