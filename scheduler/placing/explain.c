#include "scheduler/placing/explain.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "scheduler/placing/lack.h"
#include "scheduler/placing/placement.h"
#include "scheduler/state/domains.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/people.h"
#include "scheduler/state/unit.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>
#include <string.h>

struct plan_explanation explain_blank(const struct pool *pool, enum explanation_code code, const struct queue *queue,
                                      enum resource resource)
{
    struct plan_explanation explanation = {.code = code,
                                           .node_pool = pool->index,
                                           .queue = SNAPSHOT_NONE,
                                           .resource = resource,
                                           .sub_group = SNAPSHOT_NONE,
                                           .until_ms = SNAPSHOT_TIME_NONE,
                                           .room_ms = SNAPSHOT_TIME_NONE};
    if (queue) {
        explanation.queue_kind = queue->kind;
        explanation.queue = queue->index;
        explanation.deserved = queue->spec->deserved.of[resource];
        explanation.limit = queue->spec->limit.of[resource];
        explanation.fair_share = queue->fair_share.of[resource];
        explanation.allocated = queue->allocated.of[resource];
        explanation.allocated_non_preemptible = queue->allocated_non_preemptible.of[resource];
    }
    return explanation;
}

static void append(struct cycle *cycle, struct workload *workload, const struct plan_explanation *explanation)
{
    if (!workload->explanations)
        workload->explanations = arena_alloc(cycle->arena, sizeof(*workload->explanations));
    struct explanation_list *list = workload->explanations;
    if (list->count == list->capacity)
        list->items = arena_grow(cycle->arena, list->items, &list->capacity, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = *explanation;
}

void explain_add(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                 struct plan_explanation explanation)
{
    if (cycle->is_silent)
        return;
    for (size_t i = 0; workload->explanations && i < workload->explanations->count; i++) {
        struct plan_explanation *other = &workload->explanations->items[i];
        if (other->code == explanation.code && other->node_pool == pool->index) {
            *other = explanation;
            return;
        }
    }
    append(cycle, workload, &explanation);
}

static void forget(struct workload *workload, const struct pool *pool)
{
    struct explanation_list *list = workload->explanations;
    size_t left = 0;
    for (size_t i = 0; list && i < list->count; i++) {
        if (list->items[i].node_pool != pool->index)
            list->items[left++] = list->items[i];
    }
    if (list)
        list->count = left;
}

const char *explain_quota(struct arena *arena, const struct pool *pool, const struct queue *queue,
                          enum resource resource, int64_t requested)
{
    int64_t held = queue->allocated_non_preemptible.of[resource];
    const char *sum = wording_number(arena, resource, requested);
    if (held > 0)
        sum = arena_printf(arena, "%s + %s", wording_number(arena, resource, held), sum);
    return arena_printf(
        arena, "Non-preemptible work must fit the quota: %s deserves %s in node pool %s, and %s is more", queue->name,
        wording_amount(arena, resource, queue->spec->deserved.of[resource]), pool->spec->name, sum);
}

const char *explain_protection(struct arena *arena, const char *what, const char *pool, int64_t first_end_ms)
{
    char text[TIMESTAMP_SIZE];
    timestamp_format(first_end_ms, text);
    return arena_printf(arena, "Minimum run times protect %s in node pool %s; the first ends at %s", what, pool, text);
}

// Whether the bound is in the way of a person who has nothing yet.
static bool is_beyond_person(const struct person *person, const struct queue_refusal *refusal)
{
    return refusal->bound == QUEUE_BOUND_PERSON_WORKLOADS
               ? person->project->person_workload_limit == 0
               : refusal->requested > person->project->person_gpu_limit_milli;
}

// Whoever sees the workload sees who submitted it: the sentence names nobody, so that it can be shown to others.
static const char *explain_person(struct arena *arena, const struct person *person, const struct queue_refusal *refusal)
{
    uint32_t most = person->project->person_workload_limit;
    if (refusal->bound == QUEUE_BOUND_PERSON_WORKLOADS && most == 0)
        return arena_printf(arena, "No person of %s may have a workload running", refusal->queue->name);
    if (refusal->bound == QUEUE_BOUND_PERSON_WORKLOADS)
        return arena_printf(arena, "Its submitter has %u running of the %u workload%s that each person of %s may have",
                            person->workload_count, most, most == 1 ? "" : "s", refusal->queue->name);
    if (person->gpu_milli == 0)
        return arena_printf(arena, "Needs %s; each person of %s may hold %s",
                            wording_amount(arena, RESOURCE_GPU, refusal->requested), refusal->queue->name,
                            wording_number(arena, RESOURCE_GPU, person->project->person_gpu_limit_milli));
    return arena_printf(
        arena, "Needs %s; its submitter holds %s of the %s that each person of %s may hold",
        wording_amount(arena, RESOURCE_GPU, refusal->requested), wording_number(arena, RESOURCE_GPU, person->gpu_milli),
        wording_amount(arena, RESOURCE_GPU, person->project->person_gpu_limit_milli), refusal->queue->name);
}

static const char *explain_budget(struct arena *arena, const struct pool *pool, const struct snapshot_workload *spec,
                                  const struct queue *queue)
{
    char until[TIMESTAMP_SIZE] = "";
    if (spec->over_budget_until_ms > 0)
        timestamp_format(spec->over_budget_until_ms, until);
    return arena_printf(arena, "%s; what goes beyond the quota of %s of %s in node pool %s waits%s%s",
                        spec->over_budget, wording_amount(arena, RESOURCE_GPU, queue->spec->deserved.of[RESOURCE_GPU]),
                        queue->name, pool->spec->name, until[0] ? " until " : "", until);
}

static struct plan_explanation explain_queue(struct cycle *cycle, const struct pool *pool,
                                             const struct workload *workload, const struct queue_refusal *refusal)
{
    static const enum explanation_code CODES[] = {
        [QUEUE_BOUND_LIMIT] = EXPLANATION_OVER_LIMIT,
        [QUEUE_BOUND_QUOTA] = EXPLANATION_NON_PREEMPTIBLE_OVER_QUOTA,
        [QUEUE_BOUND_PERSON_GPUS] = EXPLANATION_OVER_PERSON_LIMIT,
        [QUEUE_BOUND_PERSON_WORKLOADS] = EXPLANATION_OVER_PERSON_LIMIT,
        [QUEUE_BOUND_BUDGET] = EXPLANATION_OVER_BUDGET,
    };
    struct arena *arena = cycle->arena;
    const struct queue *queue = refusal->queue;
    enum resource r = refusal->resource;
    struct plan_explanation explanation = explain_blank(pool, CODES[refusal->bound], queue, r);
    explanation.requested = refusal->requested;
    if (refusal->bound == QUEUE_BOUND_PERSON_GPUS || refusal->bound == QUEUE_BOUND_PERSON_WORKLOADS) {
        explanation.message = explain_person(arena, workload->person, refusal);
        explanation.can_never_start = is_beyond_person(workload->person, refusal);
    } else if (refusal->bound == QUEUE_BOUND_BUDGET) {
        explanation.message = explain_budget(arena, pool, workload->spec, queue);
        if (workload->spec->over_budget_until_ms > 0)
            explanation.until_ms = workload->spec->over_budget_until_ms;
    } else if (refusal->bound == QUEUE_BOUND_QUOTA)
        explanation.message = explain_quota(arena, pool, queue, r, refusal->requested);
    else if (explanation.allocated > 0)
        explanation.message = arena_printf(arena, "Needs %s; %s holds %s of its limit of %s in node pool %s",
                                           wording_amount(arena, r, refusal->requested), queue->name,
                                           wording_number(arena, r, explanation.allocated),
                                           wording_amount(arena, r, explanation.limit), pool->spec->name);
    else
        explanation.message = arena_printf(arena, "Needs %s; the limit of %s in node pool %s is %s",
                                           wording_amount(arena, r, refusal->requested), queue->name, pool->spec->name,
                                           wording_amount(arena, r, explanation.limit));
    return explanation;
}

// What it does not get, although its node pool is set up for it.
static void explain_topology_off(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_TOPOLOGY_OFF, NULL, RESOURCE_GPU);
    explanation.message = domains_pool_off(cycle, pool);
    if (explanation.message)
        append(cycle, workload, &explanation);
}

void explain_refused(struct cycle *cycle, struct pool *pool, struct workload *workload, const struct attempt *attempt)
{
    if (cycle->is_silent)
        return;
    forget(workload, pool);
    if (attempt->needed == 0)
        return;
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_TOPOLOGY, NULL, RESOURCE_GPU);
    if (attempt->refusal.queue)
        explanation = explain_queue(cycle, pool, workload, &attempt->refusal);
    else if (attempt->topology_problem)
        explanation.message = attempt->topology_problem;
    else if (attempt->failed && attempt->nodes)
        lack_explain(cycle, pool, workload, attempt, &explanation);
    else
        explanation.message = "No domain of the topology has room for all its pods";
    if (!attempt->refusal.queue) {
        struct amounts asked = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib);
        explanation.requested = asked.of[explanation.resource];
        explanation.may_fit_otherwise = attempt->tried_orders;
        for (enum resource r = 0; r < RESOURCE_COUNT; r++)
            explanation.may_fit_otherwise = explanation.may_fit_otherwise && asked.of[r] <= pool->total.of[r];
    }
    explanation.pods_placed = attempt->placed;
    explanation.pods_needed = attempt->needed;
    explanation.sub_group = workload->groups[attempt->group].sub_group;
    append(cycle, workload, &explanation);
    if (workload->spec->min_pods > 1 && workload->spec->topology.topology == SNAPSHOT_NONE && pool->spec->topology)
        explain_topology_off(cycle, pool, workload);
}

void explain_not_ready(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    if (cycle->is_silent)
        return;
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_NOT_READY, NULL, RESOURCE_GPU);
    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct group *group = &workload->groups[i];
        if (group->is_set || unit_group_is_ready(workload, group))
            continue;
        const char *name = group->sub_group == SNAPSHOT_NONE ? "" : workload->spec->sub_groups[group->sub_group].name;
        const struct pod_counts *counts = &group->counts;
        explanation.pods_needed = group->minimum;
        explanation.sub_group = group->sub_group;
        explanation.message = arena_printf(cycle->arena, "Waits for pods%s%s: %u needed", *name ? " of sub-group " : "",
                                           name, group->minimum);
        if (counts->held + counts->pending > 0)
            explanation.message =
                arena_printf(cycle->arena, "%s, %u there", explanation.message, counts->held + counts->pending);
        if (counts->gated > 0 && workload->spec->gate) {
            explanation.message = workload->spec->gate;
            explanation.can_never_start = workload->spec->gate_is_final;
            if (workload->spec->gate_until_ms > 0)
                explanation.until_ms = workload->spec->gate_until_ms;
        } else if (counts->gated > 0) {
            explanation.message = arena_printf(cycle->arena, "%s, %u gated", explanation.message, counts->gated);
        }
        break;
    }
    if (!explanation.message)
        explanation.message = "Waits for its pods";
    explain_add(cycle, pool, workload, explanation);
}

const char *explain_placement(const struct cycle *cycle, const struct pod *pod, bool promised, void *context)
{
    (void)context;
    const struct node *node = &cycle->nodes[pod->state.place.node];
    const char *request = lack_describe_request(cycle->arena, &pod->request);
    if (promised)
        return arena_printf(cycle->arena, "Promised %s on %s; waiting for the workload there to stop", request,
                            node->spec->name);
    if (!pod->request.needs_gpu)
        return arena_printf(cycle->arena, "Gets %s on %s", request, node->spec->name);
    return arena_printf(cycle->arena, "Gets %s on %s, which keeps %" PRId64 " of %" PRId64 " GPUs free", request,
                        node->spec->name, node->idle[DIMENSION_GPU], node->capacity[DIMENSION_GPU]);
}

struct statement_reasons explain_allocation(void)
{
    return (struct statement_reasons){.beneficiary = SNAPSHOT_NONE, .place = explain_placement};
}
