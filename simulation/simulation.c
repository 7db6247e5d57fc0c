#include "simulation/simulation.h"

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
    struct snapshot *idle = arena_alloc(arena, sizeof *idle);
    *idle = simulation->snapshot;
    idle->action_count = 0;
    return scheduler_plan(idle, arena, out_plan, err);
}

// The snapshot that follows does not share memory with the plan: that goes when the next one is made.
static void copy_devices(struct snapshot_pod *pod, const struct plan_devices *devices, struct arena *arena)
{
    const char **groups = arena_array(arena, devices->gpu_group_count, sizeof *groups);
    for (size_t i = 0; i < devices->gpu_group_count; i++)
        groups[i] = arena_strdup(arena, devices->gpu_groups[i]);
    uint32_t *indices = arena_array(arena, devices->gpu_index_count, sizeof *indices);
    for (size_t i = 0; i < devices->gpu_index_count; i++)
        indices[i] = devices->gpu_indices[i];
    pod->gpu_groups = groups;
    pod->gpu_group_count = devices->gpu_group_count;
    pod->gpu_indices = indices;
    pod->gpu_index_count = devices->gpu_index_count;
}

static void advance_pod(struct snapshot_pod *pod, const struct plan_pod *planned, bool deleting, int64_t now_ms,
                        struct arena *arena)
{
    pod->status = planned->status;
    pod->node = planned->node;
    if (planned->status == SNAPSHOT_POD_BINDING) {
        pod->status = SNAPSHOT_POD_RUNNING;
        pod->started_ms = now_ms;
    }
    if (planned->status == SNAPSHOT_POD_RELEASING && !deleting)
        pod->status = SNAPSHOT_POD_PENDING;
    if (pod->status == SNAPSHOT_POD_PENDING || pod->status == SNAPSHOT_POD_PIPELINED)
        pod->started_ms = SNAPSHOT_TIME_NONE;
    if (pod->status == SNAPSHOT_POD_PENDING || pod->status == SNAPSHOT_POD_GATED) {
        pod->node = SNAPSHOT_NONE;
        copy_devices(pod, &(struct plan_devices){0}, arena);
    } else {
        copy_devices(pod, &planned->devices, arena);
    }
    if (pod->status == SNAPSHOT_POD_PIPELINED)
        pod->gpu_index_count = 0; // which of them it will be is found when it starts
}

static void advance_workload(struct snapshot_workload *workload, const struct plan_workload *planned, int64_t now_ms)
{
    if (planned->was_displaced) {
        workload->displaced_count = snapshot_displaced_again(workload, now_ms);
        workload->displaced_ms = now_ms;
    }
    workload->promise = planned->promise;
    if (!planned->is_stale)
        workload->stale_ms = SNAPSHOT_TIME_NONE;
    else if (workload->stale_ms == SNAPSHOT_TIME_NONE)
        workload->stale_ms = 0;
}

void simulation_advance(struct simulation *simulation, const struct plan *plan)
{
    const struct snapshot *old = &simulation->snapshot;
    struct arena *arena = &simulation->arenas[!simulation->turn];
    arena_clear(arena);
    struct snapshot_pod *pods = arena_array(arena, old->pod_count, sizeof *pods);
    struct snapshot_workload *workloads = arena_array(arena, old->workload_count, sizeof *workloads);
    for (size_t i = 0; i < old->workload_count; i++) {
        workloads[i] = old->workloads[i];
        advance_workload(&workloads[i], &plan->workloads[i], old->now_ms);
    }
    for (size_t i = 0; i < old->pod_count; i++) {
        pods[i] = old->pods[i];
        advance_pod(&pods[i], &plan->pods[i], workloads[pods[i].workload].deleting, old->now_ms, arena);
    }
    for (size_t i = 0; i < plan->decision_count; i++)
        if (plan->decisions[i].verb == PLAN_EVICT)
            workloads[plan->decisions[i].workload].last_eviction_ms = old->now_ms;
    simulation->snapshot.pods = pods;
    simulation->snapshot.workloads = workloads;
    simulation->turn = !simulation->turn;
}
