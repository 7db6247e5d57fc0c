#include "scheduler/state/receipts.h"

#include "base/arena.h"

static struct plan_receipt_queue make_queue(const struct queue *queue)
{
    return (struct plan_receipt_queue){.deserved = queue->spec->deserved,
                                       .limit = queue->spec->limit,
                                       .fair_share = queue->fair_share,
                                       .allocated_before = queue->committed,
                                       .allocated_after = queue->allocated};
}

static struct plan_receipt_side make_side(const struct cycle *cycle, const struct pool *pool, uint32_t workload)
{
    struct plan_receipt_side side = {.project = SNAPSHOT_NONE, .department = SNAPSHOT_NONE};
    if (workload == SNAPSHOT_NONE)
        return side;
    const struct queue *queue = cycle_queue(pool, &cycle->workloads[workload]);
    side.project = queue->index;
    side.department = cycle->snapshot->projects[queue->index].department;
    side.project_queue = make_queue(queue);
    if (cycle->snapshot->settings.full_hierarchy_fairness)
        side.department_queue = make_queue(queue->parent);
    return side;
}

const struct plan_receipt *receipt_make(struct cycle *cycle, const struct pool *pool,
                                        const struct plan_decision *decision, enum eviction_rule rule)
{
    struct plan_receipt *receipt = arena_alloc(cycle->arena, sizeof(*receipt));
    receipt->rule = rule;
    receipt->victim = make_side(cycle, pool, decision->workload);
    receipt->beneficiary = make_side(cycle, pool, decision->beneficiary);
    return receipt;
}

void receipt_settle(struct queue *project)
{
    project->committed = project->allocated;
    project->parent->committed = project->parent->allocated;
}
