#include "reconciler/searches.h"

#include "scheduler/scheduler.h"

static void copy_turn(struct snapshot_search_turn *turn, struct arena *arena)
{
    turn->node_pool = arena_strdup(arena, turn->node_pool);
    turn->next = turn->next ? arena_strdup(arena, turn->next) : NULL;
    turn->first = turn->first ? arena_strdup(arena, turn->first) : NULL;
}

static struct snapshot_search_turn *copy_turns(const struct snapshot_search_turn *from, size_t count,
                                               struct arena *arena)
{
    struct snapshot_search_turn *turns = arena_array(arena, count, sizeof(*turns));
    for (size_t i = 0; i < count; i++) {
        turns[i] = from[i];
        copy_turn(&turns[i], arena);
    }
    return turns;
}

void searches_init(struct searches *searches)
{
    *searches = (struct searches){.world_due_ms = INT64_MAX};
    arena_init(&searches->arena);
}

void searches_done(struct searches *searches)
{
    arena_done(&searches->arena);
}

void searches_put(const struct searches *searches, int64_t budget_ms, bool has_changed, struct arena *arena,
                  struct snapshot *snapshot)
{
    if (budget_ms > 0)
        snapshot->settings.search_steps = budget_ms * SCHEDULER_STEPS_PER_MS;
    struct snapshot_search_turn *turns = copy_turns(searches->turns, searches->turn_count, arena);
    for (size_t i = 0; i < searches->turn_count; i++)
        turns[i].has_changed = turns[i].has_changed || has_changed;
    snapshot->search_turns = turns;
    snapshot->search_turn_count = searches->turn_count;
    snapshot->search_cycle = searches->cycle;
}

bool searches_take(struct searches *searches, const struct plan *plan, int64_t world_due_ms)
{
    searches->world_due_ms = world_due_ms;
    arena_clear(&searches->arena);
    searches->turns = copy_turns(plan->search_turns, plan->search_turn_count, &searches->arena);
    searches->turn_count = plan->search_turn_count;
    searches->cycle = plan->search_cycle;
    return plan->search_turn_count > 0;
}
