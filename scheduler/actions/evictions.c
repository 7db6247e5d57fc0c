#include "scheduler/actions/evictions.h"

#include "scheduler/actions/search_turn.h"
#include "scheduler/placing/explain.h"
#include "scheduler/placing/reservation.h"
#include "scheduler/state/journal.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fast/search_bounds.h"
#include "scheduler/victims/fast/serving_order.h"
#include "scheduler/victims/search.h"

#include <stdlib.h>
#include <string.h>

// The workload of a project that was looked at last.
struct tried {
    struct workload *workload;
    bool failed;       // its search found nothing
    int64_t cut_steps; // that it took until it was cut; 0: it was not, or by something else than its own bound
    size_t decision_count;
    size_t candidate_count;
};

struct round {
    struct cycle *cycle;
    struct pool *pool;
    const struct eviction_action *action;
    struct workload **waiting; // counted again only after a commit: nothing else changes who waits
    size_t waiting_count;
    struct serving_order serving; // the waiting ones, in order
    struct workload **candidates;
    bool *gives;         // by project: whether it can have candidates for the one that is searched for
    size_t *first;       // by project, where candidates are in order
    struct tried *tried; // by project
    struct search_turn turn;
    // Consolidation: the candidates of whoever holds nothing.
    struct workload **capped;
    size_t capped_count;
    size_t capped_decision_count;
    bool has_capped;
};

bool evictions_submitter_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    return workload->person &&
           queue_check_person(pool, workload, unit_amounts(cycle, workload, pool->largest_gpu_memory_mib)).queue;
}

bool evictions_budget_refuses(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    return workload->spec->over_budget &&
           queue_check_budget(pool, workload, unit_amounts(cycle, workload, pool->largest_gpu_memory_mib)).queue;
}

bool evictions_would_not_help(struct cycle *cycle, const struct pool *pool, struct workload *workload)
{
    return evictions_submitter_refuses(cycle, pool, workload) || evictions_budget_refuses(cycle, pool, workload);
}

// Workloads that still hold preemptible pods in the pool; running ones and those promised a place in this cycle.
static size_t find_candidates(struct round *round, struct workload *workload, struct amounts requested)
{
    size_t count = 0;
    for (uint32_t p = 0; p < round->cycle->snapshot->project_count; p++)
        round->gives[p] = round->action->may_take_from(round->pool, workload, requested, p);
    for (size_t i = 0; i < round->pool->holder_count; i++) {
        struct workload *victim = round->pool->holders[i];
        if (victim != workload && victim->spec->preemptible && victim->counts.held > 0 &&
            round->gives[victim->spec->project] &&
            round->action->is_victim(round->cycle, round->pool, workload, victim))
            round->candidates[count++] = victim;
    }
    return count;
}

// The same project by project, in the order of giving way.
static size_t order_candidates(struct round *round, struct workload *workload, struct amounts requested)
{
    const struct holders *holders = &search_bounds_of(round->cycle, round->pool)->holders;
    size_t count = 0;
    for (uint32_t p = 0; p < round->cycle->snapshot->project_count; p++) {
        round->first[p] = count;
        if (holders->count[p] == 0 || !round->action->may_take_from(round->pool, workload, requested, p))
            continue;
        for (size_t i = 0; i < holders->count[p]; i++) {
            struct workload *victim = holders->workloads[holders->first[p] + i];
            if (victim != workload && holders_has(holders, victim) &&
                round->action->is_victim(round->cycle, round->pool, workload, victim))
                round->candidates[count++] = victim;
        }
    }
    round->first[round->cycle->snapshot->project_count] = count;
    return count;
}

// The projects that may lose all they hold to the workload; returns how many candidates that makes.
static size_t find_giving(struct round *round, struct workload *workload, struct amounts requested)
{
    const struct search_bounds *bounds = search_bounds_of(round->cycle, round->pool);
    size_t count = 0;
    for (uint32_t p = 0; p < round->cycle->snapshot->project_count; p++) {
        round->gives[p] =
            bounds->projects[p].victim_count > 0 && round->action->may_take_from(round->pool, workload, requested, p);
        count += round->gives[p] ? bounds->projects[p].victim_count : 0;
    }
    return count;
}

// The first workloads in the order of giving way, back in the order of names.
static size_t cap_candidates(struct round *round, size_t count, size_t most)
{
    if (count <= most)
        return count;
    struct cycle *cycle = round->cycle;
    struct arena arena;
    arena_init(&arena);
    struct walk walk;
    walk_open(&walk, cycle, round->pool, WALK_YIELD, round->candidates, count, SNAPSHOT_COUNT_UNLIMITED, &arena);
    bool *is_chosen = arena_array(&arena, cycle->snapshot->workload_count, sizeof(*is_chosen));
    for (size_t i = 0; i < most;) {
        struct workload *workload = walk_next(&walk);
        i += !is_chosen[workload->index];
        is_chosen[workload->index] = true;
    }
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_chosen[round->candidates[i]->index])
            round->candidates[left++] = round->candidates[i];
    }
    arena_done(&arena);
    return left;
}

static void note_cut(struct round *round, struct workload *workload, uint32_t scenario_count)
{
    struct cycle *cycle = round->cycle;
    if (cycle->cut_count == cycle->cut_capacity)
        cycle->cuts =
            arena_grow(cycle->arena, cycle->cuts, &cycle->cut_capacity, cycle->cut_count + 1, sizeof(*cycle->cuts));
    cycle->cuts[cycle->cut_count++] = (struct plan_search_cut){.action = cycle->action,
                                                               .node_pool = round->pool->index,
                                                               .workload = workload->index,
                                                               .scenario_count = scenario_count};
    workload->search = SEARCH_CUT;
    workload->scenario_count = scenario_count;
}

static void explain_left(struct round *round, struct workload *workload)
{
    struct arena *arena = round->cycle->arena;
    const char *action = scheduler_action_name(round->cycle->action);
    struct plan_explanation explanation = explain_blank(round->pool, EXPLANATION_SEARCH_CUT, NULL, RESOURCE_GPU);
    if (workload->search == SEARCH_CUT)
        explanation.message = arena_printf(arena, "The search for room by %s was cut after %u scenarios", action,
                                           workload->scenario_count);
    else if (workload->search == SEARCH_STANDS)
        explanation.message =
            arena_printf(arena, "The search for room by %s found none, and nothing has changed since", action);
    else
        explanation.message = arena_printf(
            arena, "Not looked at in this cycle: the search for room by %s comes to it in a later one", action);
    explain_add(round->cycle, round->pool, workload, explanation);
}

// Says so of those whose search is not over.
static void explain_all_left(struct round *round)
{
    for (size_t i = 0; i < round->waiting_count; i++) {
        struct workload *workload = round->waiting[i];
        if (workload->search == SEARCH_DONE)
            continue;
        workload->was_passed = true;
        if (!round->cycle->is_silent)
            explain_left(round, workload);
        workload->search = SEARCH_DONE;
    }
}

// The candidates of the workload's search, in the order of names.
static size_t list_candidates(struct round *round, struct workload *workload, struct amounts requested)
{
    const struct cycle *cycle = round->cycle;
    uint32_t most = cycle->snapshot->settings.max_consolidation_victims;
    bool is_capped = cycle->action == ACTION_CONSOLIDATION && most != SNAPSHOT_COUNT_UNLIMITED;
    // For whoever holds nothing the first to move are the same until something is decided.
    bool is_shared = is_capped && !cycle->is_plain && workload->counts.held == 0;
    if (is_shared && round->has_capped && round->capped_decision_count == cycle->journal->count) {
        memcpy(round->candidates, round->capped, round->capped_count * sizeof(*round->capped));
        return round->capped_count;
    }
    size_t count = find_candidates(round, workload, requested);
    if (is_capped)
        count = cap_candidates(round, count, most);
    if (is_shared) {
        memcpy(round->capped, round->candidates, count * sizeof(*round->capped));
        round->capped_count = count;
        round->capped_decision_count = cycle->journal->count;
        round->has_capped = true;
    }
    return count;
}

static void keep(struct round *round, struct search *search)
{
    struct cycle *cycle = round->cycle;
    struct statement_reasons reasons = {.beneficiary = search->workload->index,
                                        .evict = round->action->why,
                                        .rule = round->action->rule,
                                        .place = explain_placement,
                                        .context = search};
    statement_commit(cycle, round->pool->index, reasons);
    cycle->counts[cycle->action].workloads_placed++;
    round->waiting_count = unit_list_candidates(round->pool, round->waiting);
    serving_order_sort(&round->serving, cycle, round->waiting, round->waiting_count);
}

// The one before it in its project, where it asks for the same and nothing has changed: what became of its search would
// become of this one.
static const struct tried *find_alike(const struct round *round, struct workload *workload)
{
    const struct tried *before = &round->tried[workload->spec->project];
    if (round->cycle->is_plain || !before->workload || before->workload == workload ||
        before->decision_count != round->cycle->journal->count ||
        !search_bounds_are_alike(round->cycle, before->workload, workload))
        return NULL;
    if (round->cycle->action == ACTION_CONSOLIDATION &&
        reservation_would_hold(round->cycle, round->pool, before->workload) !=
            reservation_would_hold(round->cycle, round->pool, workload))
        return NULL;
    return before;
}

// Whether nothing can be found, without a search; sets how many candidates there are.
static bool is_hopeless(struct round *round, struct workload *workload, struct amounts requested,
                        size_t *out_candidates)
{
    const struct tried *alike = find_alike(round, workload);
    if (alike && alike->failed) {
        *out_candidates = alike->candidate_count;
        return true;
    }
    if (round->cycle->is_plain || !round->action->is_hopeless ||
        !round->action->is_hopeless(round->cycle, round->pool, workload, requested, out_candidates))
        return false;
    if (*out_candidates == SIZE_MAX)
        *out_candidates = list_candidates(round, workload, requested);
    return true;
}

static void try_one(struct round *round, struct workload *workload)
{
    struct cycle *cycle = round->cycle;
    uint32_t only = cycle->snapshot->searches_for;
    if (workload->lost_pod || workload->counts.pending == 0 || (only != SNAPSHOT_NONE && only != workload->index))
        return;
    struct tried *tried = &round->tried[workload->spec->project];
    if (!round->action->may_try(cycle, round->pool, workload)) {
        *tried = (struct tried){.workload = workload};
        workload->search = SEARCH_DONE;
        return;
    }
    if (!search_turn_allows(&round->turn, workload)) {
        if (!round->turn.is_thorough)
            workload->search = round->turn.is_done ? SEARCH_STANDS : SEARCH_PASSED;
        return;
    }
    const struct tried *alike = find_alike(round, workload);
    if (alike && alike->cut_steps >= round->turn.steps) {
        note_cut(round, workload, alike->workload->scenario_count);
        return;
    }
    workload->search = SEARCH_DONE;
    cycle->counts[cycle->action].workloads_tried++;
    struct amounts requested = unit_amounts(cycle, workload, round->pool->smallest_gpu_memory_mib);
    struct search search = {.cycle = cycle,
                            .pool = round->pool,
                            .workload = workload,
                            .candidates = round->candidates,
                            .waiting = round->waiting,
                            .waiting_count = round->waiting_count,
                            .is_lawful = round->action->is_lawful,
                            .may_lose = round->action->may_lose,
                            .most_lost = round->action->most_lost,
                            .context = &search_bounds_of(cycle, round->pool)->frozen,
                            .spares = round->action->spares,
                            .requested = requested};
    if (!cycle->is_plain && cycle->bounds->is_transitive)
        search.serving = &round->serving;
    bool found = false;
    if (!is_hopeless(round, workload, requested, &search.candidate_count)) {
        if (search.serving && round->action->takes_all && !cycle->has_min_run_time) {
            search.candidate_count = find_giving(round, workload, requested);
            search.gives = round->gives;
        } else if (search.serving && cycle->action != ACTION_CONSOLIDATION) {
            search.candidate_count = order_candidates(round, workload, requested);
            search.candidate_first = round->first;
        } else {
            search.candidate_count = list_candidates(round, workload, requested);
        }
        if (cycle->action == ACTION_CONSOLIDATION)
            reservation_hold(cycle, round->pool, workload);
        found = search_run(&search);
        reservation_release(cycle, round->pool);
    }
    bool was_cut = search.was_cut || search.sparing_was_cut;
    *tried = (struct tried){.workload = workload,
                            .failed = !found && !was_cut,
                            .cut_steps = search_turn_cut_at(&round->turn, !found && was_cut),
                            .decision_count = cycle->journal->count,
                            .candidate_count = search.candidate_count};
    if (found)
        keep(round, &search);
    else if (was_cut)
        note_cut(round, workload, search.scenario_count);
    else if (round->action->explain_nobody && !cycle->is_silent)
        round->action->explain_nobody(&search);
    if (!found && search.was_cut)
        search_turn_note_cut(&round->turn);
    search_done(&search);
}

// Once round everybody who waits, from where the cycle before stopped.
static void run_turn(struct round *round)
{
    struct cycle *cycle = round->cycle;
    struct search_turn *turn = &round->turn;
    struct walk walk;
    walk_open(&walk, cycle, round->pool, WALK_SERVE, round->waiting, round->waiting_count,
              cycle->snapshot->settings.depth[cycle->action], cycle->scratch);
    for (struct workload *workload = walk_next(&walk); workload; workload = walk_next(&walk)) {
        if (search_turn_comes_to(turn, workload))
            try_one(round, workload);
    }
    search_turn_comes_back(turn);
    for (size_t i = 0; i < turn->later_count; i++) {
        if (search_turn_comes_to(turn, turn->later[i]))
            try_one(round, turn->later[i]);
    }
    search_turn_close(turn);
}

void evictions_run(struct cycle *cycle, struct pool *pool, const struct eviction_action *action)
{
    size_t workload_count = cycle->snapshot->workload_count;
    struct round round = {.cycle = cycle, .pool = pool, .action = action};
    round.waiting = arena_array(cycle->scratch, pool->waiting_count, sizeof(*round.waiting));
    round.waiting_count = unit_list_candidates(pool, round.waiting);
    search_turn_open(&round.turn, cycle, pool, round.waiting_count);
    if (round.waiting_count == 0)
        return;
    round.serving = serving_order_make(cycle, pool->waiting_count);
    serving_order_sort(&round.serving, cycle, round.waiting, round.waiting_count);
    round.candidates = arena_array(cycle->scratch, workload_count, sizeof(*round.candidates));
    round.capped = arena_array(cycle->scratch, workload_count, sizeof(*round.capped));
    round.first = arena_array(cycle->scratch, cycle->snapshot->project_count + 1, sizeof(*round.first));
    round.gives = arena_array(cycle->scratch, cycle->snapshot->project_count, sizeof(*round.gives));
    round.tried = arena_array(cycle->scratch, cycle->snapshot->project_count, sizeof(*round.tried));
    do
        run_turn(&round);
    while (search_turn_deepens(&round.turn));
    explain_all_left(&round);
}
