// How a search goes, by an example. Two nodes of 4 GPUs; w is a gang of two pods with 3 GPUs each, owed to team-b.
//
//        n0 [v0 v0 v1 v1]     n1 [v2 v2 v3 .]        team-a holds 7, more than its share; it gives way in the order
//                                                    v3 v2 v1 v0, youngest first
//
// 1. Probes. A gang is searched for with 1, 2, 4, ... of its pods, so that a search without end is found out early.
// Here
//    with one pod first:
//      victims   v3, v2 are popped, one by one, until the cheap filters (victims.h) say that a pod of 3 GPUs could fit
//      scenario  {v3, v2}, all units on n1, the last one's node: search_try
//        evict v3, v2       n1 [. . . .]
//        serve              everybody in the ordinary order: w's pod goes to n1 as a promise, v3 takes what is left
//        is_lawful          reclaim asks fairness.h; false would roll everything back
//      success: it stays in the statement, and whom it really took (v2) is recorded
// 2. With two pods: v2 stays evicted. v1 and v0 are popped until the second pod fits as well; scenarios are those of
// n0,
//    and a success is a solution for the whole unit. A failure would be bisected: between the last success and it.
// 3. If no scenario of one node's units works for the whole gang, the second generator takes sets of nodes.
//
// search_try keeps what failed by a fingerprint of 128 bits: none is simulated twice. What the search spares
// (sparing.h) makes it run twice, first with and then without. Everything in fast/ only leaves out what is certain to
// fail.
#include "scheduler/victims/search.h"

#include "scheduler/placing/attempt.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/statement.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/fast/serving_order.h"
#include "scheduler/victims/fast/victim_order.h"
#include "scheduler/victims/scenarios.h"
#include "scheduler/victims/taken.h"
#include "scheduler/victims/victims.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS_OF_A_VICTIM = 25 // that is evicted, placed and put back, in looks at a queue
};

static const scenario_generator GENERATORS[] = {scenarios_by_node, scenarios_over_nodes};

// Scenarios that failed already, by the pods they place and evict. A hash of 128 bits stands for them.
struct fingerprint {
    uint64_t a, b;
};

struct fingerprint_set {
    struct fingerprint *slots; // a of 0: empty
    size_t count;
    size_t capacity; // a power of two
};

static uint64_t mix(uint64_t value)
{
    value ^= value >> 30;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    value ^= value >> 27;
    value *= UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

// Victims in another order are another scenario for the fairness test.
static struct fingerprint fingerprint_of(const struct search *search, const struct scenario *scenario)
{
    struct fingerprint print = {mix(search->pending_count + 1), mix(~(uint64_t)search->pending_count)};
    for (size_t i = 0; i < scenario->count; i++) {
        print.a = mix(print.a ^ (scenario->pods[i] + UINT64_C(0x9e3779b97f4a7c15)));
        print.b = mix(print.b + (scenario->pods[i] ^ UINT64_C(0xd1b54a32d192ed03)));
    }
    print.a |= 1;
    return print;
}

static struct fingerprint *find_slot(struct fingerprint *slots, size_t capacity, struct fingerprint print)
{
    size_t at = print.b & (capacity - 1);
    while (slots[at].a != 0 && (slots[at].a != print.a || slots[at].b != print.b))
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool has_failed(const struct search *search, struct fingerprint print)
{
    const struct fingerprint_set *set = search->failed;
    return set->capacity > 0 && find_slot(set->slots, set->capacity, print)->a != 0;
}

// A scenario that stands is none of these: another probe or the other generator may come to it again.
static void remember_failure(struct search *search, struct fingerprint print)
{
    struct fingerprint_set *set = search->failed;
    if ((set->count + 1) * 2 > set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 64;
        struct fingerprint *slots = memory_array(capacity, sizeof(*slots));
        for (size_t i = 0; i < set->capacity; i++) {
            if (set->slots[i].a != 0)
                *find_slot(slots, capacity, set->slots[i]) = set->slots[i];
        }
        free(set->slots);
        set->slots = slots;
        set->capacity = capacity;
    }
    *find_slot(set->slots, set->capacity, print) = print;
    set->count++;
}

static void forget_failures(struct fingerprint_set *set)
{
    free(set->slots);
    *set = (struct fingerprint_set){0};
}

static bool is_spent(const struct search *search)
{
    const struct snapshot_settings *settings = &search->cycle->snapshot->settings;
    uint64_t simulated = search->cycle->counts[search->cycle->action].scenarios_simulated;
    uint32_t most = settings->scenarios_per_workload;
    if (search->is_sparing && most != SNAPSHOT_COUNT_UNLIMITED)
        most -= most / 2; // the other half is for the search that spares nothing
    return search->cycle->search_budget.taken >= search->cycle->search_budget.allowed ||
           search->scenario_count >= most ||
           (settings->scenarios_per_action != SNAPSHOT_COUNT_UNLIMITED && simulated >= settings->scenarios_per_action);
}

bool search_is_over(struct search *search)
{
    search->was_cut = search->was_cut || search->cycle->search_budget.taken >= search->cycle->search_budget.allowed;
    return search->was_cut;
}

// Nodes without free GPUs are left out for those whose every pod needs one.
static bool needs_gpus_throughout(const struct cycle *cycle, const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        if (!cycle->pods[workload->spec->first_pod + i].request.needs_gpu)
            return false;
    }
    return true;
}

// Feasible nodes and those of the victims.
static struct node_set find_nodes(struct search *search, const struct scenario *scenario)
{
    const struct cycle *cycle = search->cycle;
    size_t words = (search->pool->node_count + 63) / 64;
    uint64_t *bits = arena_array(&search->arena, words, sizeof(*bits));
    memcpy(bits, search->feasible_bits, words * sizeof(*bits));
    for (size_t i = 0; i < scenario->count; i++) {
        uint32_t position = cycle->nodes[cycle->pods[scenario->pods[i]].state.origin.node].position;
        bits[position / 64] |= UINT64_C(1) << position % 64;
    }
    return (struct node_set){.bits = bits};
}

struct served {
    struct workload **workloads; // by name
    size_t count;
    size_t acting; // the one that waits, and the victims: stamped
};

// All that allocate would consider, the victims, and the workload that waits.
static struct served find_served(struct search *search, const struct scenario *scenario)
{
    struct cycle *cycle = search->cycle;
    struct served served = {0};
    uint32_t stamp = ++cycle->stamp;
    search->workload->stamp = stamp;
    for (size_t i = 0; i < scenario->count; i++)
        cycle->workloads[cycle->pods[scenario->pods[i]].workload].stamp = stamp;
    served.workloads =
        arena_array(&search->arena, search->candidate_count + search->waiting_count + 1, sizeof(*served.workloads));
    // Both lists are in the order of names; the waiting workload is in one of them or goes in its place.
    size_t c = 0, w = 0;
    bool placed_own = false;
    while (c < search->candidate_count || w < search->waiting_count || !placed_own) {
        struct workload *next = placed_own ? NULL : search->workload;
        if (c < search->candidate_count && (!next || search->candidates[c]->index <= next->index))
            next = search->candidates[c];
        if (w < search->waiting_count && (!next || search->waiting[w]->index <= next->index))
            next = search->waiting[w];
        bool waits = w < search->waiting_count && search->waiting[w] == next;
        c += c < search->candidate_count && search->candidates[c] == next;
        w += waits;
        placed_own = placed_own || next == search->workload;
        if (waits || next->stamp == stamp)
            served.workloads[served.count++] = next;
        served.acting += next->stamp == stamp;
    }
    return served;
}

// The same without those who wait and make no difference.
static size_t list_served(struct search *search, const struct scenario *scenario, struct workload **out_served)
{
    struct cycle *cycle = search->cycle;
    uint32_t stamp = ++cycle->stamp;
    size_t count = 0;
    out_served[count++] = search->workload;
    search->workload->stamp = stamp;
    for (size_t i = 0; i < scenario->count; i++) {
        struct workload *victim = &cycle->workloads[cycle->pods[scenario->pods[i]].workload];
        if (victim->stamp != stamp)
            out_served[count++] = victim;
        victim->stamp = stamp;
    }
    return count;
}

// A request for whole devices that found no node. Inside one simulation room only shrinks, so what asks for no less,
// under the same rules, finds none either. A gang's failure says nothing: what it held is free again.
struct refused {
    const struct pod *pod; // NULL: none yet
};

static const struct pod *only_pod(const struct cycle *cycle, const struct workload *workload)
{
    const struct snapshot_workload *spec = workload->spec;
    if (spec->pod_count != 1 || spec->sub_group_count > 0 || spec->topology.topology != SNAPSHOT_NONE ||
        spec->pod_affinity != POD_AFFINITY_NONE)
        return NULL;
    const struct pod *pod = &cycle->pods[spec->first_pod];
    return pod->request.shared_devices > 0 || pod->spec->extended_count > 0 ? NULL : pod;
}

static bool is_hopeless(const struct refused *refused, const struct pod *pod)
{
    if (!pod || !refused->pod || pod->spec->rules != refused->pod->spec->rules ||
        pod->request.needs_gpu != refused->pod->request.needs_gpu)
        return false;
    for (enum dimension d = 0; d < DIMENSION_COUNT; d++) {
        if (pod->request.of[d] < refused->pod->request.of[d])
            return false;
    }
    return true;
}

static bool place_served(struct search *search, struct workload *workload, const struct node_set *set,
                         struct refused *refused)
{
    const struct pod *pod = only_pod(search->cycle, workload);
    if (workload->spec->deleting || is_hopeless(refused, pod)) // what is going needs no other place
        return false;
    struct attempt attempt = {0};
    struct node_set all = pool_nodes(search->pool);
    bool needs_gpus = needs_gpus_throughout(search->cycle, workload);
    if (attempt_workload(search->cycle, search->pool, workload, needs_gpus ? set : &all, true, &attempt))
        return true;
    if (pod && attempt.failed)
        refused->pod = pod;
    return false;
}

// Returns how many are to be served; they have the cycle's stamp.
static size_t open_walk(struct search *search, const struct scenario *scenario, struct walk *walk)
{
    if (!search->serving) {
        struct served served = find_served(search, scenario);
        walk_open(walk, search->cycle, search->pool, WALK_SERVE, served.workloads, served.count,
                  SNAPSHOT_COUNT_UNLIMITED, &search->arena);
        return served.acting;
    }
    struct workload **served = arena_array(&search->arena, scenario->count + 1, sizeof(struct workload *));
    size_t count = list_served(search, scenario, served);
    serving_order_open(search->serving, walk, search->cycle, search->pool, served, count, &search->arena);
    return count;
}

// Whether all is lost with a victim that found no place.
static bool must_not_lose(const struct search *search, const struct workload *victim)
{
    if (search->cycle->is_plain || !search->may_lose || search->may_lose(search, victim))
        return false;
    for (uint32_t i = 0; i < victim->spec->pod_count; i++) {
        const struct pod *pod = &search->cycle->pods[victim->spec->first_pod + i];
        if (pod->state.evicted && !request_is_nothing(&pod->request))
            return true;
    }
    return false;
}

// Serves everybody in the ordinary order; only victims and the waiting workload are placed. False where that one is
// not.
static bool serve(struct search *search, const struct scenario *scenario)
{
    struct node_set set = find_nodes(search, scenario);
    struct walk walk;
    size_t acting = open_walk(search, scenario, &walk);
    bool placed = false;
    struct refused refused = {0};
    while (acting > 0) {
        struct workload *workload = walk_next(&walk);
        search->cycle->search_budget.taken += (int64_t)walk.looked_at;
        walk.looked_at = 0;
        if (workload->stamp != search->cycle->stamp)
            continue;
        acting--;
        bool fits = place_served(search, workload, &set, &refused);
        if (!fits && (workload == search->workload || must_not_lose(search, workload)))
            return false;
        placed = placed || workload == search->workload;
    }
    return placed;
}

// Whether the pods of this probe hold a place each.
static bool is_solved(const struct search *search)
{
    const struct workload *workload = search->workload;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        if (!pod_status_is_held(search->cycle->pods[workload->unit[i]].state.status))
            return false;
    }
    return true;
}

bool search_try(struct search *search, const struct scenario *scenario)
{
    struct cycle *cycle = search->cycle;
    if (scenario->count == 0 || search->was_cut)
        return false;
    struct fingerprint print = fingerprint_of(search, scenario);
    if (has_failed(search, print)) {
        cycle->counts[cycle->action].scenarios_filtered++;
        return false;
    }
    if (is_spent(search)) {
        search->was_cut = true;
        return false;
    }
    search->scenario_count++;
    cycle->search_budget.taken += STEPS_OF_A_VICTIM * (int64_t)scenario->count;
    cycle->counts[cycle->action].scenarios_simulated++;
    size_t checkpoint = statement_checkpoint(cycle);
    for (size_t i = 0; i < scenario->count; i++)
        statement_evict(cycle, scenario->pods[i]);
    bool found = serve(search, scenario) && is_solved(search) &&
                 taken_leaves_gangs_whole(search, scenario, checkpoint) && search->is_lawful(search, scenario);
    arena_clear(&search->arena);
    if (!found) {
        statement_roll_back(cycle, checkpoint);
        unit_find(cycle, search->workload);
        remember_failure(search, print);
        return false;
    }
    uint32_t *pods = arena_array(cycle->scratch, scenario->count, sizeof(*pods));
    memcpy(pods, scenario->pods, scenario->count * sizeof(*pods));
    search->solution = (struct scenario){pods, scenario->count};
    return true;
}

static void set_pending_count(struct search *search, uint32_t count)
{
    search->pending_count = count;
    search->workload->unit_cap = count;
    search->workload->unit_is_known = false;
    search->pending = unit_amounts(search->cycle, search->workload, search->pool->smallest_gpu_memory_mib);
    search->must_free_milli = INT64_MIN;
    if (!search->cycle->is_plain && search->may_lose)
        search->must_free_milli = search_bounds_must_free(search->cycle, search->pool, search->workload, count);
    search->must_free_devices = INT64_MIN;
    if (!search->cycle->is_plain && search->most_lost)
        search->must_free_devices =
            search_bounds_must_free_devices(search->cycle, search->pool, search->workload, count);
}

// Looks for a place for the first count pods of the unit. A success stays in the open statement.
static bool probe(struct search *search, scenario_generator generator, uint32_t count)
{
    set_pending_count(search, count);
    bool found = generator(search);
    arena_clear(&search->probe_arena);
    return found;
}

static bool run_generator(struct search *search, scenario_generator generator)
{
    size_t checkpoint = statement_checkpoint(search->cycle);
    uint32_t all = search->unit_count;
    uint32_t found = 0, failed = all + 1;
    search->recorded = (struct scenario){0};
    for (uint32_t count = 1; failed - found > 1 && !search->was_cut;) {
        if (probe(search, generator, count)) {
            if (count == all && taken_is_all(search))
                return true;
            found = count;
            search->recorded = taken_back(search, checkpoint);
        } else {
            failed = count;
        }
        if (failed > all)
            count = count * 2 < all ? count * 2 : all;
        else
            count = found + (failed - found) / 2;
    }
    return found > 0 && !search->was_cut && probe(search, generator, all);
}

// Where every pod needs a GPU: nodes with one idle or releasing, in whole or in part; else all.
static void find_feasible(struct search *search)
{
    const struct cycle *cycle = search->cycle;
    struct arena *arena = &search->walk_arena;
    bool all_need_gpu = needs_gpus_throughout(cycle, search->workload);
    search->feasible_bits = arena_array(arena, (search->pool->node_count + 63) / 64, sizeof(*search->feasible_bits));
    search->feasible = arena_array(arena, cycle->snapshot->node_count, sizeof(*search->feasible));
    search->free_milli = arena_array(arena, search->pool->node_count, sizeof(*search->free_milli));
    for (size_t i = 0; i < search->pool->node_count; i++) {
        const struct node *node = search->pool->nodes[i];
        search->free_milli[i] = node_free_gpu_milli(cycle->snapshot, node);
        search->feasible[node->index] = !all_need_gpu || search->free_milli[i] > 0;
        if (search->feasible[node->index])
            search->feasible_bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static bool run_generators(struct search *search)
{
    bool found = false;
    for (size_t g = 0; g < sizeof(GENERATORS) / sizeof(GENERATORS[0]) && !found && !search->was_cut; g++)
        found = run_generator(search, GENERATORS[g]);
    return found;
}

// The search that spares nothing. Where nothing was passed over it would be the one just made; what failed in that one
// fails here.
static bool run_unsparing(struct search *search)
{
    search->is_sparing = false;
    if (!search->has_passed && !search->cycle->is_plain)
        return false;
    search->has_passed = false;
    search->sparing_was_cut = search->was_cut;
    search->was_cut = false;
    if (search->cycle->is_plain)
        forget_failures(search->failed);
    return run_generators(search);
}

bool search_run(struct search *search)
{
    struct cycle *cycle = search->cycle;
    arena_init(&search->walk_arena);
    arena_init(&search->probe_arena);
    arena_init(&search->arena);
    search->failed = memory_array(1, sizeof(*search->failed));
    search->workload->unit_cap = SNAPSHOT_COUNT_UNLIMITED;
    search->workload->unit_is_known = false;
    unit_find(cycle, search->workload);
    search->unit_count = search->workload->unit_count;
    if (search->candidate_count == 0 || search->unit_count == 0)
        return false;
    find_feasible(search);
    search->is_sparing = search->spares;
    bool found = run_generators(search);
    if (!found && search->is_sparing)
        found = run_unsparing(search);
    if (search->order)
        victim_order_close(search->order);
    search->order = NULL;
    search->workload->unit_cap = SNAPSHOT_COUNT_UNLIMITED;
    search->workload->unit_is_known = false;
    return found;
}

void search_done(struct search *search)
{
    if (search->failed)
        free(search->failed->slots);
    free(search->failed);
    arena_done(&search->walk_arena);
    arena_done(&search->probe_arena);
    arena_done(&search->arena);
    *search = (struct search){0};
}
