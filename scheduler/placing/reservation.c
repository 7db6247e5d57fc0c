#include "scheduler/placing/reservation.h"

#include "base/arena.h"
#include "base/timestamp.h"
#include "scheduler/placing/attempt.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/vacancy.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/free_gpu_index.h"
#include "scheduler/state/node.h"
#include "scheduler/state/node_scores.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"
#include "scheduler/state/wording.h"

#include <stdlib.h>

struct reserved_place {
    struct pod pod; // with the request that is held: whole devices for parts of devices
    struct place place;
};

struct reservation {
    struct workload *gang;
    struct reserved_place *places;
    uint32_t count;
    uint32_t node_count;
    int64_t gpu_milli;
    int64_t start_ms;        // SNAPSHOT_TIME_NONE: not known
    bool is_within_deserved; // the gang, once those are gone that it waits for
    bool is_held;
};

static int64_t known_end(struct cycle *cycle, const struct pod *pod)
{
    int64_t max_run = cycle->workloads[pod->workload].spec->max_run_ms, now = cycle->snapshot->now_ms;
    int64_t end;
    if (max_run <= 0)
        return INT64_MAX;
    int64_t start = pod->spec->started_ms != SNAPSHOT_TIME_NONE ? pod->spec->started_ms : now;
    if (__builtin_add_overflow(start, max_run, &end))
        return INT64_MAX;
    return cycle_is_before(cycle, end) ? end : now;
}

// A pod that holds room in the pool, and when it gives it back.
struct ending {
    uint32_t pod;
    int64_t end_ms; // INT64_MAX: not known
    int64_t started_ms;
};

static int compare_endings(const void *a, const void *b)
{
    const struct ending *left = a, *right = b;
    if (left->end_ms != right->end_ms)
        return left->end_ms < right->end_ms ? -1 : 1;
    if (left->started_ms != right->started_ms)
        return left->started_ms < right->started_ms ? -1 : 1;
    return (left->pod > right->pod) - (left->pod < right->pod);
}

static struct ending *list_endings(struct cycle *cycle, const struct pool *pool, size_t *out_count)
{
    size_t capacity = 0, count = 0;
    for (size_t i = 0; i < pool->holder_count; i++)
        capacity += pool->holders[i]->counts.held;
    struct ending *endings = arena_array(cycle->arena, capacity, sizeof(*endings));
    for (size_t i = 0; i < pool->holder_count; i++) {
        const struct snapshot_workload *spec = pool->holders[i]->spec;
        for (uint32_t p = 0; p < spec->pod_count; p++) {
            const struct pod *pod = &cycle->pods[spec->first_pod + p];
            if (!pod_status_is_held(pod->state.status))
                continue;
            int64_t started = pod->spec->started_ms;
            endings[count++] =
                (struct ending){pod->index, known_end(cycle, pod), started != SNAPSHOT_TIME_NONE ? started : INT64_MAX};
        }
    }
    qsort(endings, count, sizeof(*endings), compare_endings);
    *out_count = count;
    return endings;
}

// Lets the first `wanted` pods be gone, of which `gone` are: each is one operation of the statement.
static void let_go(struct cycle *cycle, const struct ending *endings, size_t checkpoint, size_t *gone, size_t wanted)
{
    if (wanted < *gone)
        statement_roll_back(cycle, checkpoint + wanted);
    for (size_t i = *gone; i < wanted; i++)
        statement_evict(cycle, endings[i].pod);
    *gone = wanted;
}

static bool fits(struct cycle *cycle, const struct pool *pool, struct workload *gang)
{
    struct node_set set = pool_nodes(pool);
    size_t checkpoint = statement_checkpoint(cycle);
    if (!attempt_workload(cycle, pool, gang, &set, true, NULL))
        return false;
    statement_roll_back(cycle, checkpoint);
    return true;
}

static bool is_gang(const struct pool *pool, struct workload *workload)
{
    return workload->counts.held == 0 && (workload->home == SNAPSHOT_NONE || workload->home == pool->index);
}

static int64_t unit_gpu_milli(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    unit_find(cycle, workload);
    return unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib).of[RESOURCE_GPU];
}

// Whether limits and quota let it start.
static bool is_allowed(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    unit_find(cycle, workload);
    struct amounts amounts = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    return !queue_check_capacity(pool, workload, amounts).queue;
}

struct contender {
    struct workload *workload;
    int64_t gpu_milli;
};

// Most GPUs first, then higher priority, older, name.
static int compare_contenders(const void *a, const void *b)
{
    const struct contender *left = a, *right = b;
    const struct snapshot_workload *one = left->workload->spec, *other = right->workload->spec;
    if (left->gpu_milli != right->gpu_milli)
        return left->gpu_milli > right->gpu_milli ? -1 : 1;
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    if (one->created_ms != other->created_ms)
        return one->created_ms < other->created_ms ? -1 : 1;
    return (left->workload->index > right->workload->index) - (left->workload->index < right->workload->index);
}

// The largest that lacks nothing but free resources: it does not fit now, and would in the empty pool.
static struct workload *choose_gang(struct cycle *cycle, const struct pool *pool, struct workload *const *candidates,
                                    size_t count, const struct ending *endings, size_t ending_count)
{
    struct contender *contenders = arena_array(cycle->arena, count, sizeof(*contenders));
    size_t contender_count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t gpu_milli = is_gang(pool, candidates[i]) ? unit_gpu_milli(cycle, pool, candidates[i]) : 0;
        if (gpu_milli > 0 && is_allowed(cycle, pool, candidates[i]))
            contenders[contender_count++] = (struct contender){candidates[i], gpu_milli};
    }
    qsort(contenders, contender_count, sizeof(*contenders), compare_contenders);
    size_t checkpoint = statement_checkpoint(cycle);
    for (size_t i = 0; i < contender_count; i++) {
        if (fits(cycle, pool, contenders[i].workload))
            continue;
        size_t gone = 0;
        let_go(cycle, endings, checkpoint, &gone, ending_count);
        bool would_fit = fits(cycle, pool, contenders[i].workload);
        statement_roll_back(cycle, checkpoint);
        if (would_fit)
            return contenders[i].workload;
    }
    return NULL;
}

// Takes down where the unit stands in the open statement.
static void note_places(struct cycle *cycle, struct reservation *reservation, size_t first)
{
    const struct workload *gang = reservation->gang;
    reservation->places = arena_array(cycle->arena, gang->spec->pod_count, sizeof(*reservation->places));
    bool *is_counted = arena_array(cycle->arena, cycle->snapshot->node_count, sizeof(*is_counted));
    for (size_t i = first; i < cycle->log->count; i++) {
        const struct pod *pod = &cycle->pods[cycle->log->operations[i].pod];
        if (pod->workload != gang->index || !pod_status_is_held(pod->state.status))
            continue;
        uint32_t node = pod->state.place.node;
        struct reserved_place *reserved = &reservation->places[reservation->count++];
        *reserved = (struct reserved_place){.pod = *pod, .place = {.node = node}};
        reserved->pod.request.of[DIMENSION_GPU] += pod->request.shared_devices;
        reservation->gpu_milli += request_amounts(&pod->request, cycle->nodes[node].gpu_memory_mib).of[RESOURCE_GPU];
        reservation->node_count += !is_counted[node];
        is_counted[node] = true;
    }
}

static bool is_within_deserved(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    unit_find(cycle, workload);
    struct amounts requested = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib);
    for (const struct queue *queue = cycle_queue(pool, workload); queue; queue = queue->parent) {
        if (!amounts_are_within(amounts_add(queue->allocated, requested), queue->spec->deserved))
            return false;
    }
    return true;
}

void reservation_make(struct cycle *cycle, struct pool *pool, struct workload *const *candidates, size_t count)
{
    if (!pool->spec->reserves || pool->reservation)
        return;
    size_t ending_count, gone = 0;
    const struct ending *endings = list_endings(cycle, pool, &ending_count);
    struct workload *gang = choose_gang(cycle, pool, candidates, count, endings, ending_count);
    if (!gang)
        return;
    size_t checkpoint = statement_checkpoint(cycle);
    size_t too_few = 0, enough = ending_count;
    while (enough - too_few > 1) {
        size_t middle = too_few + (enough - too_few) / 2;
        let_go(cycle, endings, checkpoint, &gone, middle);
        if (fits(cycle, pool, gang))
            enough = middle;
        else
            too_few = middle;
    }
    let_go(cycle, endings, checkpoint, &gone, enough);
    struct node_set set = pool_nodes(pool);
    size_t first = statement_checkpoint(cycle);
    struct reservation *reservation = arena_alloc(cycle->arena, sizeof(*reservation));
    *reservation = (struct reservation){.gang = gang,
                                        .start_ms = endings[enough - 1].end_ms,
                                        .is_within_deserved = is_within_deserved(cycle, pool, gang)};
    if (reservation->start_ms == INT64_MAX)
        reservation->start_ms = SNAPSHOT_TIME_NONE;
    if (attempt_workload(cycle, pool, gang, &set, true, NULL)) {
        note_places(cycle, reservation, first);
        pool->reservation = reservation;
    }
    statement_roll_back(cycle, checkpoint);
}

static void set_held(struct cycle *cycle, struct reservation *reservation, bool is_held)
{
    for (uint32_t i = 0; i < reservation->count; i++) {
        const struct reserved_place *reserved = &reservation->places[i];
        (is_held ? node_add : node_remove)(&cycle->nodes[reserved->place.node], &reserved->pod, &reserved->place,
                                           STANDING_PROMISED);
        free_gpu_index_note(cycle, &cycle->nodes[reserved->place.node]);
        node_scores_note(cycle, &cycle->nodes[reserved->place.node]);
    }
    reservation->is_held = is_held;
    cycle->nodes_memo.survey = NULL; // was made with other room
    vacancy_forget(cycle);
}

// Who may use what is reserved: the gang; who is gone before it starts; who goes before it in the same project by its
// priority or its person's turn; and who takes what it deserves, where the gang would go beyond.
static bool may_use(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    const struct reservation *reservation = pool->reservation;
    const struct snapshot_workload *spec = workload->spec, *gang = reservation->gang->spec;
    int64_t end;
    if (workload == reservation->gang ||
        (spec->project == gang->project &&
         (spec->priority > gang->priority ||
          (spec->priority == gang->priority && workload->turn < reservation->gang->turn))))
        return true;
    if (spec->max_run_ms > 0 && reservation->start_ms != SNAPSHOT_TIME_NONE &&
        !__builtin_add_overflow(cycle->snapshot->now_ms, spec->max_run_ms, &end) && end <= reservation->start_ms)
        return true;
    return !reservation->is_within_deserved && is_within_deserved(cycle, pool, workload);
}

bool reservation_would_hold(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    const struct reservation *reservation = pool->reservation;
    return reservation && reservation->gang->counts.held == 0 && !may_use(cycle, pool, workload);
}

void reservation_hold(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    if (reservation_would_hold(cycle, pool, workload))
        set_held(cycle, pool->reservation, true);
}

void reservation_release(struct cycle *cycle, struct pool *pool)
{
    if (pool->reservation && pool->reservation->is_held)
        set_held(cycle, pool->reservation, false);
}

static const char *describe_start(const struct cycle *cycle, const struct reservation *reservation)
{
    char text[TIMESTAMP_SIZE];
    if (reservation->start_ms == SNAPSHOT_TIME_NONE)
        return "";
    timestamp_format(reservation->start_ms, text);
    return arena_printf(cycle->arena, ", which can start at %s", text);
}

static const char *describe_room(const struct cycle *cycle, const struct pool *pool)
{
    const struct reservation *reservation = pool->reservation;
    return arena_printf(cycle->arena, "%s on %u %s in node pool %s %s reserved for",
                        wording_amount(cycle->arena, RESOURCE_GPU, reservation->gpu_milli), reservation->node_count,
                        reservation->node_count == 1 ? "node" : "nodes", pool->spec->name,
                        reservation->gpu_milli == GPU_MILLI_PER_DEVICE ? "is" : "are");
}

void reservation_explain(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    struct reservation *reservation = pool->reservation;
    if (!reservation || (workload != reservation->gang && !reservation->is_held))
        return;
    bool is_gang_itself = workload == reservation->gang;
    struct plan_explanation explanation = explain_blank(
        pool, is_gang_itself ? EXPLANATION_HAS_RESERVATION : EXPLANATION_HELD_FOR_RESERVATION, NULL, RESOURCE_GPU);
    reservation_release(cycle, pool);
    if (!is_gang_itself && !fits(cycle, pool, workload))
        return;
    explanation.requested = unit_gpu_milli(cycle, pool, workload);
    const char *room = describe_room(cycle, pool), *start = describe_start(cycle, reservation);
    const char *ends = !*start                          ? ""
                       : workload->spec->max_run_ms > 0 ? "; this workload would end later"
                                                        : "; this workload has no time limit";
    if (is_gang_itself)
        explanation.message = arena_printf(cycle->arena, "%s it%s", room, start);
    else
        explanation.message =
            arena_printf(cycle->arena, "There is room, but %s a gang of %s, the largest one waiting%s%s", room,
                         cycle_queue(pool, reservation->gang)->name, start, ends);
    explanation.until_ms = reservation->start_ms;
    explain_add(cycle, pool, workload, explanation);
}
