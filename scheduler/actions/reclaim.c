// Reclaim: a project takes back, up to its fair share, what others use of it.
#include "model/told.h"
#include "scheduler/actions/evictions.h"
#include "scheduler/actions/evidence.h"
#include "scheduler/placing/explain.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/state/wording.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/min_run_time.h"
#include "scheduler/victims/preemption_delay.h"

static const char *describe_share(struct arena *arena, const struct pool *pool, const struct queue *queue,
                                  const struct plan_explanation *numbers)
{
    enum resource r = numbers->resource;
    const char *asked = wording_number(arena, r, numbers->requested);
    const char *share = wording_number(arena, r, numbers->fair_share);
    if (numbers->allocated + numbers->requested <= numbers->fair_share) // so it is not preemptible
        return explain_quota(arena, pool, queue, r, numbers->requested);
    if (numbers->fair_share == 0 && numbers->allocated == 0)
        return arena_printf(arena, "%s has no fair share of what it asks for", queue->name);
    if (numbers->allocated > numbers->fair_share)
        return arena_printf(arena, "%s already exceeds its fair share: it holds %s, its share is %s", queue->name,
                            wording_amount(arena, r, numbers->allocated), share);
    if (numbers->allocated == 0)
        return arena_printf(arena, "%s would exceed its fair share: it asks for %s, its share is %s", queue->name,
                            wording_amount(arena, r, numbers->requested), share);
    return arena_printf(arena, "%s would exceed its fair share: it holds %s, asks for %s, its share is %s", queue->name,
                        wording_amount(arena, r, numbers->allocated), asked, share);
}

static void explain_share(struct cycle *cycle, struct pool *pool, struct workload *workload, enum resource resource)
{
    const struct queue *queue = cycle_queue(pool, workload);
    struct plan_explanation explanation = explain_blank(pool, EXPLANATION_OVER_FAIR_SHARE, queue, resource);
    explanation.requested = unit_amounts(cycle, workload, pool->smallest_gpu_memory_mib).of[resource];
    explanation.message = describe_share(cycle->arena, pool, queue, &explanation);
    explain_add(cycle, pool, workload, explanation);
}

static bool may_try(struct cycle *cycle, struct pool *pool, struct workload *workload)
{
    if (!preemption_delay_allows(cycle, pool, workload))
        return false;
    if (evictions_would_not_help(cycle, pool, workload))
        return false;
    enum resource refused = fairness_refuses(cycle, pool, workload);
    if (refused == RESOURCE_COUNT)
        return true;
    if (!cycle->is_silent)
        explain_share(cycle, pool, workload, refused);
    return false;
}

static bool may_take_from(const struct pool *pool, const struct workload *workload, struct amounts requested,
                          uint32_t project)
{
    return project != workload->spec->project &&
           fairness_protects(cycle_queue(pool, workload), requested, &pool->projects[project], NULL) ==
               EVIDENCE_CODE_COUNT;
}

static bool is_victim(struct cycle *cycle, struct pool *pool, struct workload *workload, struct workload *victim)
{
    return !cycle->has_min_run_time || min_run_time_can_shrink(victim) ||
           min_run_time_protects_until(cycle, pool, victim, workload) == SNAPSHOT_TIME_NONE;
}

// Who lost a place or a promise itself, and was not left alone for an hour since, displaces nobody who may take the
// place back at once: so reclaims do not answer each other for ever.
static bool must_last(struct cycle *cycle, const struct workload *workload)
{
    int64_t until;
    return workload->spec->displaced_count > 0 &&
           (__builtin_add_overflow(workload->spec->displaced_ms, SNAPSHOT_PEACE_MS, &until) ||
            cycle_is_before(cycle, until));
}

static bool is_lawful(struct search *search, const struct scenario *scenario)
{
    return fairness_allows(search, scenario) && min_run_time_allows(search, scenario) &&
           (!must_last(search->cycle, search->workload) || fairness_lasts(search, scenario));
}

// What may be taken lawfully at all is less than what every solution takes: each side's victims together, as the
// fairness test lets them go. With minimum run times not even all that.
static bool is_hopeless(struct cycle *cycle, const struct pool *pool, struct workload *workload,
                        struct amounts requested, size_t *out_candidates)
{
    const struct search_bounds *bounds = search_bounds_of(cycle, pool);
    struct loss_bounds *losses = &cycle->bounds->losses;
    struct queue *own = cycle_queue(pool, workload);
    struct search search = {
        .cycle = cycle, .pool = pool, .workload = workload, .context = &bounds->frozen, .pending = requested};
    int64_t must_free = search_bounds_must_free(cycle, pool, workload, workload->unit_count);
    size_t candidates = 0;
    loss_bounds_reset(losses, &(struct loss_bounds){0});
    for (size_t p = 0; p < cycle->snapshot->project_count; p++) {
        struct queue *victim = &pool->projects[p];
        if (victim == own || bounds->projects[p].victim_count == 0 ||
            fairness_protects(own, requested, victim, NULL) != EVIDENCE_CODE_COUNT)
            continue;
        candidates += bounds->projects[p].victim_count;
        if (fairness_may_take(&bounds->frozen, own, requested, victim))
            loss_bounds_add(losses, fairness_side(own, victim), bounds->projects[p].loss);
    }
    *out_candidates = cycle->has_min_run_time ? SIZE_MAX : candidates;
    return candidates == 0 || fairness_most_lost(&search, losses) < must_free;
}

static const char *why(const struct cycle *cycle, const struct pod *pod, void *context)
{
    const struct search *search = context;
    const struct frozen_queues *frozen = search->context;
    struct arena *arena = cycle->arena;
    const struct workload *victim = &cycle->workloads[pod->workload];
    struct queue *own = cycle_queue(search->pool, search->workload), *other = cycle_queue(search->pool, victim);
    // The resource that tells most: the first that the other side holds over what it deserves.
    enum resource r = RESOURCE_GPU;
    for (enum resource next = RESOURCE_GPU; next < RESOURCE_COUNT; next++) {
        if (frozen->projects[other->index].of[next] > other->spec->deserved.of[next]) {
            r = next;
            break;
        }
    }
    const char *fate = pod->state.status == SNAPSHOT_POD_PIPELINED
                           ? arena_printf(arena, "Moves to %s for", cycle->nodes[pod->state.place.node].spec->name)
                           : "Yields to";
    if (pod->rule == EVICTION_HIGHER_RANK)
        r = wording_resource(search->requested);
    const char *held = wording_number(arena, r, frozen->projects[own->index].of[r]);
    if (pod->rule == EVICTION_HIGHER_RANK) {
        struct queue *higher, *lower;
        queue_find_sides(own, other, &higher, &lower);
        return arena_printf(arena,
                            "%s %s of project %s, which held %s of its quota of %s; %s ranks above %s, and quotas add "
                            "up to more than there is",
                            fate, told_name(arena, TOLD_WORKLOAD, search->workload->spec->name), own->name, held,
                            wording_amount(arena, r, own->spec->deserved.of[r]), higher->name, lower->name);
    }
    return arena_printf(
        arena, "%s %s of project %s, which held %s of its fair share of %s; project %s held %s and deserves %s", fate,
        told_name(arena, TOLD_WORKLOAD, search->workload->spec->name), own->name, held,
        wording_amount(arena, r, own->fair_share.of[r]), other->name,
        wording_amount(arena, r, frozen->projects[other->index].of[r]),
        wording_number(arena, r, other->spec->deserved.of[r]));
}

// What the fairness test found when it passed the scenario.
static enum eviction_rule rule(const struct pod *victim)
{
    return (enum eviction_rule)victim->rule;
}

static void explain_nobody(struct search *search)
{
    struct cycle *cycle = search->cycle;
    struct amounts requested = unit_amounts(cycle, search->workload, search->pool->smallest_gpu_memory_mib);
    enum resource r = wording_resource(requested);
    struct plan_explanation explanation =
        explain_blank(search->pool, EXPLANATION_NOTHING_TO_RECLAIM, cycle_queue(search->pool, search->workload), r);
    const char *pool = search->pool->spec->name;
    struct evidence evidence = evidence_of_reclaim(search, requested);
    evidence_attach(&explanation, &evidence);
    explanation.requested = requested.of[r];
    if (search->candidate_count == 0 && evidence.first_end_ms != SNAPSHOT_TIME_NONE)
        explanation.message =
            explain_protection(cycle->arena, "work above its fair share", pool, evidence.first_end_ms);
    else if (search->candidate_count == 0)
        explanation.message = arena_printf(
            cycle->arena, "No project above its share in node pool %s has a workload that could give way", pool);
    else
        explanation.message = arena_printf(
            cycle->arena, "%zu %s of other projects in node pool %s could give way, but no fair choice makes room",
            search->candidate_count, search->candidate_count == 1 ? "workload" : "workloads", pool);
    if (evidence.count > 0 && (search->candidate_count > 0 || evidence.first_end_ms == SNAPSHOT_TIME_NONE))
        explanation.message = arena_printf(cycle->arena, "%s; %s holds most, %s", explanation.message,
                                           search->pool->projects[evidence.items[0].project].name,
                                           wording_amount(cycle->arena, r, evidence.items[0].held));
    explain_add(cycle, search->pool, search->workload, explanation);
}

void reclaim_run(struct cycle *cycle, struct pool *pool)
{
    static const struct eviction_action ACTION = {.may_try = may_try,
                                                  .may_take_from = may_take_from,
                                                  .takes_all = true,
                                                  .is_victim = is_victim,
                                                  .is_lawful = is_lawful,
                                                  .spares = true,
                                                  .may_lose = fairness_may_lose,
                                                  .most_lost = fairness_most_lost,
                                                  .is_hopeless = is_hopeless,
                                                  .why = why,
                                                  .rule = rule,
                                                  .explain_nobody = explain_nobody};
    evictions_run(cycle, pool, &ACTION);
}
