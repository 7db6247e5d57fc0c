#include "scheduler/placing/placement.h"

#include "base/arena.h"
#include "scheduler/placing/fragmentation.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/free_gpu_index.h"
#include "scheduler/state/labels.h"
#include "scheduler/state/node.h"
#include "scheduler/state/node_scores.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/shared_device.h"
#include "scheduler/state/statement.h"

#include <string.h>

// Scores in the order of 5.1; pack and spread stay below SCORE_UNIT.
static const int64_t SCORE_UNIT = INT64_C(1) << 41;
static const int64_t SCORE_RESOURCE_TYPE = 10;
static const int64_t SCORE_AVAILABILITY = 1000;
static const int64_t SCORE_GPU_SHARING = 10000;
static const int64_t SCORE_POD_AFFINITY = 2000000; // topology gives 1000000 at most
static const int64_t PACK_LIMIT = INT64_C(1) << 40;

struct candidate {
    struct node *node;
    struct node_fit fit;
    struct rating rating;
};

// The domain that the workload's other pods stand in, where it wants them together; NULL: none yet.
static const char *affinity_domain(const struct cycle *cycle, const struct workload *workload)
{
    if (workload->spec->pod_affinity == POD_AFFINITY_NONE || workload->counts.held == 0)
        return NULL;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (pod_status_is_held(pod->state.status))
            return node_label(cycle->nodes[pod->state.place.node].spec, workload->spec->pod_affinity_key);
    }
    return NULL;
}

const char *placement_affinity_value(const struct workload *workload, const struct node *node)
{
    return node_label(node->spec, workload->spec->pod_affinity_key);
}

static bool is_in_domain(const struct workload *workload, const struct node *node, const char *domain)
{
    const char *value = placement_affinity_value(workload, node);
    return value && (!domain || strcmp(value, domain) == 0);
}

// Whether the queue may have what the pod is worth on this node. The unit was checked as a whole; only where its pods
// ask for device memory, then measured by the largest device, may it be charged more.
static bool is_lawful_on(const struct pool *pool, const struct workload *workload, const struct pod *pod,
                         const struct node *node)
{
    if (!workload->asks_memory)
        return true;
    return !queue_check_capacity(pool, workload, request_amounts(&pod->request, node->gpu_memory_mib)).queue;
}

static void find_largest_free(const struct pool *pool, enum dimension dimension, int64_t *out_min, int64_t *out_max)
{
    *out_min = INT64_MAX;
    *out_max = 0;
    for (size_t i = 0; i < pool->node_count; i++) {
        if (pool->nodes[i]->capacity[dimension] == 0)
            continue;
        int64_t free = node_free(pool->nodes[i], dimension);
        *out_min = free < *out_min ? free : *out_min;
        *out_max = free > *out_max ? free : *out_max;
    }
}

// 5.3 as an order: 9 * (1 - (free - min) / (max - min)) falls with free, so the least free node leads. A node without
// the resource scores 0, like the one with most free.
static int64_t pack_score(const struct pool *pool, const struct node *node, enum dimension dimension)
{
    if (node->capacity[dimension] > 0)
        return PACK_LIMIT - node_free(node, dimension);
    int64_t min, max;
    find_largest_free(pool, dimension, &min, &max);
    return PACK_LIMIT - max - (min == max && max > 0);
}

static int64_t spread_score(const struct node *node, enum dimension dimension)
{
    if (node->capacity[dimension] == 0)
        return 0;
    int64_t free = node_free(node, dimension);
    return (int64_t)((__int128)free * PACK_LIMIT / node->capacity[dimension]);
}

static int64_t fragmentation_score(struct cycle *cycle, const struct pool *pool, const struct node *node,
                                   const struct pod *pod)
{
    static const int64_t MOST = INT64_C(1) << 39;
    int64_t growth = fragmentation_growth(cycle, pool, node, pod);
    return MOST - (growth < -MOST ? -MOST : growth > MOST ? MOST : growth);
}

static void score(struct cycle *cycle, const struct pool *pool, const struct pod *pod, struct candidate *candidate)
{
    const struct node *node = candidate->node;
    const struct request *request = &pod->request;
    int64_t units = candidate->fit.fits_now ? SCORE_AVAILABILITY : 0;
    if (candidate->fit.joins && pool->spec->gpu_placement == PLACEMENT_BINPACK)
        units += SCORE_GPU_SHARING;
    if (!request->needs_gpu && node->capacity[DIMENSION_GPU] == 0 && node->mig_gpu_milli == 0)
        units += SCORE_RESOURCE_TYPE;
    enum dimension dimension = request->needs_gpu ? DIMENSION_GPU : DIMENSION_CPU;
    enum placement_strategy strategy = request->needs_gpu ? pool->spec->gpu_placement : pool->spec->cpu_placement;
    int64_t fine = strategy == PLACEMENT_SPREAD ? spread_score(node, dimension) : pack_score(pool, node, dimension);
    candidate->rating.tie = 0;
    if (strategy == PLACEMENT_FRAGMENTATION) {
        candidate->rating.tie = fine;
        fine = fragmentation_score(cycle, pool, node, pod);
    }
    candidate->rating.score = units * SCORE_UNIT + fine;
}

static struct device_choice choose_devices(struct cycle *cycle, const struct pool *pool, struct node *node,
                                           const struct pod *pod, bool now)
{
    enum placement_strategy strategy = pool->spec->gpu_placement;
    if (now || strategy != PLACEMENT_FRAGMENTATION)
        return shared_device_choose(node, &pod->request, strategy, now, cycle->arena);
    uint32_t *devices = arena_array(cycle->arena, pod->request.shared_devices, sizeof(*devices));
    uint32_t joined = fragmentation_choose(cycle, pool, node, pod, devices);
    return shared_device_join(node, &pod->request, devices, joined, cycle->arena);
}

// The best node for whole devices by free_gpu_index.h: of those with room now, or else of those with room later.
static bool find_fullest(struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                         const struct node_set *set, bool now, struct candidate *out_best)
{
    const struct free_gpu_index *index = free_gpu_index_of(cycle, pool);
    const bool *accepts = rules_accepting_nodes(cycle, pod);
    uint32_t gpus = (uint32_t)pod->request.of[DIMENSION_GPU];
    for (uint32_t free = gpus; free <= index->most_gpus; free++) {
        for (size_t w = 0; w < index->words; w++) {
            uint64_t word =
                free_gpu_index_word(index, free, now ? gpus : 0, w) & (set->bits ? set->bits[w] : UINT64_MAX);
            for (; word; word &= word - 1) {
                struct node *node = pool->nodes[w * 64 + (size_t)__builtin_ctzll(word)];
                if (!accepts[node->index])
                    continue;
                struct node_fit fit = node_fit_pod(node, pod);
                if (!fit.fits || (now && !fit.fits_now))
                    continue;
                *out_best = (struct candidate){.node = node, .fit = fit};
                return true;
            }
        }
    }
    return false;
}

// Whether free_gpu_index.h finds what the scores would: whole devices, packed, nothing else to score by.
static bool has_rooms(struct cycle *cycle, const struct pool *pool, const struct pod *pod, const struct node_set *set)
{
    const struct request *request = &pod->request;
    const struct workload *workload = &cycle->workloads[pod->workload];
    return !cycle->is_plain && !workload->asks_memory && request->of[DIMENSION_GPU] > 0 &&
           request->of[DIMENSION_GPU] <= FREE_GPU_INDEX_MOST && !request->is_mig && !set->scores &&
           (set->bits || set->nodes == pool->node_indices) && workload->spec->pod_affinity == POD_AFFINITY_NONE &&
           free_gpu_index_of(cycle, pool);
}

static int64_t standing(struct cycle *cycle, const struct pool *pool, const struct pod *pod, struct node *node)
{
    struct candidate candidate = {.node = node, .fit = node_fit_pod(node, pod)};
    if (!candidate.fit.fits)
        return NODE_SCORES_NONE;
    score(cycle, pool, pod, &candidate);
    return candidate.rating.score;
}

// Whether a node's score depends on the node and the request alone.
static bool has_standings(const struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                          const struct node_set *set)
{
    const struct request *request = &pod->request;
    const struct workload *workload = &cycle->workloads[pod->workload];
    if (cycle->is_plain || workload->asks_memory || request->is_mig || pod->spec->extended_count > 0 || set->scores ||
        workload->spec->pod_affinity != POD_AFFINITY_NONE || !(set->bits || set->nodes == pool->node_indices))
        return false;
    enum placement_strategy strategy = request->needs_gpu ? pool->spec->gpu_placement : pool->spec->cpu_placement;
    return strategy == PLACEMENT_SPREAD ||
           (strategy == PLACEMENT_BINPACK && (request->needs_gpu || !pool->some_lack_cpu));
}

struct node_set placement_list(const struct pool *pool, const struct node_set *set, struct arena *arena)
{
    uint32_t *nodes = arena_array(arena, pool->node_count, sizeof(*nodes));
    struct node_set listed = {.nodes = nodes, .scores = set->scores, .bits = set->bits};
    for (size_t w = 0; w < (pool->node_count + 63) / 64; w++) {
        for (uint64_t word = set->bits[w]; word; word &= word - 1)
            nodes[listed.count++] = pool->node_indices[w * 64 + (size_t)__builtin_ctzll(word)];
    }
    return listed;
}

// The set's nodes one after the other; at begins with 0. NULL at the end.
static struct node *next_node(struct cycle *cycle, const struct pool *pool, const struct node_set *set, size_t *at)
{
    if (set->nodes)
        return *at < set->count ? &cycle->nodes[set->nodes[(*at)++]] : NULL;
    while (*at < pool->node_count) {
        uint64_t word = set->bits[*at / 64] >> *at % 64;
        if (word != 0) {
            *at += (size_t)__builtin_ctzll(word) + 1;
            return pool->nodes[*at - 1];
        }
        *at = (*at / 64 + 1) * 64;
    }
    return NULL;
}

// Whether the pod may and can stand on the node as things are, and how well; now: without waiting for shared devices.
static bool rate(struct cycle *cycle, const struct pool *pool, const struct pod *pod, const bool *accepts, bool now,
                 struct candidate *candidate)
{
    if (!accepts[candidate->node->index])
        return false;
    candidate->fit = node_fit_pod(candidate->node, pod);
    if (now) {
        candidate->fit.fits =
            candidate->fit.fits && candidate->fit.fits_now && shared_device_has_now(candidate->node, &pod->request);
        candidate->fit.joins = shared_device_count_fits(candidate->node, &pod->request, true) > 0;
    }
    if (!candidate->fit.fits || !is_lawful_on(pool, &cycle->workloads[pod->workload], pod, candidate->node))
        return false;
    score(cycle, pool, pod, candidate);
    return true;
}

bool placement_rate(struct cycle *cycle, const struct pool *pool, const struct pod *pod, struct node *node,
                    struct rating *out_rating)
{
    struct candidate candidate = {.node = node};
    bool fits = rate(cycle, pool, pod, rules_accepting_nodes(cycle, pod), false, &candidate);
    *out_rating = candidate.rating;
    return fits;
}

// The best of the set's nodes by 5.1, looked at one by one. False: none takes the pod.
static bool find_best(struct cycle *cycle, const struct pool *pool, const struct pod *pod, const struct node_set *set,
                      bool now, struct candidate *out_best)
{
    const struct workload *workload = &cycle->workloads[pod->workload];
    const bool *accepts = rules_accepting_nodes(cycle, pod);
    enum pod_affinity affinity = workload->spec->pod_affinity;
    const char *domain = affinity_domain(cycle, workload);
    size_t at = 0;
    *out_best = (struct candidate){0};
    for (struct node *node = next_node(cycle, pool, set, &at); node; node = next_node(cycle, pool, set, &at)) {
        struct candidate next = {.node = node};
        if (!rate(cycle, pool, pod, accepts, now, &next))
            continue;
        if (set->scores)
            next.rating.score += set->scores[next.node->index] * SCORE_UNIT;
        if (affinity != POD_AFFINITY_NONE) {
            bool together = is_in_domain(workload, next.node, domain);
            if (!together && affinity == POD_AFFINITY_REQUIRED)
                continue;
            next.rating.score += together && domain ? SCORE_POD_AFFINITY * SCORE_UNIT : 0;
        }
        if (!out_best->node || rating_compare(next.rating, out_best->rating) > 0)
            *out_best = next;
    }
    return out_best->node;
}

// A shared device is waited for, though another is free, for as long as a cycle: who waits for one since the cycle
// before gets what is free now (5.6).
static void place_shared(struct cycle *cycle, const struct pool *pool, struct pod *pod, const struct node_set *set,
                         const struct candidate *best, bool promise_only)
{
    struct device_choice choice = choose_devices(cycle, pool, best->node, pod, false);
    bool waits = choice.waits || !best->fit.fits_now;
    bool has_waited = cycle->workloads[pod->workload].spec->promise != SNAPSHOT_PROMISE_NONE;
    struct candidate other;
    if (waits && has_waited && !promise_only && find_best(cycle, pool, pod, set, true, &other)) {
        choice = choose_devices(cycle, pool, other.node, pod, true);
        waits = false;
    }
    statement_place(cycle, pod->index, &choice.place, waits || promise_only);
}

static void place_on(struct cycle *cycle, const struct pool *pool, struct pod *pod, const struct node_set *set,
                     const struct candidate *best, bool promise_only)
{
    struct place place = {.node = best->node->index};
    if (pod->request.shared_devices > 0)
        place_shared(cycle, pool, pod, set, best, promise_only);
    else
        statement_place(cycle, pod->index, &place, promise_only || !best->fit.fits_now);
}

bool placement_place(struct cycle *cycle, const struct pool *pool, struct pod *pod, const struct node_set *set,
                     bool promise_only)
{
    struct candidate best;
    struct node *first;
    if (has_rooms(cycle, pool, pod, set)) {
        if (!find_fullest(cycle, pool, pod, set, true, &best) && !find_fullest(cycle, pool, pod, set, false, &best))
            return false;
    } else if (has_standings(cycle, pool, pod, set) && node_scores_find(cycle, pool, pod, set, standing, &first)) {
        if (!first)
            return false;
        best = (struct candidate){.node = first, .fit = node_fit_pod(first, pod)};
    } else if (!find_best(cycle, pool, pod, set, false, &best)) {
        return false;
    }
    place_on(cycle, pool, pod, set, &best, promise_only);
    return true;
}

enum node_refusal placement_lack(struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                                 const struct node *node)
{
    static const enum node_refusal REFUSALS[DIMENSION_COUNT] = {[DIMENSION_CPU] = NODE_FEW_CPU,
                                                                [DIMENSION_MEMORY] = NODE_LITTLE_MEMORY,
                                                                [DIMENSION_GPU] = NODE_FEW_GPUS,
                                                                [DIMENSION_PODS] = NODE_FEW_POD_SLOTS};
    static const enum dimension ORDER[] = {DIMENSION_GPU, DIMENSION_CPU, DIMENSION_MEMORY, DIMENSION_PODS};
    const struct workload *workload = &cycle->workloads[pod->workload];
    for (size_t i = 0; i < DIMENSION_COUNT; i++) {
        if (pod->request.of[ORDER[i]] > node_free(node, ORDER[i]))
            return REFUSALS[ORDER[i]];
    }
    if (!node_fit_pod(node, pod).fits)
        return pod->request.shared_devices > 0 ? NODE_FEW_GPUS : NODE_FEW_EXTENDED;
    if (!is_lawful_on(pool, workload, pod, node))
        return NODE_OVER_QUOTA;
    if (workload->spec->pod_affinity == POD_AFFINITY_REQUIRED &&
        !is_in_domain(workload, node, affinity_domain(cycle, workload)))
        return NODE_POD_AFFINITY;
    return NODE_ACCEPTS;
}

bool placement_place_at(struct cycle *cycle, const struct pool *pool, struct pod *pod)
{
    struct candidate promised = {.node = &cycle->nodes[pod->spec->node]};
    if (promised.node->spec->node_pool != pool->index || rules_check(cycle, pod, promised.node) != NODE_ACCEPTS ||
        placement_lack(cycle, pool, pod, promised.node) != NODE_ACCEPTS)
        return false;
    promised.fit = node_fit_pod(promised.node, pod);
    if (pod->request.shared_devices == 0 || pod->spec->gpu_group_count != pod->request.shared_devices) {
        struct node_set only = {.nodes = &promised.node->index, .count = 1};
        place_on(cycle, pool, pod, &only, &promised, false);
        return true;
    }
    struct device_choice choice;
    if (!shared_device_choose_named(promised.node, pod, cycle->arena, &choice))
        return false;
    statement_place(cycle, pod->index, &choice.place, choice.waits || !promised.fit.fits_now);
    return true;
}
