// From a constraint to sets of nodes, by an example: four pods of 1 GPU, required rack, preferred host.
//
//              zone z                    free GPUs      pods that fit
//        rack r0        rack r1          r0 3, r1 5     r0 3, r1 5
//      h0 1   h1 2     h2 1   h3 4       h3 4           h3 4
//
// 1. find_demand: what the unit's pods below the constraint ask for, in all and of the smallest pod.
// 2. estimate_domains: each domain's free amounts, summed over the nodes of the set that is given; `top` is the lowest
//    domain that holds the whole set (z).
// 3. list_sets goes from the preferred level up to the required one. At the level of hosts only h3 may fit; then r1,
//    fullest first; r0 has too little. The sets are {h3}, {h2, h3}; attempt.c tries them in this order.
// 4. Scores: the freer a host, the higher, so that a gang that has to span takes few of them.
//
// May fit is an estimate: where all pods ask for the same kinds it counts the smallest node by node; where their
// amounts are not the same it compares sums, and the attempt has the last word. A workload that stands already is bound
// to its rack (mark_occupied).
#include "scheduler/placing/topology.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/domains.h"
#include "scheduler/state/node.h"
#include "scheduler/state/unit.h"

#include <stdlib.h>
#include <string.h>

// Amounts of a domain or of pods: CPU, memory, GPUs in thousandths, pods, then extended resources.
struct vector {
    int64_t of[DIMENSION_COUNT];
    int64_t *extended;
};

struct estimate { // of a domain
    bool is_in_set;
    struct vector free;
    int64_t pod_count;  // how many of the smallest pods its nodes take
    bool may_be_chosen; // in a required domain where the workload stands already, where that matters
    uint32_t order;     // in the sorted tree
};

struct demand {
    uint32_t pod_count;
    struct vector sum;
    struct vector smallest; // by resource
    bool is_homogeneous;    // each resource is asked for by all or by none
    bool is_alike;          // all ask for the same
    bool shares_devices;    // of which sums of whole ones say little
};

struct finder {
    struct cycle *cycle;
    const struct pool *pool;
    const struct workload *workload;
    uint32_t group;
    const struct node_set *set;
    const struct snapshot_topology_constraint *constraint;
    const struct domain_tree *tree;
    struct demand demand;
    struct estimate *estimates; // by domain
    uint32_t top;               // the lowest domain that holds the whole set
};

static struct vector make_vector(struct cycle *cycle)
{
    return (struct vector){.extended =
                               arena_array(cycle->arena, cycle->snapshot->extended_resource_count, sizeof(int64_t))};
}

static void add_amount(struct demand *demand, int64_t *sum, int64_t *smallest, int64_t amount)
{
    demand->is_alike = demand->is_alike && (demand->pod_count == 0 || amount == *smallest);
    *sum = quantity_add(*sum, amount);
    if (demand->pod_count == 0 || amount < *smallest)
        *smallest = amount;
}

static void add_demand(struct finder *finder, const struct pod *pod)
{
    struct demand *demand = &finder->demand;
    int64_t amounts[DIMENSION_COUNT];
    memcpy(amounts, pod->request.of, sizeof(amounts));
    struct request plain = pod->request;
    plain.mig_gpu_milli = 0; // a dimension of its own
    amounts[DIMENSION_GPU] = request_gpu_milli(&plain, finder->pool->smallest_gpu_memory_mib);
    if (demand->pod_count > 0 && (amounts[DIMENSION_GPU] > 0) != (demand->sum.of[DIMENSION_GPU] > 0))
        demand->is_homogeneous = false;
    demand->shares_devices = demand->shares_devices || pod->request.shared_devices > 0;
    for (size_t d = 0; d < DIMENSION_COUNT; d++)
        add_amount(demand, &demand->sum.of[d], &demand->smallest.of[d], amounts[d]);
    size_t extended_count = finder->cycle->snapshot->extended_resource_count;
    for (size_t r = 0; r < extended_count; r++) {
        int64_t amount = 0;
        for (size_t i = 0; i < pod->spec->extended_count; i++)
            amount += pod->spec->extended[i].resource == r ? pod->spec->extended[i].count : 0;
        if (demand->pod_count > 0 && (amount > 0) != (demand->sum.extended[r] > 0))
            demand->is_homogeneous = false;
        add_amount(demand, &demand->sum.extended[r], &demand->smallest.extended[r], amount);
    }
    demand->pod_count++;
}

static void find_demand(struct finder *finder)
{
    finder->demand = (struct demand){.sum = make_vector(finder->cycle),
                                     .smallest = make_vector(finder->cycle),
                                     .is_homogeneous = true,
                                     .is_alike = true};
    for (uint32_t i = 0; i < finder->workload->unit_count; i++) {
        const struct pod *pod = &finder->cycle->pods[finder->workload->unit[i]];
        if (unit_is_below(finder->workload, pod->group, finder->group))
            add_demand(finder, pod);
    }
}

// How many pods of the smallest size fit on the node.
static int64_t count_pods(const struct finder *finder, const struct node *node)
{
    const struct vector *smallest = &finder->demand.smallest;
    int64_t most = INT64_MAX;
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        if (smallest->of[d] == 0)
            continue;
        int64_t free = node_free(node, d);
        if (d == DIMENSION_GPU) {
            free *= GPU_MILLI_PER_DEVICE;
            if (smallest->of[d] < GPU_MILLI_PER_DEVICE)
                free = node_free_gpu_milli(finder->cycle->snapshot, node);
        }
        int64_t count = free > 0 ? free / smallest->of[d] : 0;
        most = count < most ? count : most;
    }
    for (size_t r = 0; r < finder->cycle->snapshot->extended_resource_count; r++) {
        if (smallest->extended[r] == 0)
            continue;
        int64_t free = node->extended_idle[r] + node->extended_releasing[r];
        int64_t count = free > 0 ? free / smallest->extended[r] : 0;
        most = count < most ? count : most;
    }
    return most == INT64_MAX ? 0 : most;
}

static void add_node(struct finder *finder, const struct node *node)
{
    size_t extended_count = finder->cycle->snapshot->extended_resource_count;
    int64_t pods = node->is_open ? count_pods(finder, node) : 0;
    for (uint32_t d = finder->tree->lowest[node->index]; d != SNAPSHOT_NONE; d = finder->tree->domains[d].parent) {
        struct estimate *estimate = &finder->estimates[d];
        estimate->is_in_set = true;
        if (!node->is_open)
            continue;
        estimate->pod_count += pods;
        for (enum dimension i = 0; i < DIMENSION_COUNT; i++)
            estimate->free.of[i] += node_free(node, i) * (i == DIMENSION_GPU ? GPU_MILLI_PER_DEVICE : 1);
        for (size_t r = 0; r < extended_count; r++)
            estimate->free.extended[r] += node->extended_idle[r] + node->extended_releasing[r];
    }
}

// Goes over the set's nodes; false where none belongs to the topology.
static bool estimate_domains(struct finder *finder)
{
    const struct domain_tree *tree = finder->tree;
    finder->estimates = arena_array(finder->cycle->arena, tree->count, sizeof(*finder->estimates));
    for (uint32_t d = 0; d < tree->count; d++)
        finder->estimates[d].free = make_vector(finder->cycle);
    finder->top = SNAPSHOT_NONE;
    for (size_t i = 0; i < finder->set->count; i++) {
        const struct node *node = &finder->cycle->nodes[finder->set->nodes[i]];
        uint32_t lowest = tree->lowest[node->index];
        if (lowest == SNAPSHOT_NONE)
            continue;
        add_node(finder, node);
        uint32_t domain = lowest;
        if (finder->top == SNAPSHOT_NONE)
            finder->top = lowest;
        while (domain != finder->top) {
            if (tree->domains[domain].level >= tree->domains[finder->top].level)
                domain = tree->domains[domain].parent;
            else
                finder->top = tree->domains[finder->top].parent;
        }
    }
    if (finder->top == SNAPSHOT_NONE)
        return false;
    if (finder->constraint->preferred != SNAPSHOT_NONE)
        finder->top = domain_at_level(tree, finder->top, (int)finder->constraint->preferred);
    return true;
}

struct fraction {
    int64_t part, whole;
};

static int compare_fractions(struct fraction a, struct fraction b)
{
    const __int128 left = (__int128)a.part * b.whole, right = (__int128)b.part * a.whole;
    return (left > right) - (left < right);
}

// The dominant part of the domain's free resources that the demand takes; 1000 where something is used up.
static struct fraction demand_ratio(const struct finder *finder, uint32_t domain)
{
    const struct vector *sum = &finder->demand.sum, *free = &finder->estimates[domain].free;
    struct fraction ratio = {0, 1};
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        if (d == DIMENSION_PODS || sum->of[d] == 0)
            continue;
        struct fraction next =
            free->of[d] > 0 ? (struct fraction){sum->of[d], free->of[d]} : (struct fraction){1000, 1};
        ratio = compare_fractions(next, ratio) > 0 ? next : ratio;
    }
    for (size_t r = 0; r < finder->cycle->snapshot->extended_resource_count; r++) {
        if (sum->extended[r] == 0)
            continue;
        struct fraction next =
            free->extended[r] > 0 ? (struct fraction){sum->extended[r], free->extended[r]} : (struct fraction){1000, 1};
        ratio = compare_fractions(next, ratio) > 0 ? next : ratio;
    }
    return ratio;
}

static bool may_fit(const struct finder *finder, uint32_t domain)
{
    const struct demand *demand = &finder->demand;
    if (demand->is_homogeneous && finder->estimates[domain].pod_count < demand->pod_count)
        return false;
    if (demand->is_homogeneous && (demand->is_alike || demand->shares_devices))
        return true;
    return compare_fractions(demand_ratio(finder, domain), (struct fraction){1, 1}) <= 0;
}

// Fullest first, then by id.
static int compare_domains(const void *a, const void *b, void *context)
{
    const struct finder *finder = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int order = compare_fractions(demand_ratio(finder, right), demand_ratio(finder, left));
    return order ? order : strcmp(finder->tree->domains[left].id, finder->tree->domains[right].id);
}

static bool is_inside(const struct finder *finder, uint32_t domain, uint32_t outer)
{
    int level = finder->tree->domains[outer].level;
    return finder->tree->domains[domain].level >= level && domain_at_level(finder->tree, domain, level) == outer;
}

// Domains of one level in the sorted tree, left to right. A domain of the level or, where the whole set lies deeper,
// that one.
static uint32_t list_level(struct finder *finder, int level, uint32_t *out_domains)
{
    uint32_t count = 1;
    out_domains[0] = finder->top;
    uint32_t *next = arena_array(finder->cycle->arena, finder->tree->count, sizeof(*next));
    for (int at = finder->tree->domains[finder->top].level; at < level; at++) {
        uint32_t next_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t start = next_count;
            for (uint32_t d = out_domains[i] + 1; d < finder->tree->count; d++) {
                if (finder->tree->domains[d].parent == out_domains[i] && finder->estimates[d].is_in_set)
                    next[next_count++] = d;
            }
            qsort_r(next + start, next_count - start, sizeof(*next), compare_domains, finder);
        }
        memcpy(out_domains, next, next_count * sizeof(*next));
        count = next_count;
    }
    return count;
}

// Marks the required-level domains in which the group has pods already; false where it has none. Pods on nodes outside
// the topology mark nothing: the group then grows nowhere.
static bool mark_occupied(struct finder *finder)
{
    bool found = false;
    for (uint32_t i = 0; i < finder->workload->spec->pod_count; i++) {
        const struct pod *pod = &finder->cycle->pods[finder->workload->spec->first_pod + i];
        if (!pod_status_is_held(pod->state.status) || !unit_is_below(finder->workload, pod->group, finder->group))
            continue;
        found = true;
        uint32_t lowest = finder->tree->lowest[pod->state.place.node];
        if (lowest != SNAPSHOT_NONE)
            finder->estimates[domain_at_level(finder->tree, lowest, (int)finder->constraint->required)].may_be_chosen =
                true;
    }
    return found;
}

static bool stands_with_others(const struct finder *finder, uint32_t domain)
{
    return finder->estimates[domain_at_level(finder->tree, domain, (int)finder->constraint->required)].may_be_chosen;
}

static struct node_set nodes_of(const struct finder *finder, uint32_t domain, const int64_t *scores)
{
    uint32_t *nodes = arena_array(finder->cycle->arena, finder->set->count, sizeof(*nodes));
    struct node_set set = {.nodes = nodes, .scores = scores};
    for (size_t i = 0; i < finder->set->count; i++) {
        uint32_t node = finder->set->nodes[i];
        if (finder->tree->lowest[node] != SNAPSHOT_NONE && is_inside(finder, finder->tree->lowest[node], domain))
            nodes[set.count++] = node;
    }
    return set;
}

// Nodes of the freer domains of the preferred level score higher: a workload that has to span goes there first.
static const int64_t *score_preferred(struct finder *finder, uint32_t *scratch)
{
    enum {
        TOPOLOGY_SCORE = 100000,
        TOPOLOGY_STEPS = 10
    };
    if (finder->constraint->preferred == SNAPSHOT_NONE)
        return finder->set->scores;
    int64_t *scores = arena_array(finder->cycle->arena, finder->cycle->snapshot->node_count, sizeof(*scores));
    uint32_t count = list_level(finder, (int)finder->constraint->preferred, scratch);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t n = 0; n < finder->set->count; n++) {
            uint32_t node = finder->set->nodes[n];
            if (finder->tree->lowest[node] != SNAPSHOT_NONE &&
                is_inside(finder, finder->tree->lowest[node], scratch[i]))
                scores[node] = (int64_t)(i + 1) * TOPOLOGY_STEPS / count * TOPOLOGY_SCORE;
        }
    }
    return scores;
}

static struct topology_sets list_sets(struct finder *finder)
{
    struct arena *arena = finder->cycle->arena;
    const struct snapshot_topology_constraint *constraint = finder->constraint;
    uint32_t *domains = arena_array(arena, finder->tree->count, sizeof(*domains));
    const int64_t *scores = score_preferred(finder, domains);
    bool has_required = constraint->required != SNAPSHOT_NONE;
    bool is_bound = has_required && mark_occupied(finder);
    int lowest = constraint->preferred != SNAPSHOT_NONE ? (int)constraint->preferred : (int)constraint->required;
    int highest = has_required ? (int)constraint->required : -1;
    struct node_set *sets = arena_array(arena, (size_t)finder->tree->count + 1, sizeof(*sets));
    struct topology_sets result = {.sets = sets};
    bool *is_listed = arena_array(arena, finder->tree->count, sizeof(*is_listed));
    for (int level = lowest; level >= highest; level--) {
        uint32_t count = list_level(finder, level, domains);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t domain = domains[i];
            if (is_listed[domain] || !may_fit(finder, domain) || (is_bound && !stands_with_others(finder, domain)))
                continue;
            is_listed[domain] = true;
            sets[result.count++] = nodes_of(finder, domain, scores);
        }
    }
    return result;
}

struct topology_sets topology_find_sets(struct cycle *cycle, const struct pool *pool, const struct workload *workload,
                                        uint32_t group, const struct node_set *set)
{
    struct finder finder = {.cycle = cycle,
                            .pool = pool,
                            .workload = workload,
                            .group = group,
                            .set = set,
                            .constraint = workload->groups[group].topology};
    finder.tree = domain_tree_of(cycle, finder.constraint->topology);
    const char *name = finder.tree->spec->name;
    find_demand(&finder);
    if (!estimate_domains(&finder))
        return (struct topology_sets){.problem =
                                          arena_printf(cycle->arena, "No node has all labels of topology %s", name)};
    struct topology_sets result = {0};
    if (may_fit(&finder, finder.top))
        result = list_sets(&finder);
    if (result.count == 0) {
        uint32_t level =
            finder.constraint->required != SNAPSHOT_NONE ? finder.constraint->required : finder.constraint->preferred;
        result.problem = arena_printf(cycle->arena, "No %s of topology %s has room for %u pods together",
                                      finder.tree->spec->levels[level], name, finder.demand.pod_count);
    }
    return result;
}
