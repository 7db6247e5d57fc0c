#include "scheduler/evictions.h"

#include "scheduler/allocate.h"
#include "scheduler/explain.h"
#include "scheduler/fairness.h"
#include "scheduler/unit.h"

#include <stdlib.h>

struct round {
    struct cycle *cycle;
    struct pool *pool;
    const struct eviction_action *action;
    struct workload **waiting; // counted again only after a commit: nothing else changes who waits
    size_t waiting_count;
    struct workload **candidates;
};

// Workloads that still hold preemptible pods in the pool; running ones and those promised a place in this cycle.
static size_t find_candidates(struct round *round, struct workload *workload, struct amounts requested)
{
    size_t count = 0;
    for (size_t i = 0; i < round->pool->holder_count; i++) {
        struct workload *victim = round->pool->holders[i];
        if (victim != workload && victim->spec->preemptible && victim->counts.held > 0 &&
            victim->home == round->pool->index &&
            round->action->is_victim(round->cycle, round->pool, workload, requested, victim))
            round->candidates[count++] = victim;
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
    bool *is_chosen = arena_array(&arena, cycle->snapshot->workload_count, sizeof *is_chosen);
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

static void note_cut(struct round *round, const struct search *search)
{
    struct cycle *cycle = round->cycle;
    if (cycle->cut_count == cycle->cut_capacity)
        cycle->cuts =
            arena_grow(cycle->arena, cycle->cuts, &cycle->cut_capacity, cycle->cut_count + 1, sizeof *cycle->cuts);
    cycle->cuts[cycle->cut_count++] = (struct plan_search_cut){.action = cycle->action,
                                                               .node_pool = round->pool->index,
                                                               .workload = search->workload->index,
                                                               .scenario_count = search->scenario_count};
    struct plan_explanation explanation = explain_blank(round->pool, EXPLANATION_SEARCH_CUT, NULL, RESOURCE_GPU);
    explanation.message = arena_printf(cycle->arena, "The search for room by %s was cut after %u scenarios",
                                       scheduler_action_name(cycle->action), search->scenario_count);
    explain_add(cycle, round->pool, search->workload, explanation);
}

// True where the whole action is over for this cycle.
static bool try_one(struct round *round, struct workload *workload)
{
    struct cycle *cycle = round->cycle;
    if (workload->lost_pod || workload->counts.pending == 0 || !round->action->may_try(cycle, round->pool, workload))
        return false;
    cycle->counts[cycle->action].workloads_tried++;
    const struct amounts requested = unit_amounts(cycle, workload, round->pool->smallest_gpu_memory_mib);
    size_t count = find_candidates(round, workload, requested);
    if (cycle->action == ACTION_CONSOLIDATION &&
        cycle->snapshot->settings.max_consolidation_victims != SNAPSHOT_COUNT_UNLIMITED)
        count = cap_candidates(round, count, cycle->snapshot->settings.max_consolidation_victims);
    const struct frozen_queues frozen =
        cycle->action == ACTION_RECLAIM ? fairness_freeze(cycle, round->pool) : (struct frozen_queues){0};
    struct search search = {.cycle = cycle,
                            .pool = round->pool,
                            .workload = workload,
                            .candidates = round->candidates,
                            .candidate_count = count,
                            .waiting = round->waiting,
                            .waiting_count = round->waiting_count,
                            .is_lawful = round->action->is_lawful,
                            .context = &frozen};
    const bool found = search_run(&search);
    const bool was_cut = search.was_cut;
    if (found) {
        struct statement_reasons reasons = {.beneficiary = workload->index,
                                            .evict = round->action->why,
                                            .rule = round->action->rule,
                                            .place = explain_placement,
                                            .context = &search};
        statement_commit(cycle, round->pool->index, reasons);
        cycle->counts[cycle->action].workloads_placed++;
        round->waiting_count = allocate_candidates(round->pool, round->waiting);
    } else if (was_cut) {
        note_cut(round, &search);
    } else if (round->action->explain_nobody) {
        round->action->explain_nobody(&search);
    }
    search_done(&search);
    return !found && was_cut;
}

void evictions_run(struct cycle *cycle, struct pool *pool, const struct eviction_action *action)
{
    const size_t workload_count = cycle->snapshot->workload_count;
    struct round round = {.cycle = cycle, .pool = pool, .action = action};
    round.waiting = arena_array(cycle->arena, pool->waiting_count, sizeof *round.waiting);
    round.waiting_count = allocate_candidates(pool, round.waiting);
    if (round.waiting_count == 0)
        return;
    round.candidates = arena_array(cycle->arena, workload_count, sizeof *round.candidates);
    struct walk walk;
    walk_open(&walk, cycle, pool, WALK_SERVE, round.waiting, round.waiting_count,
              cycle->snapshot->settings.depth[cycle->action], cycle->arena);
    for (struct workload *workload = walk_next(&walk); workload; workload = walk_next(&walk)) {
        if (try_one(&round, workload))
            return;
    }
}
