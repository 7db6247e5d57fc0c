#include "scheduler/victims/fast/serving_order.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/queue.h"

#include <stdlib.h>
#include <string.h>

struct serving_order serving_order_make(struct cycle *cycle, size_t most_waiting)
{
    return (struct serving_order){
        .waiting = arena_array(cycle->scratch, most_waiting, sizeof(struct workload *)),
        .first = arena_array(cycle->scratch, cycle->snapshot->project_count + 1, sizeof(size_t)),
        .keys = arena_array(cycle->scratch, cycle->snapshot->project_count, sizeof(struct served_key)),
    };
}

static int compare_served(const void *a, const void *b)
{
    const struct workload *left = *(struct workload *const *)a, *right = *(struct workload *const *)b;
    if (left->spec->project != right->spec->project)
        return left->spec->project < right->spec->project ? -1 : 1;
    return workload_compare(left, right, NULL);
}

void serving_order_sort(struct serving_order *serving, const struct cycle *cycle, struct workload *const *waiting,
                        size_t count)
{
    if (count > 0)
        memcpy(serving->waiting, waiting, count * sizeof(*waiting));
    qsort(serving->waiting, count, sizeof(*serving->waiting), compare_served);
    size_t at = 0;
    for (uint32_t p = 0; p < cycle->snapshot->project_count; p++) {
        serving->first[p] = at;
        while (at < count && serving->waiting[at]->spec->project == p)
            at++;
    }
    serving->first[cycle->snapshot->project_count] = count;
    memset(serving->keys, 0, cycle->snapshot->project_count * sizeof(*serving->keys));
}

struct merge {
    const struct serving_order *serving;
    struct walk *walk;
    struct workload **served; // by project, in order
    size_t count;
    size_t next; // the first whose project has not come yet
    uint32_t stamp;
    bool is_cut; // behind the last to be served nobody matters
    struct arena *arena;
};

// From one simulation to the next most projects hold the same, and the same workload is the first of them.
static void set_key(struct merge *merge, uint32_t project, const struct workload *head)
{
    struct served_key *known = &merge->serving->keys[project];
    struct walk_leaf *leaf = &merge->walk->leaves[merge->walk->leaf_count - 1];
    if (known->head != head || memcmp(&known->allocated, &leaf->queue->allocated, sizeof(known->allocated)) != 0) {
        walk_find_key(merge->walk, leaf);
        *known = (struct served_key){head, leaf->queue->allocated, leaf->head, leaf->key};
        return;
    }
    leaf->head = known->amounts;
    leaf->key = known->key;
    leaf->key_version = leaf->queue->version;
    leaf->key_is_known = true;
}

static void add_project(struct merge *merge, uint32_t project)
{
    struct workload **waiting = merge->serving->waiting + merge->serving->first[project];
    size_t waiting_count = merge->serving->first[project + 1] - merge->serving->first[project];
    size_t end = merge->next;
    while (end < merge->count && merge->served[end]->spec->project == project)
        end++;
    if (end == merge->next) {
        walk_add_leaf(merge->walk, project, waiting, waiting_count);
        if (waiting_count > 0)
            set_key(merge, project, waiting[0]);
        return;
    }
    struct workload **all = arena_array(merge->arena, waiting_count + end - merge->next, sizeof(struct workload *));
    size_t count = 0, w = 0;
    while (merge->next < end || (w < waiting_count && !merge->is_cut)) {
        if (w < waiting_count && waiting[w]->stamp == merge->stamp)
            w++;
        else if (merge->next < end &&
                 (w == waiting_count || workload_compare(merge->served[merge->next], waiting[w], NULL) < 0))
            all[count++] = merge->served[merge->next++];
        else
            all[count++] = waiting[w++];
    }
    walk_add_leaf(merge->walk, project, all, count);
}

static bool are_of_one_department(const struct pool *pool, struct workload *const *served, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (cycle_queue(pool, served[i])->parent != cycle_queue(pool, served[0])->parent)
            return false;
    }
    return true;
}

void serving_order_open(const struct serving_order *serving, struct walk *walk, struct cycle *cycle,
                        const struct pool *pool, struct workload **served, size_t count, struct arena *arena)
{
    struct merge merge = {
        .serving = serving, .walk = walk, .served = served, .count = count, .stamp = cycle->stamp, .arena = arena};
    qsort(served, count, sizeof(struct workload *), compare_served);
    merge.is_cut = are_of_one_department(pool, served, count);
    bool *matters = arena_array(arena, pool->department_count, sizeof(*matters));
    for (size_t i = 0; i < count; i++)
        matters[cycle_queue(pool, served[i])->parent - pool->departments] = true;
    if (merge.is_cut) {
        walk_start(walk, cycle, pool, WALK_SERVE, count, arena);
        while (merge.next < count)
            add_project(&merge, served[merge.next]->spec->project);
        return;
    }
    walk_start(walk, cycle, pool, WALK_SERVE, cycle->snapshot->project_count, arena);
    for (uint32_t p = 0; p < cycle->snapshot->project_count; p++) {
        if (matters[pool->projects[p].parent - pool->departments])
            add_project(&merge, p);
    }
}

static struct amounts share_of(const struct queue *queue)
{
    struct amounts share;
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        share.of[r] = queue_allocatable_share(queue, r);
    return share;
}

static int compare_shares(const void *a, const void *b)
{
    const struct queue *left = *(const struct queue *const *)a, *right = *(const struct queue *const *)b;
    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    struct amounts one = share_of(left), other = share_of(right);
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        if (one.of[r] != other.of[r])
            return one.of[r] < other.of[r] ? -1 : 1;
    }
    return 0;
}

// Sorted by one resource after the other, neighbours must be ordered in all of them.
static bool is_chain(const struct queue **queues, size_t count)
{
    qsort(queues, count, sizeof(*queues), compare_shares);
    for (size_t i = 1; i < count; i++) {
        if (queues[i]->parent == queues[i - 1]->parent &&
            !amounts_are_within(share_of(queues[i - 1]), share_of(queues[i])))
            return false;
    }
    return true;
}

bool serving_order_is_transitive(struct cycle *cycle, const struct pool *pool)
{
    size_t project_count = cycle->snapshot->project_count;
    struct arena arena;
    arena_init(&arena);
    const struct queue **queues = arena_array(&arena, project_count + pool->department_count, sizeof(*queues));
    for (size_t p = 0; p < project_count; p++)
        queues[p] = &pool->projects[p];
    for (size_t d = 0; d < pool->department_count; d++)
        queues[project_count + d] = &pool->departments[d];
    bool is = is_chain(queues, project_count) && is_chain(queues + project_count, pool->department_count);
    arena_done(&arena);
    return is;
}
