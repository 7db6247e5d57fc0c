#include "scheduler/placing/survey.h"

#include "base/arena.h"
#include "scheduler/placing/placement.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/node.h"
#include "scheduler/state/statement.h"

#include <string.h>

static int64_t amount_of(const struct node *node, enum dimension dimension, bool empty)
{
    return empty ? node->capacity[dimension] : node_free(node, dimension);
}

static int64_t extended_of(const struct node *node, uint32_t resource, bool empty)
{
    return empty ? node->extended_capacity[resource]
                 : node->extended_idle[resource] + node->extended_releasing[resource];
}

// The first extended resource that is short; SNAPSHOT_NONE: none.
static uint32_t short_extended(const struct node *node, const struct pod *pod, bool empty)
{
    for (size_t i = 0; i < pod->spec->extended_count; i++) {
        if (pod->spec->extended[i].count > extended_of(node, pod->spec->extended[i].resource, empty))
            return pod->spec->extended[i].resource;
    }
    return SNAPSHOT_NONE;
}

static bool lacks_devices(const struct node *node, const struct pod *pod, bool empty)
{
    const struct request *request = &pod->request;
    if (request->shared_devices == 0)
        return request->of[DIMENSION_GPU] > amount_of(node, DIMENSION_GPU, empty);
    if (empty)
        return request->shared_devices > node->capacity[DIMENSION_GPU] || request->memory_mib > node->gpu_memory_mib;
    return !node_fits_devices(node, request);
}

// The amounts that the node lacks for the pod, as bits of node_refusal.
static unsigned lacks(const struct node *node, const struct pod *pod, bool empty)
{
    const struct request *request = &pod->request;
    unsigned bits = lacks_devices(node, pod, empty) ? 1U << NODE_FEW_GPUS : 0;
    if (request->of[DIMENSION_CPU] > amount_of(node, DIMENSION_CPU, empty))
        bits |= 1U << NODE_FEW_CPU;
    if (request->of[DIMENSION_MEMORY] > amount_of(node, DIMENSION_MEMORY, empty))
        bits |= 1U << NODE_LITTLE_MEMORY;
    if (request->of[DIMENSION_PODS] > amount_of(node, DIMENSION_PODS, empty))
        bits |= 1U << NODE_FEW_POD_SLOTS;
    if (short_extended(node, pod, empty) != SNAPSHOT_NONE)
        bits |= 1U << NODE_FEW_EXTENDED;
    return bits;
}

static unsigned count_bits(unsigned bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

// Smaller is closer; missing are the amounts that it lacks when empty, else now.
static unsigned distance_of(const struct pod *pod, unsigned missing, bool when_empty)
{
    unsigned gpus = 1U << (pod->request.is_mig ? NODE_FEW_EXTENDED : NODE_FEW_GPUS);
    bool lacks_gpus = pod->request.needs_gpu && (missing & gpus);
    unsigned count = count_bits(missing);
    return (when_empty ? 64 * count : 0) + (lacks_gpus ? 32 : 0) + count;
}

static void note_closest(struct node_survey *survey, const struct node *node, const struct pod *pod, unsigned missing,
                         bool when_empty)
{
    for (unsigned bits = missing; bits; bits &= bits - 1)
        survey->closest[__builtin_ctz(bits)]++;
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        int64_t amount = amount_of(node, d, when_empty);
        survey->most[d] = amount > survey->most[d] ? amount : survey->most[d];
    }
    if (survey->extended == SNAPSHOT_NONE)
        survey->extended = short_extended(node, pod, when_empty);
    if (survey->extended != SNAPSHOT_NONE) {
        int64_t amount = extended_of(node, survey->extended, when_empty);
        survey->most_extended = amount > survey->most_extended ? amount : survey->most_extended;
    }
}

static void forget_closest(struct node_survey *survey)
{
    memset(survey->closest, 0, sizeof(survey->closest));
    memset(survey->most, 0, sizeof(survey->most));
    survey->extended = SNAPSHOT_NONE;
    survey->most_extended = 0;
}

// Whether a node that may take the pod refuses it for the amounts that it lacks and for nothing else.
static bool is_plain(const struct cycle *cycle, const struct pod *pod)
{
    const struct workload *workload = &cycle->workloads[pod->workload];
    return pod->request.shared_devices == 0 && pod->spec->extended_count == 0 && !workload->asks_memory &&
           workload->spec->pod_affinity == POD_AFFINITY_NONE;
}

// Whether each node would have enough if it were empty.
static bool fits_all(const struct pool *pool, const struct pod *pod)
{
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        if (pod->request.of[d] > pool->least[d])
            return false;
    }
    return pod->request.shared_devices == 0 && pod->spec->extended_count == 0;
}

// A node that takes new pods and may take this one. now, empty: what it lacks. Returns the smallest distance so far.
static unsigned compare(struct node_survey *survey, const struct node *node, const struct pod *pod,
                        enum node_refusal refusal, unsigned now, unsigned empty, unsigned smallest)
{
    unsigned missing = empty;
    bool when_empty = missing != 0;
    survey->is_beyond_nodes = survey->is_beyond_nodes && when_empty;
    if (refusal == NODE_POD_AFFINITY)
        return smallest;
    if (!when_empty)
        missing = refusal == NODE_OVER_QUOTA ? 1U << NODE_OVER_QUOTA : now;
    unsigned distance = distance_of(pod, missing, when_empty);
    if (distance < smallest)
        forget_closest(survey);
    if (distance <= smallest)
        note_closest(survey, node, pod, missing, when_empty);
    return distance < smallest ? distance : smallest;
}

static struct node_survey *survey(struct cycle *cycle, const struct pool *pool, const struct pod *pod)
{
    struct node_survey *survey = arena_alloc(cycle->arena, sizeof(*survey));
    const bool *accepts = rules_accepting_nodes(cycle, pod);
    bool plain = is_plain(cycle, pod), fits = fits_all(pool, pod);
    unsigned smallest = UINT32_MAX;
    survey->is_beyond_nodes = pool->node_count > 0;
    survey->extended = SNAPSHOT_NONE;
    for (size_t i = 0; i < pool->node_count; i++) {
        const struct node *node = pool->nodes[i];
        if (accepts[node->index]) {
            unsigned now = lacks(node, pod, false);
            enum node_refusal refusal = NODE_ACCEPTS;
            if (!plain)
                refusal = placement_lack(cycle, pool, pod, node);
            else if (now)
                refusal = (enum node_refusal)__builtin_ctz(now); // amounts are in the order of node_refusal
            survey->refusals[refusal]++;
            smallest = compare(survey, node, pod, refusal, now, fits ? 0 : lacks(node, pod, true), smallest);
            continue;
        }
        survey->refusals[rules_check(cycle, pod, node)]++;
        if (!node->is_open && rules_refusal(pod, node) == NODE_ACCEPTS && lacks(node, pod, true) == 0)
            survey->is_beyond_nodes = false;
    }
    return survey;
}

const struct node_survey *survey_nodes(struct cycle *cycle, const struct pool *pool, const struct pod *pod)
{
    struct nodes_memo *memo = &cycle->nodes_memo;
    bool can_reuse = cycle->log->count == 0;
    // Padding that differs costs a survey, no more.
    // NOLINTBEGIN(bugprone-suspicious-memory-comparison,cert-*)
    if (can_reuse && memo->survey && memo->pool == pool && memo->decision_count == cycle->journal->count &&
        memo->rules == pod->spec->rules && pod->spec->extended_count == 0 &&
        memcmp(&memo->request, &pod->request, sizeof(pod->request)) == 0)
        return memo->survey;
    // NOLINTEND(bugprone-suspicious-memory-comparison,cert-*)
    const struct node_survey *made = survey(cycle, pool, pod);
    if (can_reuse)
        *memo = (struct nodes_memo){.pool = pool,
                                    .decision_count = cycle->journal->count,
                                    .rules = pod->spec->rules,
                                    .request = pod->request,
                                    .survey = pod->spec->extended_count == 0 ? made : NULL};
    return made;
}
