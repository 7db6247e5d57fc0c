#include "scheduler/state/queue.h"

#include "base/arena.h"
#include "scheduler/state/fair_share.h"
#include "scheduler/state/people.h"
#include "scheduler/state/share_log.h"

void queue_charge(struct queue *queue, struct amounts amounts, bool preemptible, int sign)
{
    for (; queue; queue = queue->parent) {
        for (size_t r = 0; r < RESOURCE_COUNT; r++) {
            queue->allocated.of[r] += amounts.of[r] * sign;
            if (!preemptible)
                queue->allocated_non_preemptible.of[r] += amounts.of[r] * sign;
        }
        queue->version++;
    }
}

int64_t queue_allocatable_share(const struct queue *queue, enum resource resource)
{
    int64_t deserved = queue->spec->deserved.of[resource], limit = queue->spec->limit.of[resource];
    if (deserved == QUANTITY_UNLIMITED)
        return limit;
    int64_t share = deserved > queue->fair_share.of[resource] ? deserved : queue->fair_share.of[resource];
    return share < limit ? share : limit;
}

void queue_find_sides(struct queue *reclaimer, struct queue *victim, struct queue **out_reclaimer,
                      struct queue **out_victim)
{
    bool same = reclaimer->parent == victim->parent;
    *out_reclaimer = same ? reclaimer : reclaimer->parent;
    *out_victim = same ? victim : victim->parent;
}

bool queue_exceeds_share(const struct queue *queue, struct amounts held)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        if (held.of[r] > queue_allocatable_share(queue, r))
            return true;
    }
    return false;
}

bool queue_exceeds_deserved(const struct queue *queue, struct amounts held)
{
    return !amounts_are_within(held, queue->spec->deserved);
}

struct queue_refusal queue_check_quota(const struct queue *queue, struct amounts requested)
{
    for (; queue; queue = queue->parent) {
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            int64_t deserved = queue->spec->deserved.of[r];
            if (requested.of[r] > 0 && deserved != QUANTITY_UNLIMITED &&
                deserved < queue->allocated_non_preemptible.of[r] + requested.of[r])
                return (struct queue_refusal){queue, QUEUE_BOUND_QUOTA, r, requested.of[r]};
        }
    }
    return (struct queue_refusal){0};
}

struct queue_refusal queue_check_person(const struct pool *pool, const struct workload *workload,
                                        struct amounts requested)
{
    const struct person *person = workload->person;
    const struct queue *queue = cycle_queue(pool, workload);
    int64_t gpu_milli = requested.of[RESOURCE_GPU];
    if (person && workload->counts.held == 0 && person->workload_count >= person->project->person_workload_limit)
        return (struct queue_refusal){queue, QUEUE_BOUND_PERSON_WORKLOADS, RESOURCE_GPU, gpu_milli};
    if (person && gpu_milli > 0 && person->project->person_gpu_limit_milli < person->gpu_milli + gpu_milli)
        return (struct queue_refusal){queue, QUEUE_BOUND_PERSON_GPUS, RESOURCE_GPU, gpu_milli};
    return (struct queue_refusal){0};
}

struct queue_refusal queue_check_budget(const struct pool *pool, const struct workload *workload,
                                        struct amounts requested)
{
    const struct queue *queue = cycle_queue(pool, workload);
    int64_t gpu_milli = requested.of[RESOURCE_GPU], deserved = queue->spec->deserved.of[RESOURCE_GPU];
    if (workload->spec->over_budget && gpu_milli > 0 && deserved != QUANTITY_UNLIMITED &&
        deserved < queue->allocated.of[RESOURCE_GPU] + gpu_milli)
        return (struct queue_refusal){queue, QUEUE_BOUND_BUDGET, RESOURCE_GPU, gpu_milli};
    return (struct queue_refusal){0};
}

static struct queue_refusal check_limits(const struct queue *queue, struct amounts requested)
{
    for (; queue; queue = queue->parent) {
        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
            int64_t limit = queue->spec->limit.of[r];
            if (requested.of[r] > 0 && limit != QUANTITY_UNLIMITED && limit < queue->allocated.of[r] + requested.of[r])
                return (struct queue_refusal){queue, QUEUE_BOUND_LIMIT, r, requested.of[r]};
        }
    }
    return (struct queue_refusal){0};
}

struct queue_refusal queue_check_capacity(const struct pool *pool, const struct workload *workload,
                                          struct amounts requested)
{
    const struct queue *queue = cycle_queue(pool, workload);
    struct queue_refusal refusal = check_limits(queue, requested);
    if (!refusal.queue && !workload->spec->preemptible)
        refusal = queue_check_quota(queue, requested);
    if (!refusal.queue)
        refusal = queue_check_person(pool, workload, requested);
    return refusal.queue ? refusal : queue_check_budget(pool, workload, requested);
}

// Weights and usage beyond this are no different from it: a thousand million.
static int64_t bounded(int64_t weight)
{
    static const int64_t LARGEST = INT64_C(1000000000000);
    return weight < LARGEST ? weight : LARGEST;
}

// Whether quotas add up to more than there is; an unlimited one is no number to add.
static bool are_oversubscribed(struct queue **queues, size_t count, enum resource resource, int64_t total)
{
    for (size_t i = 0; i < count; i++) {
        int64_t deserved = queues[i]->spec->deserved.of[resource];
        if (deserved == QUANTITY_UNLIMITED)
            continue;
        if (deserved > total)
            return true;
        total -= deserved;
    }
    return false;
}

static void divide_level(struct cycle *cycle, const struct pool *pool, struct queue **queues, size_t count,
                         struct amounts total)
{
    struct share_claim *claims = arena_array(cycle->scratch, count, sizeof(*claims));
    for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
        for (size_t i = 0; i < count; i++) {
            const struct queue *queue = queues[i];
            claims[i] = (struct share_claim){.deserved = queue->spec->deserved.of[r],
                                             .limit = queue->spec->limit.of[r],
                                             .requested = queue->requested.of[r],
                                             .weight_milli = bounded(queue->spec->over_quota_weight_milli.of[r]),
                                             .usage_micro = bounded(queue->spec->usage_micro.of[r]),
                                             .rank = queue->spec->rank,
                                             .created_ms = queue->created_ms};
        }
        struct share_terms terms = {.total = total.of[r],
                                    .unit = r == RESOURCE_GPU ? GPU_MILLI_PER_DEVICE : 1,
                                    .k_micro = pool->spec->fair_share_k_micro};
        if (cycle->share_log)
            terms.recorder = share_log_level(cycle->share_log, pool, r, queues);
        fair_share_divide(claims, count, terms, cycle->scratch);
        bool are_short = pool->spec->reclaims_by_rank && are_oversubscribed(queues, count, r, total.of[r]);
        for (size_t i = 0; i < count; i++) {
            queues[i]->fair_share.of[r] = claims[i].fair_share;
            queues[i]->rank_decides[r] = are_short && queues[i]->spec->deserved.of[r] != QUANTITY_UNLIMITED;
        }
    }
}

void queue_divide_fair_shares(struct cycle *cycle, struct pool *pool)
{
    size_t project_count = cycle->snapshot->project_count;
    if (cycle->share_log)
        share_log_begin(cycle->share_log, cycle, pool);
    struct queue **level = arena_array(cycle->scratch, pool->department_count + project_count, sizeof(*level));
    for (size_t d = 0; d < pool->department_count; d++)
        level[d] = &pool->departments[d];
    divide_level(cycle, pool, level, pool->department_count, pool->total);
    // Projects of one department after the other: counted, then laid out side by side.
    size_t *first = arena_array(cycle->scratch, pool->department_count + 1, sizeof(*first));
    for (size_t p = 0; p < project_count; p++)
        first[pool->projects[p].parent - pool->departments + 1]++;
    for (size_t d = 0; d < pool->department_count; d++)
        first[d + 1] += first[d];
    size_t *next = arena_array(cycle->scratch, pool->department_count, sizeof(*next));
    for (size_t p = 0; p < project_count; p++) {
        size_t d = (size_t)(pool->projects[p].parent - pool->departments);
        level[first[d] + next[d]++] = &pool->projects[p];
    }
    for (size_t d = 0; d < pool->department_count; d++)
        divide_level(cycle, pool, level + first[d], first[d + 1] - first[d], pool->departments[d].fair_share);
    if (cycle->share_log)
        share_log_end(cycle->share_log, cycle, pool);
}
