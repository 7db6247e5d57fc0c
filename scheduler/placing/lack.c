#include "scheduler/placing/lack.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "model/told.h"
#include "scheduler/placing/affinity.h"
#include "scheduler/placing/survey.h"
#include "scheduler/placing/vacancy.h"
#include "scheduler/state/node.h"
#include "scheduler/state/rules.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>

const char *lack_describe_request(struct arena *arena, const struct request *request)
{
    if (request->shared_devices > 0) {
        const char *of =
            request->shared_devices == 1 ? "a GPU" : arena_printf(arena, "each of %u GPUs", request->shared_devices);
        if (request->memory_mib > 0)
            return arena_printf(arena, "%" PRId64 " MiB of %s", request->memory_mib, of);
        return arena_printf(arena, "%s of %s", wording_number(arena, RESOURCE_GPU, request->portion_milli), of);
    }
    if (request->of[DIMENSION_GPU] > 0)
        return wording_amount(arena, RESOURCE_GPU, request->of[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE);
    if (request->is_mig)
        return "MIG instances";
    if (request->of[DIMENSION_CPU] > 0)
        return wording_amount(arena, RESOURCE_CPU, request->of[DIMENSION_CPU]);
    return request->of[DIMENSION_MEMORY] > 0 ? wording_amount(arena, RESOURCE_MEMORY, request->of[DIMENSION_MEMORY])
                                             : "a place";
}

struct shortage {
    enum node_refusal refusal;
    enum explanation_code code;
};

// What most of the closest nodes lack is what is short; of equal ones the first here.
static const struct shortage SHORTAGES[] = {
    {NODE_FEW_GPUS, EXPLANATION_NOT_ENOUGH_GPUS},    {NODE_FEW_EXTENDED, EXPLANATION_NOT_ENOUGH_EXTENDED},
    {NODE_FEW_CPU, EXPLANATION_NOT_ENOUGH_CPU},      {NODE_LITTLE_MEMORY, EXPLANATION_NOT_ENOUGH_MEMORY},
    {NODE_FEW_POD_SLOTS, EXPLANATION_TOO_MANY_PODS}, {NODE_OVER_QUOTA, EXPLANATION_OVER_LIMIT}};

static enum explanation_code code_of(const uint32_t *counts)
{
    enum explanation_code code = EXPLANATION_NO_MATCHING_NODE;
    uint32_t most = 0;
    for (size_t i = 0; i < sizeof(SHORTAGES) / sizeof(SHORTAGES[0]); i++) {
        if (counts[SHORTAGES[i].refusal] > most) {
            most = counts[SHORTAGES[i].refusal];
            code = SHORTAGES[i].code;
        }
    }
    return code;
}

static int64_t needed_devices_milli(const struct request *request)
{
    return (request->shared_devices > 0 ? request->shared_devices : request->of[DIMENSION_GPU]) * GPU_MILLI_PER_DEVICE;
}

static const char *is_or_are(int64_t milli)
{
    return milli == 1000 ? "is" : "are";
}

// Behind "the largest of POOL".
static const char *which_nodes(const struct node_survey *nodes)
{
    for (enum node_refusal r = NODE_MIG_STRATEGY; r <= NODE_TAINT; r++) {
        if (nodes->refusals[r] > 0)
            return " that may take it";
    }
    return "";
}

// Where whole hundreds of MiB (5.5) are what a request for memory lacks: fewer such fit on a GPU than it has room for.
static const char *lost_memory(struct arena *arena, const struct pool *pool, const struct request *request)
{
    for (size_t i = 0; request->memory_mib > 0 && i < pool->node_count; i++) {
        const struct node *node = pool->nodes[i];
        int64_t has_mib = node->spec->gpu_memory_mib, counts_mib = node->gpu_memory_mib;
        if (node->is_open && node->capacity[DIMENSION_GPU] > 0 &&
            has_mib / request->memory_mib > counts_mib / request->memory_mib)
            return arena_printf(arena, "; a GPU of %" PRId64 " MiB counts as %" PRId64, has_mib, counts_mib);
    }
    return "";
}

static const char *lack_of_device_size(struct cycle *cycle, const struct pool *pool, const struct request *request,
                                       const struct node_survey *nodes)
{
    struct arena *arena = cycle->arena;
    const char *needs = lack_describe_request(arena, request);
    if (needed_devices_milli(request) > pool->largest_gpus * GPU_MILLI_PER_DEVICE)
        return arena_printf(arena, "Needs %s on one node; the largest of %s has %s", needs, pool->spec->name,
                            wording_number(arena, RESOURCE_GPU, pool->largest_gpus * GPU_MILLI_PER_DEVICE));
    if (needed_devices_milli(request) > nodes->most[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE)
        return arena_printf(arena, "Needs %s on one node; the largest of %s%s has %s", needs, pool->spec->name,
                            which_nodes(nodes),
                            wording_number(arena, RESOURCE_GPU, nodes->most[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE));
    return arena_printf(arena, "Needs %s; no GPU of %s has so much memory%s", needs, pool->spec->name,
                        lost_memory(arena, pool, request));
}

static const char *lack_of_gpus(struct cycle *cycle, const struct pool *pool, const struct request *request,
                                const struct node_survey *nodes)
{
    struct arena *arena = cycle->arena;
    struct vacancy_room room = vacancy_of(cycle, pool, request->shared_devices > 0);
    const char *needs = lack_describe_request(arena, request);
    if (room.total == 0)
        return arena_printf(arena, "Needs %s; node pool %s has no GPUs that can be used", needs, pool->spec->name);
    if (nodes->is_beyond_nodes)
        return lack_of_device_size(cycle, pool, request, nodes);
    int64_t needed = request_gpu_milli(request, pool->largest_gpu_memory_mib);
    if (room.free >= needed && needed > GPU_MILLI_PER_DEVICE && request->shared_devices == 0)
        return arena_printf(arena, "Needs %s on one node in %s; %s %s free, at most %s on one node", needs,
                            pool->spec->name, wording_number(arena, RESOURCE_GPU, room.free), is_or_are(room.free),
                            wording_number(arena, RESOURCE_GPU, room.most));
    return arena_printf(arena, "Needs %s in %s; %s of its %s %s free%s", needs, pool->spec->name,
                        wording_number(arena, RESOURCE_GPU, room.free), wording_amount(arena, RESOURCE_GPU, room.total),
                        is_or_are(room.free), lost_memory(arena, pool, request));
}

static const char *lack_of(struct cycle *cycle, const struct pool *pool, const struct request *request,
                           const struct node_survey *nodes, enum dimension dimension, enum resource resource)
{
    struct arena *arena = cycle->arena;
    int64_t most = nodes->most[dimension];
    const char *are = resource == RESOURCE_MEMORY ? "is" : is_or_are(most);
    const char *needs = wording_amount(arena, resource, request->of[dimension]);
    if (request->needs_gpu)
        needs = arena_printf(arena, "%s and %s", lack_describe_request(arena, request), needs);
    if (nodes->is_beyond_nodes)
        return arena_printf(arena, "Needs %s on one node; the largest of %s%s has %s", needs, pool->spec->name,
                            request->needs_gpu ? " with so many GPUs" : which_nodes(nodes),
                            wording_amount(arena, resource, most));
    if (request->needs_gpu)
        return arena_printf(arena, "Needs %s on one node in %s; where the GPUs are free, at most %s %s", needs,
                            pool->spec->name, wording_amount(arena, resource, most), are);
    return arena_printf(arena, "Needs %s on one node in %s; at most %s %s free on one", needs, pool->spec->name,
                        wording_number(arena, resource, most), are);
}

static const char *lack_of_extended(struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                                    const struct node_survey *nodes)
{
    struct arena *arena = cycle->arena;
    const char *name = cycle->snapshot->extended_resources[nodes->extended].name;
    int64_t count = 0;
    for (size_t i = 0; i < pod->spec->extended_count; i++) {
        if (pod->spec->extended[i].resource == nodes->extended)
            count = pod->spec->extended[i].count;
    }
    if (!nodes->is_beyond_nodes)
        return arena_printf(arena, "Needs %" PRId64 " %s on one node in %s; at most %" PRId64 " %s free on one", count,
                            name, pool->spec->name, nodes->most_extended, is_or_are(nodes->most_extended * 1000));
    if (nodes->most_extended == 0)
        return arena_printf(arena, "Needs %" PRId64 " %s; no node of %s%s has any", count, name, pool->spec->name,
                            which_nodes(nodes));
    return arena_printf(arena, "Needs %" PRId64 " %s on one node; the largest of %s%s has %" PRId64, count, name,
                        pool->spec->name, which_nodes(nodes), nodes->most_extended);
}

static const char *list_reasons(struct arena *arena, const struct plan_explanation *explanation)
{
    const char *list = "";
    for (size_t i = 0; i < explanation->node_reason_count; i++)
        list = arena_printf(arena, "%s%s%u %s", list, *list ? ", " : "", explanation->node_reasons[i].node_count,
                            explanation->node_reasons[i].reason);
    return list;
}

static const char *lack_of_nodes(struct cycle *cycle, const struct pool *pool,
                                 const struct plan_explanation *explanation)
{
    if (pool->node_count == 0)
        return arena_printf(cycle->arena, "Node pool %s has no nodes", pool->spec->name);
    return arena_printf(cycle->arena, "None of %zu %s in %s may take it: %s", pool->node_count,
                        pool->node_count == 1 ? "node" : "nodes", pool->spec->name,
                        list_reasons(cycle->arena, explanation));
}

static const char *lack_of_one(struct cycle *cycle, const struct pool *pool, const struct attempt *attempt,
                               const struct plan_explanation *explanation)
{
    const struct request *request = &attempt->failed->request;
    const struct node_survey *nodes = attempt->nodes;
    switch (explanation->code) {
    case EXPLANATION_NOT_ENOUGH_GPUS:
        return lack_of_gpus(cycle, pool, request, nodes);
    case EXPLANATION_NOT_ENOUGH_CPU:
        return lack_of(cycle, pool, request, nodes, DIMENSION_CPU, RESOURCE_CPU);
    case EXPLANATION_NOT_ENOUGH_MEMORY:
        return lack_of(cycle, pool, request, nodes, DIMENSION_MEMORY, RESOURCE_MEMORY);
    case EXPLANATION_NOT_ENOUGH_EXTENDED:
        return lack_of_extended(cycle, pool, attempt->failed, nodes);
    case EXPLANATION_TOO_MANY_PODS:
        return arena_printf(cycle->arena, "Needs a pod slot in %s; its nodes have as many pods as they take",
                            pool->spec->name);
    default:
        return lack_of_nodes(cycle, pool, explanation);
    }
}

static bool is_alike(const struct cycle *cycle, const struct workload *workload)
{
    const struct request *first = &cycle->pods[workload->unit[0]].request;
    for (uint32_t i = 1; i < workload->unit_count; i++) {
        const struct request *other = &cycle->pods[workload->unit[i]].request;
        if (other->of[DIMENSION_GPU] != first->of[DIMENSION_GPU] || other->portion_milli != first->portion_milli ||
            other->memory_mib != first->memory_mib || other->of[DIMENSION_CPU] != first->of[DIMENSION_CPU])
            return false;
    }
    return true;
}

static const char *lack_of_gang(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                const struct attempt *attempt, const struct plan_explanation *explanation)
{
    struct arena *arena = cycle->arena;
    const char *request = lack_describe_request(arena, &attempt->failed->request);
    if (explanation->code == EXPLANATION_NOT_ENOUGH_CPU)
        request = wording_amount(arena, RESOURCE_CPU, attempt->failed->request.of[DIMENSION_CPU]);
    else if (explanation->code == EXPLANATION_NOT_ENOUGH_MEMORY)
        request = wording_amount(arena, RESOURCE_MEMORY, attempt->failed->request.of[DIMENSION_MEMORY]);
    const char *found = attempt->placed == 0 ? "none" : arena_printf(arena, "%u", attempt->placed);
    if (explanation->code == EXPLANATION_NO_MATCHING_NODE)
        return arena_printf(arena, "Needs %u pods in %s; %s found a place, then none of %zu nodes takes the next: %s",
                            attempt->needed, pool->spec->name, found, pool->node_count,
                            list_reasons(arena, explanation));
    if (affinity_is_open(workload))
        return arena_printf(
            arena, "Needs %u pods in %s on nodes of one %s; at most %u found a place together, and the next needs %s",
            attempt->needed, pool->spec->name, workload->spec->pod_affinity_key, attempt->placed, request);
    if (is_alike(cycle, workload))
        return arena_printf(arena, "Needs %u pods of %s in %s; %s found a place", attempt->needed, request,
                            pool->spec->name, found);
    return arena_printf(arena, "Needs %u pods in %s%s; %s found a place, and the next needs %s", attempt->needed,
                        pool->spec->name, attempt->tried_orders ? ", tried in their order and largest first" : "",
                        found, request);
}

static const char *list_node_types(struct arena *arena, const struct snapshot_placement_rules *rules)
{
    const char *list = rules->node_types[0];
    for (size_t i = 1; i < rules->node_type_count; i++)
        list =
            arena_printf(arena, "%s%s%s", list, i + 1 == rules->node_type_count ? " or " : ", ", rules->node_types[i]);
    return list;
}

// What is free on the nodes that the pod may use, where its project's list of node types leaves some out.
static const char *describe_free(struct cycle *cycle, const struct pool *pool, const struct pod *pod)
{
    const bool *accepts = rules_accepting_nodes(cycle, pod);
    int64_t free = 0, total = 0;
    for (size_t i = 0; i < pool->node_count; i++) {
        const struct node *node = pool->nodes[i];
        if (!node->is_open || !accepts[node->index])
            continue;
        int64_t here = pod->request.shared_devices > 0 ? node_free_gpu_milli(cycle->snapshot, node)
                                                       : node_free(node, DIMENSION_GPU) * GPU_MILLI_PER_DEVICE;
        free += here > 0 ? here : 0;
        total += node->capacity[DIMENSION_GPU] * GPU_MILLI_PER_DEVICE;
    }
    return arena_printf(cycle->arena, ", with %s of %s free", wording_number(cycle->arena, RESOURCE_GPU, free),
                        wording_amount(cycle->arena, RESOURCE_GPU, total));
}

// What the project's list of node types has to do with it, in front of what else is lacking.
static const char *say_node_types(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                  const struct attempt *attempt, const struct plan_explanation *explanation)
{
    size_t others = attempt->nodes->refusals[NODE_TYPE];
    if (others == 0)
        return explanation->message;
    return arena_printf(
        cycle->arena, "%s lets work of this kind use nodes of type %s, %zu of %zu in node pool %s%s. %s",
        told_name(cycle->arena, TOLD_PROJECT, cycle->snapshot->projects[workload->spec->project].name),
        list_node_types(cycle->arena, attempt->failed->spec->rules), pool->node_count - others, pool->node_count,
        pool->spec->name,
        explanation->code == EXPLANATION_NOT_ENOUGH_GPUS ? describe_free(cycle, pool, attempt->failed) : "",
        explanation->message);
}

// Behind the sentence about a gang: what is free where. That about one pod says so itself.
static const char *add_room(struct arena *arena, const char *sentence, const struct plan_explanation *explanation,
                            bool with_parts)
{
    if (explanation->free_milli == 0)
        return arena_printf(arena, "%s: no GPU is free", sentence);
    const char *free = wording_amount(arena, RESOURCE_GPU, explanation->free_milli);
    const char *are = is_or_are(explanation->free_milli);
    if (explanation->free_nodes == 1)
        return arena_printf(arena, "%s: %s %s free, on one node", sentence, free, are);
    if (with_parts)
        return arena_printf(arena, "%s: %s %s free on %u nodes", sentence, free, are, explanation->free_nodes);
    return arena_printf(arena, "%s: %s %s free on %u nodes, at most %s in one piece", sentence, free, are,
                        explanation->free_nodes, wording_number(arena, RESOURCE_GPU, explanation->most_milli));
}

// What is free, and when what runs leaves room by its time limits alone.
static void explain_room(struct cycle *cycle, const struct pool *pool, const struct attempt *attempt,
                         struct plan_explanation *explanation)
{
    bool with_parts = attempt->failed->request.shared_devices > 0;
    struct vacancy_room room = vacancy_of(cycle, pool, with_parts);
    char text[TIMESTAMP_SIZE];
    explanation->has_room = true;
    explanation->free_milli = room.free;
    explanation->most_milli = room.most;
    explanation->free_nodes = room.node_count;
    if (explanation->can_never_start)
        return;
    if (attempt->needed > 1)
        explanation->message = add_room(cycle->arena, explanation->message, explanation, with_parts);
    explanation->room_ms = vacancy_starts_ms(cycle, pool, attempt->failed, attempt->needed);
    if (explanation->room_ms == SNAPSHOT_TIME_NONE)
        return;
    timestamp_format(explanation->room_ms, text);
    explanation->message =
        arena_printf(cycle->arena, "%s; time limits free enough GPUs by %s", explanation->message, text);
}

void lack_explain(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                  const struct attempt *attempt, struct plan_explanation *explanation)
{
    struct plan_node_reason *reasons = arena_array(cycle->arena, NODE_REFUSAL_COUNT, sizeof(*reasons));
    for (enum node_refusal r = NODE_ACCEPTS + 1; r < NODE_REFUSAL_COUNT; r++) {
        if (attempt->nodes->refusals[r] > 0)
            reasons[explanation->node_reason_count++] =
                (struct plan_node_reason){node_refusal_text(r), attempt->nodes->refusals[r]};
    }
    explanation->node_reasons = reasons;
    explanation->code = code_of(attempt->nodes->closest);
    explanation->can_never_start = attempt->nodes->is_beyond_nodes;
    bool is_too_large = explanation->can_never_start && explanation->code != EXPLANATION_NO_MATCHING_NODE;
    if (attempt->needed > 1 && !is_too_large)
        explanation->message = lack_of_gang(cycle, pool, workload, attempt, explanation);
    else
        explanation->message = lack_of_one(cycle, pool, attempt, explanation);
    explanation->message = say_node_types(cycle, pool, workload, attempt, explanation);
    if (explanation->code == EXPLANATION_NOT_ENOUGH_GPUS)
        explain_room(cycle, pool, attempt, explanation);
}
