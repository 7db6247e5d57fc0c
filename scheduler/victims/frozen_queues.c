#include "scheduler/victims/frozen_queues.h"

#include "base/arena.h"

struct frozen_queues frozen_queues_make(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    size_t departments = snapshot->settings.full_hierarchy_fairness ? snapshot->department_count : 1;
    struct frozen_queues frozen = {
        .projects = arena_array(cycle->scratch, snapshot->project_count + departments, sizeof(*frozen.projects))};
    frozen.departments = frozen.projects + snapshot->project_count;
    return frozen;
}

void frozen_queues_take(const struct cycle *cycle, const struct pool *pool, struct frozen_queues *frozen)
{
    for (size_t p = 0; p < cycle->snapshot->project_count; p++)
        frozen->projects[p] = pool->projects[p].allocated;
    for (size_t d = 0; d < pool->department_count; d++)
        frozen->departments[d] = pool->departments[d].allocated;
}
