#include "scheduler/popping.h"

#include "scheduler/node.h"
#include "scheduler/queue.h"
#include "scheduler/search.h"
#include "scheduler/unit.h"

#include <assert.h>

void popping_open(struct popping *popping, struct search *search, struct arena *arena)
{
    size_t pods = 0;
    for (size_t i = 0; i < search->candidate_count; i++)
        pods += search->candidates[i]->counts.held;
    *popping = (struct popping){.search = search,
                                .units = arena_array(arena, pods, sizeof *popping->units),
                                .pods = arena_array(arena, pods, sizeof *popping->pods)};
    if (search->candidate_first) {
        const uint32_t projects = (uint32_t)search->cycle->snapshot->project_count;
        walk_start(&popping->walk, search->cycle, search->pool, WALK_YIELD, projects, arena);
        for (uint32_t p = 0; p < projects; p++)
            walk_add_leaf(&popping->walk, p, search->candidates + search->candidate_first[p],
                          search->candidate_first[p + 1] - search->candidate_first[p]);
        return;
    }
    walk_open(&popping->walk, search->cycle, search->pool, WALK_YIELD, search->candidates, search->candidate_count,
              SNAPSHOT_COUNT_UNLIMITED, arena);
}

static bool pop(struct popping *popping)
{
    struct cycle *cycle = popping->search->cycle;
    struct workload *workload = walk_next(&popping->walk);
    if (!workload)
        return false;
    uint32_t *pods = popping->pods + popping->pod_count;
    struct popped_unit unit = {.workload = workload, .pods = pods};
    unit.count = unit_take_victims(cycle, workload, pods);
    assert(unit.count > 0); // the walk has only who still holds something
    uint32_t left = workload->counts.held;
    for (uint32_t i = 0; i < unit.count; i++) {
        const struct pod *pod = &cycle->pods[pods[i]];
        const int64_t memory_mib = cycle->nodes[pod->state.place.node].gpu_memory_mib;
        unit.amounts = amounts_add(unit.amounts, request_amounts(&pod->request, memory_mib));
    }
    for (uint32_t g = 0; g < workload->group_count; g++)
        left -= workload->groups[g].taken;
    walk_count_popped(&popping->walk, workload, unit.amounts);
    if (left > 0)
        walk_push_back(&popping->walk, workload);
    popping->pod_count += unit.count;
    popping->units[popping->count++] = unit;
    return true;
}

const struct popped_unit *popping_at(struct popping *popping, size_t position)
{
    return position < popping->count || pop(popping) ? &popping->units[position] : NULL;
}

void popping_close(struct popping *popping)
{
    for (size_t i = 0; i < popping->count; i++)
        unit_give_back(popping->search->cycle, popping->units[i].workload);
}
