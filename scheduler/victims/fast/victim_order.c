#include "scheduler/victims/fast/victim_order.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/search_state.h"

static struct queue *queue_of(const struct victim_order *order, const struct victim_order_project *project)
{
    return &order->search->pool->projects[project->index];
}

static void find_key(const struct victim_order *order, struct victim_order_project *project)
{
    project->unit =
        project_units_at(&order->search->cycle->bounds->units, order->search->cycle, project->index, project->next);
    if (project->unit)
        project->key =
            queue_key_make(queue_of(order, project), (struct amounts){0},
                           amounts_add(project->unit->before, project->unit->head), order->search->pool->total);
}

static void find_best(const struct victim_order *order, struct victim_order_department *department)
{
    department->best = NULL;
    for (size_t i = 0; i < department->count; i++) {
        struct victim_order_project *project = &department->projects[i];
        if (project->unit && (!department->best || queue_compare(&project->key, &department->best->key, NULL) > 0))
            department->best = project;
    }
    if (department->best)
        department->key =
            queue_key_make(department->queue, (struct amounts){0},
                           amounts_add(department->popped, department->best->unit->head), order->search->pool->total);
}

static struct victim_order_department *department_of(struct victim_order *order, struct queue *queue)
{
    for (size_t d = 0; d < order->department_count; d++) {
        if (order->departments[d].queue == queue)
            return &order->departments[d];
    }
    struct victim_order_department *department = &order->departments[order->department_count++];
    department->queue = queue;
    department->projects =
        arena_array(order->arena, order->search->cycle->snapshot->project_count, sizeof(*department->projects));
    return department;
}

static void open_projects(struct victim_order *order)
{
    const struct search *search = order->search;
    order->departments = arena_array(order->arena, search->pool->department_count, sizeof(*order->departments));
    for (uint32_t p = 0; p < search->cycle->snapshot->project_count; p++) {
        if (!search->gives[p])
            continue;
        struct victim_order_department *department = department_of(order, search->pool->projects[p].parent);
        struct victim_order_project *project = &department->projects[department->count++];
        project->index = p;
        find_key(order, project);
    }
    for (size_t d = 0; d < order->department_count; d++)
        find_best(order, &order->departments[d]);
}

static void open_walk(struct victim_order *order)
{
    const struct search *search = order->search;
    size_t pods = 0;
    for (size_t i = 0; i < search->candidate_count; i++)
        pods += search->candidates[i]->counts.held;
    order->pods = arena_array(order->arena, pods, sizeof(*order->pods));
    order->nodes = arena_array(order->arena, pods, sizeof(*order->nodes));
    if (!search->candidate_first) {
        walk_open(&order->walk, search->cycle, search->pool, WALK_YIELD, search->candidates, search->candidate_count,
                  SNAPSHOT_COUNT_UNLIMITED, order->arena);
        return;
    }
    uint32_t projects = (uint32_t)search->cycle->snapshot->project_count;
    walk_start(&order->walk, search->cycle, search->pool, WALK_YIELD, projects, order->arena);
    for (uint32_t p = 0; p < projects; p++)
        walk_add_leaf(&order->walk, p, search->candidates + search->candidate_first[p],
                      search->candidate_first[p + 1] - search->candidate_first[p]);
}

void victim_order_open(struct victim_order *order, struct search *search, struct arena *arena)
{
    *order = (struct victim_order){.search = search, .arena = arena};
    if (search->gives)
        open_projects(order);
    else
        open_walk(order);
}

// Whether the queue's dominant share stays what it was at the last comparison while units go that hold no GPUs: it is
// that of GPUs even before they go.
static bool stays_dominant(const struct victim_order *order, const struct queue_key *key, struct amounts popped)
{
    struct queue_key now = queue_key_make(key->queue, (struct amounts){0}, popped, order->search->pool->total);
    return now.share_with.resource == RESOURCE_GPU && key->share_with.resource == RESOURCE_GPU &&
           now.share_with.part == key->share_with.part;
}

// How many units of the project certainly follow on the one that just went: as long as only units without GPUs go, the
// keys of the project and of the department stay equal to those that were just the best.
static size_t count_certain(const struct victim_order *order, const struct victim_order_department *department,
                            const struct victim_order_project *project)
{
    const struct project_unit_list *known = &order->search->cycle->bounds->units.projects[project->index];
    size_t end = project->next;
    while (end < known->count && known->units[end].head.of[RESOURCE_GPU] == 0)
        end++;
    if (end == project->next || !stays_dominant(order, &project->key, known->units[project->next].before) ||
        !stays_dominant(order, &department->key, department->popped))
        return 0;
    return end - project->next;
}

static const struct popped_unit *pop_project(struct victim_order *order)
{
    struct victim_order_department *best = NULL;
    if (order->certain > 0) {
        best = order->last;
        order->certain--;
        best->best->unit = project_units_at(&order->search->cycle->bounds->units, order->search->cycle,
                                            best->best->index, best->best->next);
    } else {
        if (order->last) {
            find_key(order, order->last->best);
            find_best(order, order->last);
        }
        for (size_t d = 0; d < order->department_count; d++) {
            struct victim_order_department *department = &order->departments[d];
            if (department->best && (!best || queue_compare(&department->key, &best->key, NULL) > 0))
                best = department;
        }
        order->last = best;
        if (!best)
            return NULL;
    }
    struct victim_order_project *project = best->best;
    const struct popped_unit *unit = &project->unit->popped;
    project->next++;
    best->popped = amounts_add(best->popped, unit->amounts);
    if (order->certain == 0 && unit->amounts.of[RESOURCE_GPU] == 0 && project->unit->head.of[RESOURCE_GPU] == 0)
        order->certain = count_certain(order, best, project);
    return unit;
}

static const struct popped_unit *pop_walk(struct victim_order *order)
{
    struct workload *workload = walk_next(&order->walk);
    if (!workload)
        return NULL;
    struct popped_unit *unit = arena_alloc(order->arena, sizeof(*unit));
    *unit = project_units_take(order->search->cycle, workload, order->pods + order->pod_count,
                               order->nodes + order->pod_count);
    order->pod_count += unit->count;
    walk_count_popped(&order->walk, workload, unit->amounts);
    if (workload_count_left(workload) > 0)
        walk_push_back(&order->walk, workload);
    return unit;
}

const struct popped_unit *victim_order_at(struct victim_order *order, size_t position)
{
    if (position < order->count)
        return order->units[position];
    const struct popped_unit *unit = order->departments ? pop_project(order) : pop_walk(order);
    if (!unit)
        return NULL;
    if (order->count == order->capacity)
        order->units =
            arena_grow(order->arena, order->units, &order->capacity, order->count + 1, sizeof(*order->units));
    order->units[order->count++] = unit;
    return unit;
}

void victim_order_close(struct victim_order *order)
{
    for (size_t i = 0; i < order->count && !order->departments; i++)
        unit_give_back(order->search->cycle, order->units[i]->workload);
}
