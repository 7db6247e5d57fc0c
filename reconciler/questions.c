#include "reconciler/questions.h"

#include "base/error.h"
#include "reconciler/draft.h"
#include "reconciler/state.h"
#include "scheduler/aftermath.h"

#include <string.h>

enum {
    SCENARIOS = 1000,           // simulated for one workload: a longer search is cut, and the answer says so
    FIX_SCENARIOS = 200,        // simulated for all changes that are tried
    PLANS_TIME_US = 5000 * 1000 // that all cycles of one question may take, by the time that the latest one took
};

// What the plan decided, on a copy of the pods. Who was evicted still holds its place.
static void carry_out_pods(struct present *present)
{
    const struct snapshot *old = present->view->snapshot;
    const struct plan *plan = present->view->plan;
    bool has_promises = false;
    for (size_t i = 0; i < old->pod_count && !has_promises; i++)
        has_promises = old->pods[i].status == SNAPSHOT_POD_PIPELINED;
    if (plan->decision_count == 0 && !has_promises)
        return;
    struct snapshot_pod *pods = arena_array(&present->arena, old->pod_count, sizeof(*pods));
    memcpy(pods, old->pods, old->pod_count * sizeof(*pods));
    struct snapshot_workload *workloads = (struct snapshot_workload *)present->snapshot.workloads; // our copy
    bool *is_evicted = arena_array(&present->arena, old->pod_count, sizeof(*is_evicted));
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const struct snapshot_pod *pod = &pods[decision->pod];
        if (decision->verb != PLAN_EVICT || aftermath_waits(pod) || pod->node == SNAPSHOT_NONE)
            continue;
        is_evicted[decision->pod] = true;
        workloads[decision->workload].last_eviction_ms = old->now_ms;
    }
    for (size_t i = 0; i < old->pod_count; i++)
        aftermath_as_told(&pods[i], &plan->pods[i], is_evicted[i]);
    present->snapshot.pods = pods;
}

static void make_snapshot(struct present *present)
{
    const struct snapshot *old = present->view->snapshot;
    const struct plan *plan = present->view->plan;
    present->snapshot = *old;
    present->snapshot.now_ms = reconciler_now(present->reconciler);
    if (present->snapshot.settings.scenarios_per_workload > SCENARIOS)
        present->snapshot.settings.scenarios_per_workload = SCENARIOS;
    int64_t passed_ms = present->snapshot.now_ms - old->now_ms;
    struct snapshot_workload *workloads = arena_array(&present->arena, old->workload_count, sizeof(*workloads));
    memcpy(workloads, old->workloads, old->workload_count * sizeof(*workloads));
    for (size_t i = 0; i < old->workload_count; i++) {
        aftermath_of_workload(&workloads[i], &plan->workloads[i], old->now_ms);
        if (workloads[i].stale_ms != SNAPSHOT_TIME_NONE && passed_ms > 0)
            workloads[i].stale_ms += passed_ms;
    }
    present->snapshot.workloads = workloads;
    present->snapshot.search_turns = aftermath_of_turns(plan, true, &present->arena);
    present->snapshot.search_turn_count = plan->search_turn_count;
    present->snapshot.search_cycle = plan->search_cycle;
    carry_out_pods(present);
}

int present_open(struct reconciler *reconciler, const struct place_claim *claim, struct present *out_present,
                 struct error *err)
{
    if (places_take(&reconciler->questions, claim, &out_present->place, err) < 0)
        return -1;
    const struct reconciler_view *view = reconciler_acquire_view(reconciler);
    if (!view) {
        places_give_back(&reconciler->questions, out_present->place);
        return error_set(err, ERROR_UNAVAILABLE, "the first cycle has not run yet");
    }
    out_present->reconciler = reconciler;
    out_present->view = view;
    out_present->world = NULL;
    out_present->is_slow = atomic_load(&reconciler->counters.last_plan_us) * WHAT_IF_PLANS_MAXIMUM > PLANS_TIME_US;
    arena_init(&out_present->arena);
    make_snapshot(out_present);
    return 0;
}

void present_close(struct present *present)
{
    if (present->world)
        arena_done(&present->world->arena);
    arena_done(&present->arena);
    reconciler_release_view(present->reconciler, present->view);
    places_give_back(&present->reconciler->questions, present->place);
}

static bool waits(const struct present *present, uint32_t workload)
{
    const struct snapshot_workload *asked = &present->snapshot.workloads[workload];
    if (asked->deleting)
        return false;
    for (uint32_t i = 0; i < asked->pod_count; i++)
        if (present->snapshot.pods[asked->first_pod + i].status != SNAPSHOT_POD_PENDING)
            return false;
    return true;
}

int present_what_if(struct present *present, const struct submission *submission, bool wants_fixes,
                    const struct snapshot_workload **out_workload, struct what_if_answer **out_answer,
                    struct error *err)
{
    struct what_if_question question = {
        .wants_fixes = wants_fixes && !present->is_slow, .fix_scenarios = FIX_SCENARIOS, .before = present->view->plan};
    if (draft_workload(present, submission, &question, err) < 0)
        return -1;
    *out_workload = question.workload;
    return scheduler_what_if(&present->snapshot, &question, &present->arena, out_answer, err);
}

int present_what_if_again(struct present *present, int64_t workload_id, bool wants_fixes,
                          const struct snapshot_workload **out_workload, struct what_if_answer **out_answer,
                          struct error *err)
{
    uint32_t index = 0;
    while (index < present->snapshot.workload_count && present->view->workload_ids[index] != workload_id)
        index++;
    if (index == present->snapshot.workload_count || !waits(present, index))
        return error_set(err, ERROR_CONFLICT, "workload: does not wait for the scheduler");
    struct what_if_question question = {
        .existing = index, .wants_fixes = wants_fixes && !present->is_slow, .fix_scenarios = FIX_SCENARIOS};
    *out_workload = &present->snapshot.workloads[index];
    return scheduler_what_if(&present->snapshot, &question, &present->arena, out_answer, err);
}

int present_queue_order(struct present *present, uint32_t node_pool, struct queue_listing **out_listing,
                        struct error *err)
{
    return scheduler_queue_order(&present->snapshot, node_pool, &present->arena, out_listing, err);
}

int present_share_tree(struct present *present, uint32_t node_pool, enum resource resource,
                       struct share_tree **out_tree, struct error *err)
{
    return scheduler_explain_fairshare(&present->snapshot, node_pool, resource, &present->arena, out_tree, err);
}
