#include "scheduler/actions/promises.h"

#include "base/arena.h"
#include "scheduler/order/queue_log.h"
#include "scheduler/placing/attempt.h"
#include "scheduler/placing/explain.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/domains.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"

#include <stdlib.h>

static bool has_promised_place(const struct pod *pod)
{
    return pod->spec->status == SNAPSHOT_POD_PIPELINED && pod->spec->node != SNAPSHOT_NONE;
}

// Places the next unit where it was promised to stand. False: it does not fit there any more, or a pod of it has no
// such place; nothing is changed.
static bool place_as_promised(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    unit_find(cycle, workload);
    struct amounts amounts = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib);
    if (workload->unit_count == 0 || queue_check_capacity(pool, workload, amounts).queue)
        return false;
    size_t checkpoint = statement_checkpoint(cycle);
    bool fits = true;
    for (uint32_t i = 0; i < workload->unit_count && fits; i++) {
        struct pod *pod = &cycle->pods[workload->unit[i]];
        fits = has_promised_place(pod) && placement_place_at(cycle, pool, pod);
    }
    if (fits && domains_hold_unit(cycle, workload))
        return true;
    statement_roll_back(cycle, checkpoint);
    unit_find(cycle, workload);
    return false;
}

// How promises are kept.
enum manner {
    MANNER_ORDINARY, // by the ordinary rules
    MANNER_IN_PLACE  // at the promised places; by the ordinary rules only who does not fit there any more
};

static bool place_unit(struct cycle *cycle, struct pool *pool, struct workload *workload, enum manner manner)
{
    struct node_set set = pool_nodes(pool);
    return (manner == MANNER_IN_PLACE && place_as_promised(cycle, pool, workload)) ||
           attempt_workload(cycle, pool, workload, &set, false, NULL);
}

// is_trial: in the open statement, without committing it.
static bool keep_unit(struct cycle *cycle, struct pool *pool, struct workload *workload, enum manner manner,
                      bool is_trial)
{
    if (!place_unit(cycle, pool, workload, manner))
        return false;
    if (is_trial)
        attempt_settle(cycle, workload);
    else
        attempt_commit(cycle, pool, workload);
    return true;
}

static bool has_promised_pod(const struct cycle *cycle, const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod->state.status == SNAPSHOT_POD_PENDING && pod->spec->status == SNAPSHOT_POD_PIPELINED)
            return true;
    }
    return false;
}

// In its pools in order of preference; where it holds something already, only there. As many units as were promised.
// False where something that was promised is left without a place.
static bool keep(struct cycle *cycle, struct workload *workload, enum manner manner, bool is_trial)
{
    for (size_t i = 0; i < workload->spec->node_pool_count; i++) {
        struct pool *pool = &cycle->pools[workload->spec->node_pools[i]];
        if ((workload->home != SNAPSHOT_NONE && workload->home != pool->index) || !unit_is_candidate(workload))
            continue;
        if (cycle->queue_log && !is_trial)
            queue_log_note(cycle->queue_log, cycle, pool, NULL, workload);
        if (!keep_unit(cycle, pool, workload, manner, is_trial))
            continue;
        while (has_promised_pod(cycle, workload)) {
            if (!keep_unit(cycle, pool, workload, manner, is_trial))
                return false;
        }
        return true;
    }
    return !unit_is_candidate(workload);
}

// Whether they leave nobody without a place who was promised one.
static bool ordinary_rules_suffice(struct cycle *cycle, struct workload *const *promised, size_t count)
{
    bool suffice = true;
    size_t checkpoint = statement_checkpoint(cycle);
    for (size_t i = 0; i < count && suffice; i++)
        suffice = keep(cycle, promised[i], MANNER_ORDINARY, true);
    statement_roll_back(cycle, checkpoint);
    return suffice;
}

static int compare_promises(const void *a, const void *b)
{
    const struct workload *const *one = a, *const *other = b;
    uint32_t left = (*one)->spec->promise, right = (*other)->spec->promise;
    return left != right ? (left > right) - (left < right)
                         : ((*one)->index > (*other)->index) - ((*one)->index < (*other)->index);
}

void promises_keep(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    struct workload **promised = arena_array(cycle->scratch, snapshot->workload_count, sizeof(*promised));
    size_t count = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        if (snapshot->workloads[i].promise != SNAPSHOT_PROMISE_NONE)
            promised[count++] = &cycle->workloads[i];
    }
    qsort(promised, count, sizeof(*promised), compare_promises);
    cycle->action = ACTION_ALLOCATE;
    enum manner manner = ordinary_rules_suffice(cycle, promised, count) ? MANNER_ORDINARY : MANNER_IN_PLACE;
    for (size_t i = 0; i < count; i++)
        keep(cycle, promised[i], manner, false);
}
