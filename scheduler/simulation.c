#include "scheduler/simulation.h"

#include "scheduler/aftermath.h"
#include "scheduler/scheduler.h"

#include <string.h>

void simulation_init(struct simulation *simulation, const struct snapshot *snapshot)
{
    simulation->snapshot = *snapshot;
    simulation->turn = 0;
    arena_init(&simulation->arenas[0]);
    arena_init(&simulation->arenas[1]);
}

void simulation_done(struct simulation *simulation)
{
    if (!simulation)
        return;
    arena_done(&simulation->arenas[0]);
    arena_done(&simulation->arenas[1]);
}

int simulation_plan(struct simulation *simulation, struct plan **out_plan, struct error *err)
{
    return scheduler_plan(&simulation->snapshot, &simulation->arenas[simulation->turn], out_plan, err);
}

int simulation_decide(struct simulation *simulation, struct arena *scratch, struct plan **out_plan, struct error *err)
{
    const struct scheduler_options options = {.scratch = scratch, .decisions_only = true};
    int rc = scheduler_plan_with(&simulation->snapshot, &options, &simulation->arenas[simulation->turn], out_plan, err);
    arena_clear(scratch);
    return rc;
}

int simulation_look(struct simulation *simulation, struct plan **out_plan, struct error *err)
{
    struct arena *arena = &simulation->arenas[simulation->turn];
    struct snapshot *idle = arena_alloc(arena, sizeof(*idle));
    *idle = simulation->snapshot;
    idle->action_count = 0;
    return scheduler_plan(idle, arena, out_plan, err);
}

// The snapshot that follows does not share memory with the plan: that goes when the next one is made.
static void own_devices(struct snapshot_pod *pod, struct arena *arena)
{
    const char **groups = arena_array(arena, pod->gpu_group_count, sizeof(*groups));
    for (size_t i = 0; i < pod->gpu_group_count; i++)
        groups[i] = arena_strdup(arena, pod->gpu_groups[i]);
    uint32_t *indices = arena_array(arena, pod->gpu_index_count, sizeof(*indices));
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        indices[i] = pod->gpu_indices[i];
    pod->gpu_groups = groups;
    pod->gpu_indices = indices;
}

// Arrays of pods and workloads for the next cycle, as they are now but for what the plan says of workloads.
static struct snapshot_pod *begin_next(struct simulation *simulation, const struct plan *plan)
{
    const struct snapshot *old = &simulation->snapshot;
    struct arena *arena = &simulation->arenas[!simulation->turn];
    arena_clear(arena);
    struct snapshot_pod *pods = arena_array(arena, old->pod_count, sizeof(*pods));
    struct snapshot_workload *workloads = arena_array(arena, old->workload_count, sizeof(*workloads));
    for (size_t i = 0; i < old->workload_count; i++) {
        workloads[i] = old->workloads[i];
        aftermath_of_workload(&workloads[i], &plan->workloads[i], old->now_ms);
    }
    if (old->pod_count > 0)
        memcpy(pods, old->pods, old->pod_count * sizeof(*pods));
    simulation->snapshot.workloads = workloads;
    simulation->snapshot.search_turns = aftermath_of_turns(plan, plan->decision_count > 0, arena);
    simulation->snapshot.search_turn_count = plan->search_turn_count;
    simulation->snapshot.search_cycle = plan->search_cycle;
    return pods;
}

static void end_next(struct simulation *simulation, struct snapshot_pod *pods)
{
    for (size_t i = 0; i < simulation->snapshot.pod_count; i++)
        own_devices(&pods[i], &simulation->arenas[!simulation->turn]);
    simulation->snapshot.pods = pods;
    simulation->turn = !simulation->turn;
}

void simulation_advance(struct simulation *simulation, const struct plan *plan)
{
    const struct snapshot *snapshot = &simulation->snapshot;
    struct snapshot_pod *pods = begin_next(simulation, plan);
    struct snapshot_workload *workloads = (struct snapshot_workload *)snapshot->workloads; // our copy
    for (size_t i = 0; i < snapshot->pod_count; i++)
        aftermath_at_once(&pods[i], &plan->pods[i], workloads[pods[i].workload].deleting, snapshot->now_ms);
    for (size_t i = 0; i < plan->decision_count; i++)
        if (plan->decisions[i].verb == PLAN_EVICT)
            workloads[plan->decisions[i].workload].last_eviction_ms = snapshot->now_ms;
    end_next(simulation, pods);
}

void simulation_tell(struct simulation *simulation, const struct plan *plan)
{
    const struct snapshot *snapshot = &simulation->snapshot;
    struct snapshot_pod *pods = begin_next(simulation, plan);
    struct snapshot_workload *workloads = (struct snapshot_workload *)snapshot->workloads; // our copy
    bool *is_evicted = arena_array(&simulation->arenas[!simulation->turn], snapshot->pod_count, sizeof(*is_evicted));
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        if (decision->verb != PLAN_EVICT || aftermath_waits(&pods[decision->pod]))
            continue; // a place that it got in this very cycle
        is_evicted[decision->pod] = true;
        workloads[decision->workload].last_eviction_ms = snapshot->now_ms;
    }
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        aftermath_as_told(&pods[i], &plan->pods[i], is_evicted[i]);
        if (pods[i].status == SNAPSHOT_POD_BINDING) {
            pods[i].status = SNAPSHOT_POD_RUNNING;
            pods[i].started_ms = snapshot->now_ms;
        }
    }
    end_next(simulation, pods);
}

bool simulation_release(struct simulation *simulation)
{
    struct snapshot_pod *pods = (struct snapshot_pod *)simulation->snapshot.pods; // our copy
    bool has_released = false;
    for (size_t i = 0; i < simulation->snapshot.pod_count; i++) {
        if (pods[i].status != SNAPSHOT_POD_RELEASING)
            continue;
        bool is_over = simulation->snapshot.workloads[pods[i].workload].deleting;
        pods[i].status = is_over ? SNAPSHOT_POD_SUCCEEDED : SNAPSHOT_POD_PENDING;
        pods[i].node = is_over ? pods[i].node : SNAPSHOT_NONE;
        pods[i].gpu_group_count = pods[i].gpu_index_count = 0;
        pods[i].started_ms = is_over ? pods[i].started_ms : SNAPSHOT_TIME_NONE;
        has_released = true;
    }
    struct snapshot_search_turn *turns = (struct snapshot_search_turn *)simulation->snapshot.search_turns; // our copy
    for (size_t i = 0; i < simulation->snapshot.search_turn_count && has_released; i++)
        turns[i].has_changed = true;
    return has_released;
}
