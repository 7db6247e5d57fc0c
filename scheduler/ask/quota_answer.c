#include "scheduler/ask/quota_answer.h"

#include "base/arena.h"
#include "model/told.h"
#include "scheduler/ask/quota_future.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/wording.h"

#include <stdlib.h>

struct sides {
    const struct quota_future *without, *with;
    struct arena *arena;
};

static bool is_held(const struct quota_future *future, uint32_t pod)
{
    return pod_status_is_held(future->simulation.snapshot.pods[pod].status);
}

// What the pod counts, by the side that decided about it.
static const struct quota_fate *fate_of(const struct sides *sides, uint32_t pod)
{
    const struct quota_fate *fate = &sides->with->fates[pod];
    return fate->gpu_milli > 0 ? fate : &sides->without->fates[pod];
}

// Sums over a workload's pods.
struct balance {
    int64_t gained_milli, lost_milli, restarted_milli;
    uint32_t gained, lost, restarted;
    bool was_evicted; // without the change
};

static void weigh_pod(const struct sides *sides, uint32_t pod, struct balance *balance, struct quota_workload *out)
{
    const struct quota_fate *fate = fate_of(sides, pod), *evicted = &sides->with->fates[pod];
    bool had = is_held(sides->without, pod), has = is_held(sides->with, pod);
    balance->was_evicted |= sides->without->fates[pod].is_evicted;
    if (had != has) {
        *(has ? &balance->gained_milli : &balance->lost_milli) += fate->gpu_milli;
        *(has ? &balance->gained : &balance->lost) += 1;
        out->node_pool = fate->node_pool;
    }
    if (!evicted->is_evicted || sides->without->fates[pod].is_evicted)
        return;
    if (has) {
        balance->restarted_milli += fate->gpu_milli;
        balance->restarted++;
        out->node_pool = fate->node_pool;
    }
    if (!out->is_evicted || evicted->lost_ms > out->lost_ms)
        out->lost_ms = evicted->lost_ms;
    if (!out->is_evicted) {
        out->is_evicted = true;
        out->action = evicted->action;
        out->beneficiary = evicted->beneficiary;
    }
}

// False where nothing is different for it.
static bool weigh_workload(const struct sides *sides, uint32_t index, struct quota_workload *out)
{
    const struct snapshot_workload *workload = &sides->with->start->workloads[index];
    struct balance balance = {0};
    *out = (struct quota_workload){.workload = index, .node_pool = SNAPSHOT_NONE, .beneficiary = SNAPSHOT_NONE};
    for (uint32_t i = 0; i < workload->pod_count; i++)
        weigh_pod(sides, workload->first_pod + i, &balance, out);
    int64_t milli = balance.gained_milli - balance.lost_milli; // pods of a workload may be unlike
    if (milli > 0 || (milli == 0 && balance.gained > balance.lost)) {
        out->outcome = balance.was_evicted ? QUOTA_KEEPS : QUOTA_STARTS;
        out->pods = balance.gained;
        out->gpu_milli = milli;
    } else if (milli < 0 || balance.gained < balance.lost) {
        out->outcome = out->is_evicted ? QUOTA_GIVES_WAY : QUOTA_STAYS_PENDING;
        out->pods = balance.lost;
        out->gpu_milli = -milli;
    } else {
        out->outcome = QUOTA_RESTARTS;
        out->pods = balance.restarted;
        out->gpu_milli = balance.restarted_milli;
    }
    return out->pods > 0;
}

static void find_workloads(const struct sides *sides, struct quota_answer *answer)
{
    size_t total = sides->with->start->workload_count, capacity = 0, count = 0;
    struct quota_workload *list = NULL, one;
    for (uint32_t i = 0; i < total; i++) {
        if (!weigh_workload(sides, i, &one))
            continue;
        list = arena_grow(sides->arena, list, &capacity, count + 1, sizeof(*list));
        list[count++] = one;
        answer->counts[one.outcome]++;
    }
    answer->workloads = list;
    answer->workload_count = count;
}

static bool differs(const struct plan_queue *a, const struct plan_queue *b)
{
    for (enum resource r = 0; r < RESOURCE_COUNT; r++)
        if (a->deserved.of[r] != b->deserved.of[r] || a->limit.of[r] != b->limit.of[r] ||
            a->allocated.of[r] != b->allocated.of[r])
            return true;
    return a->fair_share.of[RESOURCE_GPU] != b->fair_share.of[RESOURCE_GPU];
}

static void find_queues_of(const struct sides *sides, enum queue_kind kind, size_t *capacity,
                           struct quota_answer *answer)
{
    const struct snapshot *start = sides->with->start;
    bool is_project = kind == QUEUE_KIND_PROJECT;
    const struct plan_queue *before = is_project ? sides->without->projects : sides->without->departments;
    const struct plan_queue *after = is_project ? sides->with->projects : sides->with->departments;
    size_t count = (is_project ? start->project_count : start->department_count) * start->node_pool_count;
    struct quota_queue *list = (struct quota_queue *)answer->queues;
    for (size_t i = 0; i < count; i++) {
        if (!differs(&before[i], &after[i]))
            continue;
        list = arena_grow(sides->arena, list, capacity, answer->queue_count + 1, sizeof(*list));
        list[answer->queue_count++] = (struct quota_queue){kind, (uint32_t)(i / start->node_pool_count),
                                                           (uint32_t)(i % start->node_pool_count), before[i], after[i]};
    }
    answer->queues = list;
}

static void find_queues(const struct sides *sides, struct quota_answer *answer)
{
    size_t capacity = 0;
    if (sides->with->start->settings.full_hierarchy_fairness)
        find_queues_of(sides, QUEUE_KIND_DEPARTMENT, &capacity, answer);
    find_queues_of(sides, QUEUE_KIND_PROJECT, &capacity, answer);
}

// GPUs that projects (of the department, or all) or departments are promised in a pool.
static int64_t promised(const struct snapshot *snapshot, enum queue_kind kind, uint32_t department, uint32_t pool)
{
    int64_t sum = 0;
    if (kind == QUEUE_KIND_DEPARTMENT) {
        for (size_t i = 0; i < snapshot->department_count; i++)
            sum = quantity_add(sum, snapshot->departments[i].queues[pool].deserved.of[RESOURCE_GPU]);
        return sum;
    }
    for (size_t i = 0; i < snapshot->project_count; i++)
        if (department == SNAPSHOT_NONE || snapshot->projects[i].department == department)
            sum = quantity_add(sum, snapshot->projects[i].queues[pool].deserved.of[RESOURCE_GPU]);
    return sum;
}

static int64_t available(const struct snapshot *snapshot, uint32_t department, uint32_t pool)
{
    int64_t gpus = 0;
    if (department != SNAPSHOT_NONE)
        return snapshot->departments[department].queues[pool].deserved.of[RESOURCE_GPU];
    for (size_t i = 0; i < snapshot->node_count; i++)
        gpus += snapshot->nodes[i].node_pool == pool ? snapshot->nodes[i].gpu_count : 0;
    return gpus * GPU_MILLI_PER_DEVICE;
}

static void note_excess(const struct sides *sides, enum queue_kind kind, uint32_t department, uint32_t pool,
                        size_t *capacity, struct quota_answer *answer)
{
    const struct snapshot *without = sides->without->start, *with = sides->with->start;
    int64_t before = promised(without, kind, department, pool), after = promised(with, kind, department, pool);
    int64_t had = available(without, department, pool), has = available(with, department, pool);
    if (after <= has || (after <= before && has >= had))
        return;
    struct quota_excess *list = arena_grow(sides->arena, (struct quota_excess *)answer->excesses, capacity,
                                           answer->excess_count + 1, sizeof(*list));
    list[answer->excess_count++] = (struct quota_excess){pool, department, kind, after, has};
    answer->excesses = list;
}

static void find_excesses(const struct sides *sides, struct quota_answer *answer)
{
    const struct snapshot *start = sides->with->start;
    size_t capacity = 0;
    for (uint32_t pool = 0; pool < start->node_pool_count; pool++) {
        for (uint32_t d = 0; start->settings.full_hierarchy_fairness && d < start->department_count; d++)
            note_excess(sides, QUEUE_KIND_PROJECT, d, pool, &capacity, answer);
        if (start->settings.full_hierarchy_fairness)
            note_excess(sides, QUEUE_KIND_DEPARTMENT, SNAPSHOT_NONE, pool, &capacity, answer);
        note_excess(sides, QUEUE_KIND_PROJECT, SNAPSHOT_NONE, pool, &capacity, answer);
    }
}

// In which order outcomes are told of who gains, and of who loses.
static const enum quota_outcome GAINS[QUOTA_OUTCOME_COUNT] = {QUOTA_STARTS, QUOTA_KEEPS, QUOTA_GIVES_WAY,
                                                              QUOTA_STAYS_PENDING, QUOTA_RESTARTS};
static const enum quota_outcome LOSSES[QUOTA_OUTCOME_COUNT] = {QUOTA_GIVES_WAY, QUOTA_STAYS_PENDING, QUOTA_RESTARTS,
                                                               QUOTA_STARTS, QUOTA_KEEPS};

// What a project gains over all pools, or loses.
struct change {
    uint32_t project;
    int64_t gpu_milli;
    uint32_t counts[QUOTA_OUTCOME_COUNT];
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    if (left->gpu_milli != right->gpu_milli)
        return left->gpu_milli < right->gpu_milli ? -1 : 1; // who loses most first
    return (left->project > right->project) - (left->project < right->project);
}

static struct change *sum_up(const struct sides *sides, struct quota_answer *answer)
{
    const struct snapshot *start = sides->with->start;
    struct change *changes = arena_array(sides->arena, start->project_count, sizeof(*changes));
    for (uint32_t i = 0; i < start->project_count; i++)
        changes[i].project = i;
    for (size_t i = 0; i < answer->queue_count; i++) {
        const struct quota_queue *queue = &answer->queues[i];
        if (queue->kind == QUEUE_KIND_PROJECT)
            changes[queue->queue].gpu_milli +=
                queue->after.allocated.of[RESOURCE_GPU] - queue->before.allocated.of[RESOURCE_GPU];
    }
    for (size_t i = 0; i < answer->workload_count; i++)
        changes[start->workloads[answer->workloads[i].workload].project].counts[answer->workloads[i].outcome]++;
    for (size_t i = 0; i < start->project_count; i++) {
        int64_t milli = changes[i].gpu_milli;
        answer->gained_milli += milli > 0 ? milli : 0;
        answer->lost_milli -= milli < 0 ? milli : 0;
        answer->gaining_count += milli > 0;
        answer->losing_count += milli < 0;
    }
    if (start->project_count > 1)
        qsort(changes, start->project_count, sizeof(*changes), compare_changes);
    return changes;
}

// "2 workloads give way", ...: what comes first of it in the order.
static const char *word_counts(const uint32_t *counts, const enum quota_outcome *order, struct arena *arena)
{
    static const char *const WORDS[QUOTA_OUTCOME_COUNT][2] = {{"starts", "start"},
                                                              {"keeps its place", "keep their places"},
                                                              {"gives way", "give way"},
                                                              {"stays pending", "stay pending"},
                                                              {"restarts", "restart"}};
    for (size_t i = 0; i < QUOTA_OUTCOME_COUNT; i++) {
        uint32_t count = counts[order[i]];
        if (count > 0)
            return arena_printf(arena, "%u %s %s", count, count == 1 ? "workload" : "workloads",
                                WORDS[order[i]][count != 1]);
    }
    return "";
}

static const char *word_change(const struct sides *sides, const struct change *change)
{
    struct arena *arena = sides->arena;
    const char *name = told_name(arena, TOLD_PROJECT, sides->with->start->projects[change->project].name);
    bool gains = change->gpu_milli > 0;
    const char *amount = wording_amount(arena, RESOURCE_GPU, gains ? change->gpu_milli : -change->gpu_milli);
    const char *counts = word_counts(change->counts, gains ? GAINS : LOSSES, arena);
    return arena_printf(arena, "%s %s %s%s%s", name, gains ? "gains" : "loses", amount, *counts ? ": " : "", counts);
}

static const char *word_others(const struct sides *sides, uint32_t count, const char *verb, int64_t milli)
{
    return arena_printf(sides->arena, "%u projects %s %s", count, verb,
                        wording_amount(sides->arena, RESOURCE_GPU, milli));
}

static const char *word(const struct sides *sides, const struct quota_answer *answer, const struct change *changes)
{
    struct arena *arena = sides->arena;
    const char *lost = "", *gained = "";
    if (answer->losing_count == 1)
        lost = word_change(sides, &changes[0]);
    else if (answer->losing_count > 1)
        lost = word_others(sides, answer->losing_count, "lose", answer->lost_milli);
    if (answer->gaining_count == 1)
        gained = word_change(sides, &changes[sides->with->start->project_count - 1]);
    else if (answer->gaining_count > 1)
        gained = word_others(sides, answer->gaining_count, "gain", answer->gained_milli);
    if (*lost || *gained)
        return arena_printf(arena, "%s%s%s", lost, *lost && *gained ? "; " : "", gained);
    const char *counts = word_counts(answer->counts, LOSSES, arena);
    return *counts ? arena_printf(arena, "No project gains or loses GPUs, but %s", counts)
                   : "No project gains or loses GPUs now, and no workload starts or stops";
}

void quota_answer_make(const struct quota_future *without, const struct quota_future *with, struct arena *arena,
                       struct quota_answer *out_answer)
{
    const struct sides sides = {without, with, arena};
    *out_answer = (struct quota_answer){
        .is_at_rest = without->is_at_rest && with->is_at_rest,
        .cycles = with->cycles,
        .good_until_ms = with->good_until_ms,
        .plan_count = without->cycles + with->cycles,
    };
    find_workloads(&sides, out_answer);
    find_queues(&sides, out_answer);
    find_excesses(&sides, out_answer);
    out_answer->sentence = word(&sides, out_answer, sum_up(&sides, out_answer));
}
