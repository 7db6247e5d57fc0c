#include "simulation/simulation.h"

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

void simulation_advance(struct simulation *simulation, const struct plan *plan)
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
    for (size_t i = 0; i < old->pod_count; i++) {
        pods[i] = old->pods[i];
        aftermath_at_once(&pods[i], &plan->pods[i], workloads[pods[i].workload].deleting, old->now_ms);
        own_devices(&pods[i], arena);
    }
    for (size_t i = 0; i < plan->decision_count; i++)
        if (plan->decisions[i].verb == PLAN_EVICT)
            workloads[plan->decisions[i].workload].last_eviction_ms = old->now_ms;
    simulation->snapshot.pods = pods;
    simulation->snapshot.workloads = workloads;
    simulation->turn = !simulation->turn;
}
