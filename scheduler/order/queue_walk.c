#include "scheduler/order/queue_walk.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"

#include <stdlib.h>
#include <string.h>

static int compare(enum walk_direction direction, const struct workload *a, const struct workload *b)
{
    return direction == WALK_SERVE ? workload_compare(a, b, NULL) : workload_compare_victims(a, b, NULL);
}

static int compare_to_serve(const void *a, const void *b)
{
    return workload_compare(*(struct workload *const *)a, *(struct workload *const *)b, NULL);
}

static int compare_to_yield(const void *a, const void *b)
{
    return workload_compare_victims(*(struct workload *const *)a, *(struct workload *const *)b, NULL);
}

// Returns how many count.
static size_t sort_leaf(enum walk_direction direction, struct workload **workloads, size_t count, size_t depth)
{
    if (count > 1)
        qsort(workloads, count, sizeof(*workloads), direction == WALK_SERVE ? compare_to_serve : compare_to_yield);
    return count < depth ? count : depth;
}

static void add_to_department(struct walk *walk, uint32_t leaf)
{
    struct queue *queue = walk->leaves[leaf].queue->parent;
    struct walk_level *level = NULL;
    for (size_t i = walk->department_count; i-- > 0 && !level;) {
        if (walk->departments[i].queue == queue)
            level = &walk->departments[i];
    }
    if (!level) {
        size_t at = walk->department_count++;
        while (at > 0 && walk->departments[at - 1].queue > queue) {
            walk->departments[at] = walk->departments[at - 1];
            at--;
        }
        level = &walk->departments[at];
        *level = (struct walk_level){.queue = queue};
        level->leaves = arena_array(walk->arena, walk->most_leaves, sizeof(*level->leaves));
    }
    level->leaves[level->leaf_count++] = leaf;
    level->left++;
}

void walk_start(struct walk *walk, struct cycle *cycle, const struct pool *pool, enum walk_direction direction,
                size_t most_leaves, struct arena *arena)
{
    *walk =
        (struct walk){.cycle = cycle, .pool = pool, .direction = direction, .most_leaves = most_leaves, .arena = arena};
    walk->leaves = arena_array(arena, most_leaves, sizeof(*walk->leaves));
    walk->departments = arena_array(arena, most_leaves, sizeof(*walk->departments));
}

void walk_add_leaf(struct walk *walk, uint32_t project, struct workload **workloads, size_t count)
{
    if (count == 0)
        return;
    walk->leaves[walk->leaf_count++] =
        (struct walk_leaf){.queue = &walk->pool->projects[project], .workloads = workloads, .count = count};
    add_to_department(walk, (uint32_t)walk->leaf_count - 1);
}

void walk_open(struct walk *walk, struct cycle *cycle, const struct pool *pool, enum walk_direction direction,
               struct workload *const *workloads, size_t count, uint32_t depth, struct arena *arena)
{
    size_t project_count = cycle->snapshot->project_count;
    size_t *first = arena_array(arena, project_count + 1, sizeof(*first));
    for (size_t i = 0; i < count; i++)
        first[workloads[i]->spec->project + 1]++;
    size_t used = 0;
    for (size_t p = 0; p < project_count; p++)
        used += first[p + 1] > 0;
    for (size_t p = 0; p < project_count; p++)
        first[p + 1] += first[p];
    struct workload **sorted = arena_array(arena, count, sizeof(*sorted));
    size_t *next = arena_array(arena, project_count, sizeof(*next));
    for (size_t i = 0; i < count; i++) {
        uint32_t p = workloads[i]->spec->project;
        sorted[first[p] + next[p]++] = workloads[i];
    }
    walk_start(walk, cycle, pool, direction, used, arena);
    for (uint32_t p = 0; p < project_count; p++)
        walk_add_leaf(walk, p, sorted + first[p],
                      sort_leaf(direction, sorted + first[p], first[p + 1] - first[p], depth));
}

static struct queue_key make_key(const struct walk *walk, const struct queue *queue, struct amounts head,
                                 struct amounts popped)
{
    if (walk->direction == WALK_SERVE)
        return queue_key_make(queue, head, (struct amounts){0}, walk->pool->total);
    return queue_key_make(queue, (struct amounts){0}, amounts_add(popped, head), walk->pool->total);
}

void walk_find_key(struct walk *walk, struct walk_leaf *leaf)
{
    if (leaf->key_is_known && leaf->key_version == leaf->queue->version)
        return;
    struct workload *head = leaf->workloads[leaf->next];
    leaf->head = walk->direction == WALK_SERVE ? unit_amounts(walk->cycle, head, walk->pool->smallest_gpu_memory_mib)
                                               : workload_left(walk->cycle, head);
    leaf->key = make_key(walk, leaf->queue, leaf->head, leaf->popped);
    leaf->key_version = leaf->queue->version;
    leaf->key_is_known = true;
}

// Whether a goes strictly before b, or gives way strictly before b.
static bool goes_before(const struct walk *walk, const struct queue_key *a, const struct queue_key *b)
{
    int order = queue_compare(a, b, NULL);
    return walk->direction == WALK_SERVE ? order < 0 : order > 0;
}

static void update_best(struct walk *walk, struct walk_level *level)
{
    if (level->best_is_known && level->best_version == level->queue->version)
        return;
    const struct walk_leaf *best = NULL;
    walk->looked_at += level->leaf_count;
    for (size_t i = 0; i < level->leaf_count; i++) {
        struct walk_leaf *leaf = &walk->leaves[level->leaves[i]];
        if (leaf->next == leaf->count)
            continue;
        walk_find_key(walk, leaf);
        if (!best || goes_before(walk, &leaf->key, &best->key)) {
            best = leaf;
            level->best = level->leaves[i];
        }
    }
    level->key = make_key(walk, level->queue, best->head, level->popped);
    level->best_version = level->queue->version;
    level->best_is_known = true;
}

struct workload *walk_next(struct walk *walk)
{
    struct walk_level *best = NULL;
    walk->looked_at += walk->department_count;
    for (size_t d = 0; d < walk->department_count; d++) {
        struct walk_level *level = &walk->departments[d];
        if (level->left == 0)
            continue;
        update_best(walk, level);
        if (!best || goes_before(walk, &level->key, &best->key))
            best = level;
    }
    if (!best)
        return NULL;
    struct walk_leaf *leaf = &walk->leaves[best->best];
    struct workload *workload = leaf->workloads[leaf->next++];
    leaf->key_is_known = best->best_is_known = false;
    if (leaf->next == leaf->count)
        best->left--;
    return workload;
}

static struct walk_leaf *leaf_of(struct walk *walk, const struct workload *workload, struct walk_level **out_level)
{
    const struct queue *queue = cycle_queue(walk->pool, workload);
    size_t low = 0, high = walk->leaf_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (walk->leaves[middle].queue <= queue)
            low = middle;
        else
            high = middle;
    }
    for (size_t d = 0; d < walk->department_count; d++) {
        if (walk->departments[d].queue == queue->parent)
            *out_level = &walk->departments[d];
    }
    return &walk->leaves[low];
}

void walk_push_back(struct walk *walk, struct workload *workload)
{
    struct walk_level *level = NULL;
    struct walk_leaf *leaf = leaf_of(walk, workload, &level);
    if (leaf->next == leaf->count)
        level->left++;
    size_t low = leaf->next, high = leaf->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(walk->direction, leaf->workloads[middle], workload) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct workload **start = leaf->workloads + leaf->next;
    memmove(start - 1, start, (low - leaf->next) * sizeof(*start));
    leaf->workloads[low - 1] = workload;
    leaf->next--;
    leaf->key_is_known = level->best_is_known = false;
}

void walk_count_popped(struct walk *walk, const struct workload *workload, struct amounts amounts)
{
    struct walk_level *level = NULL;
    struct walk_leaf *leaf = leaf_of(walk, workload, &level);
    leaf->popped = amounts_add(leaf->popped, amounts);
    level->popped = amounts_add(level->popped, amounts);
    leaf->key_is_known = level->best_is_known = false;
}

void walk_last_keys(struct walk *walk, const struct workload *workload, struct queue_key *out_project,
                    struct queue_key *out_department)
{
    struct walk_level *level = NULL;
    *out_project = leaf_of(walk, workload, &level)->key;
    *out_department = level->key;
}
