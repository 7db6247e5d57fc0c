#include "base/arena.h"
#include "base/error.h"
#include "reconciler/check/plan_check.h"

static int check_eviction(const struct snapshot *snapshot, const struct plan_decision *decision, struct error *err)
{
    const struct snapshot_workload *victim = &snapshot->workloads[decision->workload];
    const char *pod = snapshot->pods[decision->pod].name;
    if (decision->beneficiary >= snapshot->workload_count || decision->beneficiary == decision->workload)
        return error_set(err, ERROR_INTERNAL, "pod %s would be evicted for nobody", pod);
    const struct snapshot_workload *beneficiary = &snapshot->workloads[decision->beneficiary];
    if (decision->action == ACTION_ALLOCATE)
        return error_set(err, ERROR_INTERNAL, "pod %s would be evicted by allocate", pod);
    if (decision->action == ACTION_RECLAIM && victim->project == beneficiary->project)
        return error_set(err, ERROR_INTERNAL, "pod %s would be reclaimed for its own project", pod);
    if (decision->action == ACTION_PREEMPT &&
        (victim->project != beneficiary->project || victim->priority >= beneficiary->priority))
        return error_set(err, ERROR_INTERNAL, "pod %s would be preempted for %s, which is not above it", pod,
                         beneficiary->name);
    return 0;
}

int plan_check_evictions(const struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
                         struct error *err)
{
    uint32_t *placed_by =
        arena_array(arena, snapshot->workload_count, sizeof(*placed_by)); // its last statement, from 1
    for (size_t i = plan->decision_count; i > 0; i--) {
        const struct plan_decision *decision = &plan->decisions[i - 1];
        if (decision->verb == PLAN_BIND || decision->verb == PLAN_PIPELINE) {
            placed_by[decision->workload] = decision->statement + 1;
            continue;
        }
        if (decision->action == ACTION_STALE_GANG_EVICTION)
            continue;
        if (check_eviction(snapshot, decision, err) < 0)
            return -1;
        // A statement evicts first and places then; seen from the end, its placements have just gone by.
        if (placed_by[decision->beneficiary] != decision->statement + 1)
            return error_set(err, ERROR_INTERNAL, "pod %s would be evicted for %s, which gets no place by that",
                             snapshot->pods[decision->pod].name, snapshot->workloads[decision->beneficiary].name);
    }
    return 0;
}
