#include "scheduler/actions/search_turn.h"

#include "base/arena.h"

#include <string.h>

enum {
    QUICK_PART = 160, // of a cycle's steps each search of a quick turn may take one part of so many
    DEEPER = 8        // times as many in the next thorough turn
};

static const struct workload *find_workload(const struct cycle *cycle, const char *name)
{
    size_t low = 0, high = cycle->snapshot->workload_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(cycle->snapshot->workloads[middle].name, name);
        if (order == 0)
            return &cycle->workloads[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct snapshot_search_turn *find_kept(const struct search_turn *turn)
{
    const struct cycle *cycle = turn->cycle;
    for (size_t i = 0; i < cycle->snapshot->search_turn_count; i++) {
        const struct snapshot_search_turn *kept = &cycle->snapshot->search_turns[i];
        if (kept->action == cycle->action && kept->preference == cycle->preference &&
            kept->is_thorough == turn->is_thorough && strcmp(kept->node_pool, turn->pool->spec->name) == 0)
            return kept;
    }
    return NULL;
}

static bool is_bounded(const struct search_turn *turn)
{
    return turn->cycle->snapshot->settings.search_steps != SNAPSHOT_STEPS_UNLIMITED;
}

// What each search may take in the first turn.
static int64_t first_steps(const struct search_turn *turn)
{
    int64_t steps = turn->cycle->snapshot->settings.search_steps / QUICK_PART;
    if (!is_bounded(turn))
        return SNAPSHOT_STEPS_UNLIMITED;
    return turn->is_thorough ? (steps + 1) * DEEPER : steps + 1;
}

// No search may take more: then the thorough turns of a cycle have no other.
static int64_t most_steps(const struct search_turn *turn)
{
    return turn->cycle->snapshot->settings.search_steps / 2 + 1;
}

// Goes on where the cycle before stopped.
static void go_on(struct search_turn *turn)
{
    const struct snapshot_search_turn *kept = find_kept(turn);
    turn->steps = first_steps(turn);
    if (!kept)
        return;
    turn->was_kept = true;
    turn->is_done = turn->is_over = !kept->next && !kept->has_changed;
    if (!kept->next)
        return;
    turn->next = find_workload(turn->cycle, kept->next);
    turn->first = kept->first ? find_workload(turn->cycle, kept->first) : NULL;
    turn->was_cut = kept->was_cut;
    turn->has_changed = kept->has_changed;
    if (turn->is_thorough && kept->steps > turn->steps)
        turn->steps = kept->steps < most_steps(turn) ? kept->steps : most_steps(turn);
}

// The steps of a cycle: half of them for quick turns, which share them, half for thorough ones.
void search_turn_open(struct search_turn *turn, struct cycle *cycle, const struct pool *pool, size_t waiting_count)
{
    struct search_budget *budget = &cycle->search_budget;
    *turn = (struct search_turn){.cycle = cycle, .pool = pool};
    turn->later = arena_array(cycle->scratch, waiting_count, sizeof(*turn->later));
    go_on(turn);
    budget->end = SNAPSHOT_STEPS_UNLIMITED;
    if (is_bounded(turn)) {
        int64_t steps = cycle->snapshot->settings.search_steps;
        int64_t left = steps / 2 - budget->spared - (budget->taken - budget->taken_thoroughly);
        budget->end = budget->taken + (left > 0 ? left / (int64_t)(budget->turn_count - budget->turn) : 0);
    }
    budget->turn++;
    if (turn->is_done) // what it would have had is for the thorough one
        budget->spared += budget->end - budget->taken;
    turn->taken_before = budget->taken;
}

bool search_turn_deepens(struct search_turn *turn)
{
    struct cycle *cycle = turn->cycle;
    struct search_budget *budget = &cycle->search_budget;
    struct search_turn deep = {.cycle = cycle, .pool = turn->pool, .is_thorough = true, .later = turn->later};
    if (!is_bounded(turn) || turn->is_thorough || !(turn->was_cut || find_kept(&deep)))
        return false;
    go_on(&deep);
    int64_t left = cycle->snapshot->settings.search_steps / 2 + budget->spared - budget->taken_thoroughly;
    // They come first by turns, for one may take all.
    bool has_steps = budget->turn > cycle->snapshot->search_cycle % budget->turn_count && left > 0;
    budget->end = budget->taken + (has_steps ? left : 0);
    *turn = deep;
    turn->taken_before = budget->taken;
    return true;
}

// Once round, the turn is over.
static void come_to(struct search_turn *turn, const struct workload *workload)
{
    if (workload == turn->first) {
        turn->first_has_come = true;
        turn->is_over = turn->is_over || turn->opened;
    }
    if (!turn->opened)
        turn->opened = workload;
}

bool search_turn_comes_to(struct search_turn *turn, struct workload *workload)
{
    if (turn->next && workload != turn->next) {
        turn->later[turn->later_count++] = workload;
        return false;
    }
    turn->next = NULL;
    come_to(turn, workload);
    return true;
}

void search_turn_comes_back(struct search_turn *turn)
{
    turn->next = NULL;
}

bool search_turn_allows(struct search_turn *turn, const struct workload *workload)
{
    struct search_budget *budget = &turn->cycle->search_budget;
    if (!turn->is_over && budget->taken >= budget->end) {
        turn->is_over = true;
        turn->goes_on = workload;
    }
    budget->allowed = budget->end - budget->taken < turn->steps ? budget->end : budget->taken + turn->steps;
    return !turn->is_over;
}

int64_t search_turn_cut_at(const struct search_turn *turn, bool was_cut)
{
    const struct search_budget *budget = &turn->cycle->search_budget;
    return was_cut && is_bounded(turn) && budget->allowed < budget->end && budget->taken >= budget->allowed
               ? turn->steps
               : 0;
}

void search_turn_note_cut(struct search_turn *turn)
{
    turn->was_cut = true;
    if (!is_bounded(turn))
        turn->is_over = true;
}

static void keep_turn(const struct search_turn *turn, struct snapshot_search_turn kept)
{
    struct cycle *cycle = turn->cycle;
    kept.action = cycle->action;
    kept.node_pool = turn->pool->spec->name;
    kept.preference = cycle->preference;
    kept.is_thorough = turn->is_thorough;
    if (cycle->turn_count == cycle->turn_capacity)
        cycle->turns =
            arena_grow(cycle->arena, cycle->turns, &cycle->turn_capacity, cycle->turn_count + 1, sizeof(*cycle->turns));
    cycle->turns[cycle->turn_count++] = kept;
}

static void close_bounded(const struct search_turn *turn)
{
    struct cycle *cycle = turn->cycle;
    // Who began the turn may wait no longer: then it ends where this cycle began.
    const struct workload *first = turn->first_has_come ? turn->first : turn->opened;
    struct snapshot_search_turn kept = {.first = first ? first->spec->name : NULL,
                                        .steps = turn->steps,
                                        .was_cut = turn->was_cut,
                                        .has_changed = turn->has_changed};
    bool is_deeper = turn->is_thorough && turn->was_cut && turn->steps < most_steps(turn);
    if (turn->goes_on) {
        kept.next = turn->goes_on->spec->name;
    } else if (first && (turn->has_changed || is_deeper)) {
        kept.next = kept.first;
        kept.steps = is_deeper ? turn->steps * DEEPER : first_steps(turn);
        kept.was_cut = kept.has_changed = false;
    }
    if (kept.next || !turn->is_thorough)
        keep_turn(turn, kept);
    cycle->turns_go_on = cycle->turns_go_on || kept.next;
}

void search_turn_close(struct search_turn *turn)
{
    struct search_budget *budget = &turn->cycle->search_budget;
    if (turn->is_thorough)
        budget->taken_thoroughly += budget->taken - turn->taken_before;
    if (is_bounded(turn))
        close_bounded(turn);
}
