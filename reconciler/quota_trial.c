#include "base/error.h"
#include "base/timestamp.h"
#include "model/org_unit.h"
#include "reconciler/questions.h"
#include "reconciler/view.h"

#include <string.h>

enum {
    TRIAL_TIME_US = 10 * 1000 * 1000 // after which no further cycle begins
};

static struct queue_row row_of(const struct queue *queue)
{
    return (struct queue_row){
        .rank = queue->rank,
        .gpu_deserved_milli = queue->gpu.deserved,
        .gpu_limit_milli = queue->gpu.limit,
        .cpu_deserved_milli = queue->cpu.deserved,
        .cpu_limit_milli = queue->cpu.limit,
        .memory_deserved_bytes = queue->memory.deserved,
        .memory_limit_bytes = queue->memory.limit,
        .gpu_weight = queue->gpu.over_quota_weight,
        .cpu_weight = queue->cpu.over_quota_weight,
        .memory_weight = queue->memory.over_quota_weight,
    };
}

// The owner's queues with those of the unit in their place. What was used in the past stays.
static const struct snapshot_queue *make_queues(struct present *present, const struct world *world,
                                                const struct org_unit *unit, const struct snapshot_queue *old)
{
    size_t pool_count = present->snapshot.node_pool_count;
    struct snapshot_queue *queues = arena_array(&present->arena, pool_count, sizeof(*queues));
    if (pool_count > 0)
        memcpy(queues, old, pool_count * sizeof(*queues));
    for (size_t i = 0; i < unit->queue_count; i++) {
        uint32_t pool = world_pool(world, unit->queues[i].node_pool_id);
        if (pool == SNAPSHOT_NONE)
            continue;
        const struct queue_row row = row_of(&unit->queues[i]);
        struct amounts usage_micro = queues[pool].usage_micro;
        queues[pool] = world_queue(&world->rows, &row);
        queues[pool].usage_micro = usage_micro;
    }
    return queues;
}

static uint32_t find_department(const struct world *world, int64_t id)
{
    for (size_t i = 0; i < world->rows.department_count; i++)
        if (world->rows.departments[i].id == id)
            return (uint32_t)i;
    return SNAPSHOT_NONE;
}

// Quota in a node pool may change where work of a project goes that names none. *workloads is made where it does.
static void send_elsewhere(struct present *present, const struct world *world, const struct org_unit *unit,
                           uint32_t project, struct snapshot_workload **workloads)
{
    const struct snapshot *snapshot = &present->snapshot;
    const struct pool_list *old = &world->project_pools[project];
    struct pool_list list = world_pools_of_text(world, unit->effective_node_pools_json, &present->arena);
    if (list.count == old->count && memcmp(list.pools, old->pools, list.count * sizeof(*list.pools)) == 0)
        return;
    if (!*workloads && snapshot->workload_count > 0) {
        *workloads = arena_array(&present->arena, snapshot->workload_count, sizeof(**workloads));
        memcpy(*workloads, snapshot->workloads, snapshot->workload_count * sizeof(**workloads));
    }
    for (size_t i = 0; i < snapshot->workload_count; i++)
        if ((*workloads)[i].node_pools == old->pools) {
            (*workloads)[i].node_pools = list.pools;
            (*workloads)[i].node_pool_count = list.count;
        }
}

// The present's snapshot with the units' queues.
static int change_queues(struct present *present, const struct org_unit *units, size_t count,
                         struct snapshot *out_changed, struct error *err)
{
    const struct world *world = ((const struct view *)present->view)->world; // its first member
    const struct snapshot *old = &present->snapshot;
    struct snapshot_project *projects = arena_array(&present->arena, old->project_count, sizeof(*projects));
    struct snapshot_department *departments = arena_array(&present->arena, old->department_count, sizeof(*departments));
    struct snapshot_workload *workloads = NULL;
    *out_changed = *old;
    if (old->project_count > 0)
        memcpy(projects, old->projects, old->project_count * sizeof(*projects));
    if (old->department_count > 0)
        memcpy(departments, old->departments, old->department_count * sizeof(*departments));
    out_changed->projects = projects;
    out_changed->departments = departments;
    for (size_t i = 0; i < count; i++) {
        const struct org_unit *unit = &units[i];
        bool is_project = unit->kind == ORG_UNIT_PROJECT;
        uint32_t index = is_project ? world_project(world, unit->id) : find_department(world, unit->id);
        if (index == SNAPSHOT_NONE)
            return error_set(err, ERROR_UNAVAILABLE, "the scheduler has not seen the %s yet; try again",
                             org_unit_kind_text(unit->kind));
        if (is_project) {
            projects[index].queues = make_queues(present, world, unit, old->projects[index].queues);
            send_elsewhere(present, world, unit, index, &workloads);
        } else {
            departments[index].queues = make_queues(present, world, unit, old->departments[index].queues);
        }
    }
    if (workloads)
        out_changed->workloads = workloads;
    return 0;
}

int present_what_if_quota(struct present *present, const struct org_unit *units, size_t count,
                          struct quota_answer *out_answer, struct error *err)
{
    struct snapshot changed;
    struct quota_question *question;
    bool is_over = false;
    int64_t begin_us = timestamp_monotonic_us();
    if (change_queues(present, units, count, &changed, err) < 0)
        return -1;
    quota_question_open(&present->snapshot, &changed, present->view->plan, &question);
    int rc = 0;
    while (rc == 0 && !is_over && (rc = quota_question_step(question, &is_over, err)) == 0)
        is_over = is_over || timestamp_monotonic_us() - begin_us > TRIAL_TIME_US;
    if (rc == 0)
        quota_question_answer(question, &present->arena, out_answer);
    quota_question_close(question);
    return rc;
}
