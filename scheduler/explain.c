#include "scheduler/explain.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "scheduler/journal.h"
#include "scheduler/node.h"
#include "scheduler/unit.h"

#include <string.h>

const char *explain_amount(struct arena *arena, enum resource resource, int64_t value)
{
    static const char *const NAMES[RESOURCE_COUNT] = {
        [RESOURCE_GPU] = "GPUs", [RESOURCE_CPU] = "cores", [RESOURCE_MEMORY] = "of memory"};
    if (value == QUANTITY_UNLIMITED)
        return arena_printf(arena, "unlimited %s", resource == RESOURCE_MEMORY ? "memory" : NAMES[resource]);
    char text[QUANTITY_TEXT_SIZE];
    if (resource == RESOURCE_MEMORY)
        quantity_format_memory(value, text);
    else
        quantity_format_milli(value, text);
    const bool one_gpu = resource == RESOURCE_GPU && value == GPU_MILLI_PER_DEVICE;
    return arena_printf(arena, "%s %s", text, one_gpu ? "GPU" : NAMES[resource]);
}

struct plan_explanation explain_blank(const struct pool *pool, enum explanation_code code, const struct queue *queue,
                                      enum resource resource)
{
    struct plan_explanation explanation = {.code = code,
                                           .node_pool = pool->index,
                                           .queue = SNAPSHOT_NONE,
                                           .resource = resource,
                                           .sub_group = SNAPSHOT_NONE,
                                           .until_ms = SNAPSHOT_TIME_NONE};
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
        workload->explanations = arena_alloc(cycle->arena, sizeof *workload->explanations);
    struct explanation_list *list = workload->explanations;
    if (list->count == list->capacity)
        list->items = arena_grow(cycle->arena, list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = *explanation;
}

void explain_add(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                 struct plan_explanation explanation)
{
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

static struct plan_explanation explain_queue(struct cycle *cycle, const struct pool *pool,
                                             const struct queue_refusal *refusal)
{
    struct arena *arena = cycle->arena;
    const struct queue *queue = refusal->queue;
    const enum resource r = refusal->resource;
    struct plan_explanation explanation = explain_blank(
        pool, refusal->is_quota ? EXPLANATION_NON_PREEMPTIBLE_OVER_QUOTA : EXPLANATION_OVER_LIMIT, queue, r);
    explanation.requested = refusal->requested;
    if (refusal->is_quota)
        explanation.message =
            arena_printf(arena,
                         "a non-preemptible workload stays within quota: %s %s deserves %s, its non-preemptible "
                         "workloads hold %s, and "
                         "%s more are asked for; a preemptible workload may go over quota",
                         queue_kind_name(queue->kind), queue->name, explain_amount(arena, r, explanation.deserved),
                         explain_amount(arena, r, explanation.allocated_non_preemptible),
                         explain_amount(arena, r, refusal->requested));
    else
        explanation.message =
            arena_printf(arena, "%s %s would go over its limit of %s: it holds %s, and %s more are asked for",
                         queue_kind_name(queue->kind), queue->name, explain_amount(arena, r, explanation.limit),
                         explain_amount(arena, r, explanation.allocated), explain_amount(arena, r, refusal->requested));
    return explanation;
}

void explain_nodes(struct cycle *cycle, const struct pool *pool, const struct pod *pod, struct attempt *attempt)
{
    struct nodes_memo *memo = &cycle->nodes_memo;
    const bool can_reuse = cycle->log->count == 0;
    if (can_reuse && memo->counts && memo->pool == pool && memo->decision_count == cycle->journal->count &&
        memo->rules == pod->spec->rules && pod->spec->extended_count == 0 &&
        memcmp(&memo->request, &pod->request, sizeof pod->request) == 0) {
        attempt->node_counts = memo->counts;
        return;
    }
    uint32_t *counts = arena_array(cycle->arena, NODE_REFUSAL_COUNT, sizeof *counts);
    for (size_t i = 0; i < pool->node_count; i++)
        counts[placement_refusal(cycle, pool, pod, pool->nodes[i])]++;
    attempt->node_counts = counts;
    if (can_reuse)
        *memo = (struct nodes_memo){.pool = pool,
                                    .decision_count = cycle->journal->count,
                                    .rules = pod->spec->rules,
                                    .request = pod->request,
                                    .counts = pod->spec->extended_count == 0 ? counts : NULL};
}

static enum explanation_code code_of(const uint32_t *counts)
{
    static const struct {
        enum node_refusal refusal;
        enum explanation_code code;
    } CODES[] = {{NODE_FEW_GPUS, EXPLANATION_NOT_ENOUGH_GPUS},    {NODE_FEW_EXTENDED, EXPLANATION_NOT_ENOUGH_EXTENDED},
                 {NODE_FEW_CPU, EXPLANATION_NOT_ENOUGH_CPU},      {NODE_LITTLE_MEMORY, EXPLANATION_NOT_ENOUGH_MEMORY},
                 {NODE_FEW_POD_SLOTS, EXPLANATION_TOO_MANY_PODS}, {NODE_OVER_QUOTA, EXPLANATION_OVER_LIMIT}};
    enum explanation_code code = EXPLANATION_NO_MATCHING_NODE;
    uint32_t most = 0;
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
        if (counts[CODES[i].refusal] > most) {
            most = counts[CODES[i].refusal];
            code = CODES[i].code;
        }
    }
    return code;
}

static const char *describe_request(struct arena *arena, const struct pod *pod)
{
    const struct request *request = &pod->request;
    char gpus[QUANTITY_TEXT_SIZE], cores[QUANTITY_TEXT_SIZE], memory[QUANTITY_TEXT_SIZE];
    quantity_format_milli(request->of[DIMENSION_CPU], cores);
    quantity_format_memory(request->of[DIMENSION_MEMORY], memory);
    const char *rest = arena_printf(arena, "%s cores and %s of memory", cores, memory);
    if (request->memory_mib > 0)
        return arena_printf(arena, "%lld MiB of each of %u GPUs, %s", (long long)request->memory_mib,
                            request->shared_devices, rest);
    if (request->is_mig)
        return arena_printf(arena, "MIG instances, %s", rest);
    const int64_t gpu_milli = request_gpu_milli(request, 0);
    if (gpu_milli == 0)
        return rest;
    quantity_format_milli(gpu_milli, gpus);
    return arena_printf(arena, "%s %s, %s", gpus, gpu_milli == GPU_MILLI_PER_DEVICE ? "GPU" : "GPUs", rest);
}

static void explain_no_node(struct cycle *cycle, const struct pool *pool, const struct attempt *attempt,
                            struct plan_explanation *explanation)
{
    struct arena *arena = cycle->arena;
    struct plan_node_reason *reasons = arena_array(arena, NODE_REFUSAL_COUNT, sizeof *reasons);
    const char *list = "";
    for (enum node_refusal r = NODE_ACCEPTS + 1; r < NODE_REFUSAL_COUNT; r++) {
        const uint32_t count = attempt->node_counts[r];
        if (count == 0)
            continue;
        list = arena_printf(arena, "%s%s%u %s %s", list, *list ? ", " : "", count,
                            count == 1 ? "node:" : "nodes:", node_refusal_text(r));
        reasons[explanation->node_reason_count++] = (struct plan_node_reason){node_refusal_text(r), count};
    }
    explanation->node_reasons = reasons;
    explanation->code = code_of(attempt->node_counts);
    if (pool->node_count == 0)
        list = "there are none";
    const char *request = describe_request(arena, attempt->failed);
    if (attempt->needed > 1)
        explanation->message = arena_printf(
            arena, "places found for %u of %u pods; %s needs %s, and no node of pool %s has room: %s", attempt->placed,
            attempt->needed, attempt->failed->spec->name, request, pool->spec->name, list);
    else
        explanation->message = arena_printf(arena, "%s needs %s, and no node of pool %s has room: %s",
                                            attempt->failed->spec->name, request, pool->spec->name, list);
}

void explain_refused(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                     const struct attempt *attempt)
{
    forget(workload, pool);
    if (attempt->needed == 0)
        return;
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_TOPOLOGY, NULL, RESOURCE_GPU);
    if (attempt->refusal.queue)
        explanation = explain_queue(cycle, pool, &attempt->refusal);
    else if (attempt->topology_problem)
        explanation.message = attempt->topology_problem;
    else if (attempt->failed && attempt->node_counts)
        explain_no_node(cycle, pool, attempt, &explanation);
    else
        explanation.message = "no domain of the topology has room for all its pods";
    explanation.pods_placed = attempt->placed;
    explanation.pods_needed = attempt->needed;
    explanation.sub_group = workload->groups[attempt->group].sub_group;
    if (!attempt->refusal.queue)
        explanation.requested = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib).of[explanation.resource];
    append(cycle, workload, &explanation);
}

void explain_not_ready(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_NOT_READY, NULL, RESOURCE_GPU);
    const struct pod_counts *counts = &workload->counts;
    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct group *group = &workload->groups[i];
        if (group->is_set || unit_group_is_ready(workload, group))
            continue;
        const char *name = group->sub_group == SNAPSHOT_NONE ? "" : workload->spec->sub_groups[group->sub_group].name;
        counts = &group->counts;
        explanation.pods_needed = group->minimum;
        explanation.sub_group = group->sub_group;
        explanation.message = arena_printf(
            cycle->arena, "%s%s%swaits for pods: %u are needed, %u exist, %u more are gated", *name ? "sub-group " : "",
            name, *name ? " " : "", group->minimum, counts->held + counts->pending, counts->gated);
        break;
    }
    if (!explanation.message)
        explanation.message = "waits for its pods";
    explain_add(cycle, pool, workload, explanation);
}

const char *explain_placement(const struct cycle *cycle, const struct pod *pod, bool promised, void *context)
{
    (void)context;
    const struct node *node = &cycle->nodes[pod->state.place.node];
    const struct workload *workload = &cycle->workloads[pod->workload];
    const char *request = describe_request(cycle->arena, pod);
    if (promised)
        return arena_printf(cycle->arena, "%s of %s needs %s; node %s has them once what is being released is gone",
                            pod->spec->name, workload->spec->name, request, node->spec->name);
    return arena_printf(cycle->arena, "%s of %s needs %s; node %s fits best and keeps %lld of %lld GPUs idle",
                        pod->spec->name, workload->spec->name, request, node->spec->name,
                        (long long)node->idle[DIMENSION_GPU], (long long)node->capacity[DIMENSION_GPU]);
}

struct statement_reasons explain_allocation(void)
{
    return (struct statement_reasons){.beneficiary = SNAPSHOT_NONE, .place = explain_placement};
}
