#include "scheduler/victims/fast/popping.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/prospects.h"
#include "scheduler/victims/search_state.h"

static struct queue *queue_of(const struct popping *popping, const struct popping_project *project)
{
    return &popping->search->pool->projects[project->index];
}

static void find_key(const struct popping *popping, struct popping_project *project)
{
    project->unit = yielding_at(&popping->search->cycle->prospects->yielding, popping->search->cycle, project->index,
                                project->next);
    if (project->unit)
        project->key =
            queue_key_make(queue_of(popping, project), (struct amounts){0},
                           amounts_add(project->unit->before, project->unit->head), popping->search->pool->total);
}

static void find_best(const struct popping *popping, struct popping_department *department)
{
    department->best = NULL;
    for (size_t i = 0; i < department->count; i++) {
        struct popping_project *project = &department->projects[i];
        if (project->unit && (!department->best || queue_compare(&project->key, &department->best->key, NULL) > 0))
            department->best = project;
    }
    if (department->best)
        department->key =
            queue_key_make(department->queue, (struct amounts){0},
                           amounts_add(department->popped, department->best->unit->head), popping->search->pool->total);
}

static struct popping_department *department_of(struct popping *popping, struct queue *queue)
{
    for (size_t d = 0; d < popping->department_count; d++) {
        if (popping->departments[d].queue == queue)
            return &popping->departments[d];
    }
    struct popping_department *department = &popping->departments[popping->department_count++];
    department->queue = queue;
    department->projects =
        arena_array(popping->arena, popping->search->cycle->snapshot->project_count, sizeof *department->projects);
    return department;
}

static void open_projects(struct popping *popping)
{
    const struct search *search = popping->search;
    popping->departments = arena_array(popping->arena, search->pool->department_count, sizeof *popping->departments);
    for (uint32_t p = 0; p < search->cycle->snapshot->project_count; p++) {
        if (!search->gives[p])
            continue;
        struct popping_department *department = department_of(popping, search->pool->projects[p].parent);
        struct popping_project *project = &department->projects[department->count++];
        project->index = p;
        find_key(popping, project);
    }
    for (size_t d = 0; d < popping->department_count; d++)
        find_best(popping, &popping->departments[d]);
}

static void open_walk(struct popping *popping)
{
    const struct search *search = popping->search;
    size_t pods = 0;
    for (size_t i = 0; i < search->candidate_count; i++)
        pods += search->candidates[i]->counts.held;
    popping->pods = arena_array(popping->arena, pods, sizeof *popping->pods);
    popping->nodes = arena_array(popping->arena, pods, sizeof *popping->nodes);
    if (!search->candidate_first) {
        walk_open(&popping->walk, search->cycle, search->pool, WALK_YIELD, search->candidates, search->candidate_count,
                  SNAPSHOT_COUNT_UNLIMITED, popping->arena);
        return;
    }
    const uint32_t projects = (uint32_t)search->cycle->snapshot->project_count;
    walk_start(&popping->walk, search->cycle, search->pool, WALK_YIELD, projects, popping->arena);
    for (uint32_t p = 0; p < projects; p++)
        walk_add_leaf(&popping->walk, p, search->candidates + search->candidate_first[p],
                      search->candidate_first[p + 1] - search->candidate_first[p]);
}

void popping_open(struct popping *popping, struct search *search, struct arena *arena)
{
    *popping = (struct popping){.search = search, .arena = arena};
    if (search->gives)
        open_projects(popping);
    else
        open_walk(popping);
}

// Whether the queue's dominant share stays what it was at the last comparison while units go that hold no GPUs: it is
// that of GPUs even before they go.
static bool stays_dominant(const struct popping *popping, const struct queue_key *key, struct amounts popped)
{
    const struct queue_key now = queue_key_make(key->queue, (struct amounts){0}, popped, popping->search->pool->total);
    return now.share_with.resource == RESOURCE_GPU && key->share_with.resource == RESOURCE_GPU &&
           now.share_with.part == key->share_with.part;
}

// How many units of the project certainly follow on the one that just went: as long as only units without GPUs go, the
// keys of the project and of the department stay equal to those that were just the best.
static size_t count_certain(const struct popping *popping, const struct popping_department *department,
                            const struct popping_project *project)
{
    const struct yielding_project *known = &popping->search->cycle->prospects->yielding.projects[project->index];
    size_t end = project->next;
    while (end < known->count && known->units[end].head.of[RESOURCE_GPU] == 0)
        end++;
    if (end == project->next || !stays_dominant(popping, &project->key, known->units[project->next].before) ||
        !stays_dominant(popping, &department->key, department->popped))
        return 0;
    return end - project->next;
}

static const struct popped_unit *pop_project(struct popping *popping)
{
    struct popping_department *best = NULL;
    if (popping->certain > 0) {
        best = popping->last;
        popping->certain--;
        best->best->unit = yielding_at(&popping->search->cycle->prospects->yielding, popping->search->cycle,
                                       best->best->index, best->best->next);
    } else {
        if (popping->last) {
            find_key(popping, popping->last->best);
            find_best(popping, popping->last);
        }
        for (size_t d = 0; d < popping->department_count; d++) {
            struct popping_department *department = &popping->departments[d];
            if (department->best && (!best || queue_compare(&department->key, &best->key, NULL) > 0))
                best = department;
        }
        popping->last = best;
        if (!best)
            return NULL;
    }
    struct popping_project *project = best->best;
    const struct popped_unit *unit = &project->unit->popped;
    project->next++;
    best->popped = amounts_add(best->popped, unit->amounts);
    if (popping->certain == 0 && unit->amounts.of[RESOURCE_GPU] == 0 && project->unit->head.of[RESOURCE_GPU] == 0)
        popping->certain = count_certain(popping, best, project);
    return unit;
}

static const struct popped_unit *pop_walk(struct popping *popping)
{
    struct workload *workload = walk_next(&popping->walk);
    if (!workload)
        return NULL;
    struct popped_unit *unit = arena_alloc(popping->arena, sizeof *unit);
    *unit = yielding_take(popping->search->cycle, workload, popping->pods + popping->pod_count,
                          popping->nodes + popping->pod_count);
    popping->pod_count += unit->count;
    walk_count_popped(&popping->walk, workload, unit->amounts);
    if (workload_count_left(workload) > 0)
        walk_push_back(&popping->walk, workload);
    return unit;
}

const struct popped_unit *popping_at(struct popping *popping, size_t position)
{
    if (position < popping->count)
        return popping->units[position];
    const struct popped_unit *unit = popping->departments ? pop_project(popping) : pop_walk(popping);
    if (!unit)
        return NULL;
    if (popping->count == popping->capacity)
        popping->units =
            arena_grow(popping->arena, popping->units, &popping->capacity, popping->count + 1, sizeof *popping->units);
    popping->units[popping->count++] = unit;
    return unit;
}

void popping_close(struct popping *popping)
{
    for (size_t i = 0; i < popping->count && !popping->departments; i++)
        unit_give_back(popping->search->cycle, popping->units[i]->workload);
}
