#include "scheduler/placing/vacancy.h"

#include "base/arena.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/rules.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEMO_COUNT = 64 // kinds of requests whose answers are kept
};

// A pod on whole devices that ends by its time limit.
struct ending {
    int64_t end_ms;
    uint32_t pod;
};

struct answer {
    const bool *accepts; // by node; NULL: none is kept
    uint32_t gpus;
    uint32_t count;
    int64_t starts_ms;
};

struct vacancy { // of one pool
    const struct pool *pool;
    size_t decision_count;
    bool is_known[2]; // by with_parts
    struct vacancy_room rooms[2];
    struct ending *endings; // in order, as the pool was when they were first asked for
    size_t ending_count;
    int64_t *free; // by node
    struct answer answers[MEMO_COUNT];
};

static int compare_endings(const void *a, const void *b)
{
    const struct ending *left = a, *right = b;
    if (left->end_ms != right->end_ms)
        return left->end_ms < right->end_ms ? -1 : 1;
    return (left->pod > right->pod) - (left->pod < right->pod);
}

static void list_endings(struct vacancy *vacancy, const struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    size_t capacity = 0;
    for (size_t w = 0; w < snapshot->workload_count; w++)
        capacity += snapshot->workloads[w].max_run_ms > 0 ? snapshot->workloads[w].pod_count : 0;
    vacancy->endings = arena_array(cycle->scratch, capacity, sizeof(*vacancy->endings));
    for (size_t w = 0; capacity > 0 && w < snapshot->workload_count; w++) {
        const struct snapshot_workload *spec = &snapshot->workloads[w];
        for (uint32_t i = 0; i < spec->pod_count && spec->max_run_ms > 0; i++) {
            const struct pod *pod = &cycle->pods[spec->first_pod + i];
            struct ending ending = {.pod = pod->index};
            if (pod_status_is_held(pod->state.status) && pod->spec->started_ms != SNAPSHOT_TIME_NONE &&
                cycle->nodes[pod->state.place.node].spec->node_pool == vacancy->pool->index &&
                !__builtin_add_overflow(pod->spec->started_ms, spec->max_run_ms, &ending.end_ms))
                vacancy->endings[vacancy->ending_count++] = ending;
        }
    }
    qsort(vacancy->endings, vacancy->ending_count, sizeof(*vacancy->endings), compare_endings);
}

static struct vacancy *vacancy_get(struct cycle *cycle, const struct pool *pool)
{
    if (!cycle->vacancies)
        cycle->vacancies = arena_array(cycle->scratch, cycle->snapshot->node_pool_count, sizeof(struct vacancy *));
    struct vacancy *vacancy = cycle->vacancies[pool->index];
    if (!vacancy) {
        vacancy = cycle->vacancies[pool->index] = arena_alloc(cycle->scratch, sizeof(*vacancy));
        vacancy->pool = pool;
        vacancy->free = arena_array(cycle->scratch, cycle->snapshot->node_count, sizeof(*vacancy->free));
        list_endings(vacancy, cycle);
    }
    if (vacancy->decision_count != cycle->journal->count) {
        memset(vacancy->is_known, 0, sizeof(vacancy->is_known));
        memset(vacancy->answers, 0, sizeof(vacancy->answers));
    }
    vacancy->decision_count = cycle->journal->count;
    return vacancy;
}

void vacancy_forget(struct cycle *cycle)
{
    for (size_t p = 0; cycle->vacancies && p < cycle->snapshot->node_pool_count; p++) {
        if (cycle->vacancies[p])
            cycle->vacancies[p]->decision_count = SIZE_MAX;
    }
}

struct vacancy_room vacancy_of(struct cycle *cycle, const struct pool *pool, bool with_parts)
{
    struct vacancy *vacancy = vacancy_get(cycle, pool);
    struct vacancy_room *room = &vacancy->rooms[with_parts];
    if (vacancy->is_known[with_parts])
        return *room;
    *room = (struct vacancy_room){0};
    for (size_t i = 0; i < pool->node_count; i++) {
        const struct node *node = pool->nodes[i];
        if (!node->is_open)
            continue;
        int64_t free = with_parts ? node_free_gpu_milli(cycle->snapshot, node)
                                  : node_free(node, DIMENSION_GPU) * GPU_MILLI_PER_DEVICE;
        room->total += node->capacity[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE;
        room->free += free > 0 ? free : 0;
        room->node_count += free > 0;
        room->most = free > room->most ? free : room->most;
    }
    vacancy->is_known[with_parts] = true;
    return *room;
}

// Lets the pods end one after the other until so many places are there.
static int64_t find_start(struct vacancy *vacancy, const struct cycle *cycle, const bool *accepts, int64_t gpus,
                          int64_t count)
{
    int64_t places = 0;
    for (size_t i = 0; i < vacancy->pool->node_count; i++) {
        const struct node *node = vacancy->pool->nodes[i];
        int64_t free = node->is_open && accepts[node->index] ? node_free(node, DIMENSION_GPU) : 0;
        vacancy->free[node->index] = free;
        places += free > 0 ? free / gpus : 0;
    }
    for (size_t i = 0; i < vacancy->ending_count; i++) {
        const struct pod *pod = &cycle->pods[vacancy->endings[i].pod];
        const struct node *node = &cycle->nodes[pod->state.place.node];
        if (!pod_status_is_held(pod->state.status) || !node->is_open || !accepts[node->index])
            continue;
        int64_t *free = &vacancy->free[node->index];
        places -= *free > 0 ? *free / gpus : 0;
        *free += pod->request.of[DIMENSION_GPU];
        places += *free > 0 ? *free / gpus : 0;
        if (places >= count)
            return vacancy->endings[i].end_ms;
    }
    return SNAPSHOT_TIME_NONE;
}

int64_t vacancy_starts_ms(struct cycle *cycle, const struct pool *pool, const struct pod *pod, uint32_t count)
{
    struct vacancy *vacancy = vacancy_get(cycle, pool);
    uint32_t gpus = (uint32_t)pod->request.of[DIMENSION_GPU];
    if (gpus == 0 || vacancy->ending_count == 0)
        return SNAPSHOT_TIME_NONE;
    const bool *accepts = rules_accepting_nodes(cycle, pod);
    struct answer *answer = &vacancy->answers[(gpus * 31 + count) % MEMO_COUNT];
    if (answer->accepts != accepts || answer->gpus != gpus || answer->count != count)
        *answer = (struct answer){accepts, gpus, count, find_start(vacancy, cycle, accepts, gpus, count)};
    return answer->starts_ms;
}

int64_t vacancy_first_end_ms(struct cycle *cycle, const struct pool *pool, uint32_t project)
{
    const struct vacancy *vacancy = vacancy_get(cycle, pool);
    for (size_t i = 0; i < vacancy->ending_count; i++) {
        const struct pod *pod = &cycle->pods[vacancy->endings[i].pod];
        if (pod_status_is_held(pod->state.status) && cycle->workloads[pod->workload].spec->project == project)
            return vacancy->endings[i].end_ms;
    }
    return SNAPSHOT_TIME_NONE;
}
