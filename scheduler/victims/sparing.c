#include "scheduler/victims/sparing.h"

#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/fast/project_units.h"

#include <string.h>

static struct amounts *left_of(const struct sparing *sparing, const struct queue *queue)
{
    return queue->kind == QUEUE_KIND_PROJECT ? &sparing->projects[queue->index] : &sparing->departments[queue->index];
}

static void count_down(const struct sparing *sparing, struct queue *queue, struct amounts amounts)
{
    for (; queue; queue = queue->parent)
        *left_of(sparing, queue) = amounts_subtract(*left_of(sparing, queue), amounts);
}

struct sparing sparing_make(struct search *search)
{
    const struct cycle *cycle = search->cycle;
    const struct frozen_queues *frozen = search->context;
    const struct queue *own = cycle_queue(search->pool, search->workload);
    size_t projects = cycle->snapshot->project_count, departments = search->pool->department_count;
    struct sparing sparing = {
        .search = search,
        .is_within = amounts_are_within(amounts_add(own->allocated, search->requested), own->spec->deserved),
        .projects = arena_array(&search->probe_arena, projects + departments, sizeof(*sparing.projects)),
        .passed = arena_array(&search->probe_arena, projects, sizeof(*sparing.passed))};
    sparing.departments = sparing.projects + projects;
    memcpy(sparing.projects, frozen->projects, projects * sizeof(*sparing.projects));
    memcpy(sparing.departments, frozen->departments, departments * sizeof(*sparing.departments));
    for (size_t p = 0; p < projects; p++)
        sparing.passed[p] = INT64_MAX;
    for (size_t i = 0; i < search->recorded.count; i++) {
        const struct pod *pod = &cycle->pods[search->recorded.pods[i]];
        count_down(&sparing, cycle_queue(search->pool, &cycle->workloads[pod->workload]),
                   request_amounts(&pod->request, cycle->nodes[pod->state.place.node].gpu_memory_mib));
    }
    return sparing;
}

// Whether the queue would be left with less than its due in something that the unit holds.
static bool needs(const struct sparing *sparing, const struct queue *queue, struct amounts amounts)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        int64_t due = sparing->is_within ? queue->spec->deserved.of[r] : queue_allocatable_share(queue, r);
        if (amounts.of[r] > 0 && due != QUANTITY_UNLIMITED && left_of(sparing, queue)->of[r] - amounts.of[r] < due)
            return true;
    }
    return false;
}

bool sparing_takes(struct sparing *sparing, const struct popped_unit *unit)
{
    struct search *search = sparing->search;
    const struct snapshot_workload *spec = unit->workload->spec;
    struct queue *project = cycle_queue(search->pool, unit->workload);
    const struct queue *own = cycle_queue(search->pool, search->workload);
    // Nobody yields in place of a lower priority of the same project.
    if (spec->priority > sparing->passed[spec->project] || needs(sparing, project, unit->amounts) ||
        (project->parent != own->parent && needs(sparing, project->parent, unit->amounts))) {
        if (spec->priority < sparing->passed[spec->project])
            sparing->passed[spec->project] = spec->priority;
        search->has_passed = true;
        return false;
    }
    count_down(sparing, project, unit->amounts);
    return true;
}
