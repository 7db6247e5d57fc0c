// Turns of searches for victims that go on from cycle to cycle: scheduler/actions/search_turn.h. They are forgotten
// with the process: then everybody is looked at from the beginning.
#pragma once
#include "base/arena.h"
#include "scheduler/plan.h"

struct searches {
    struct arena arena;
    struct snapshot_search_turn *turns; // in its memory, names too
    size_t turn_count;
    uint32_t cycle;
    int64_t world_due_ms; // until then, what is unchanged leads to no other plan but by turns that go on
};

void searches_init(struct searches *searches);
void searches_done(struct searches *searches);
// Where they go on, in the snapshot, and how long a cycle searches (0: as long as it takes); memory is the arena's.
// has_changed: anything but they themselves has.
void searches_put(const struct searches *searches, int64_t budget_ms, bool has_changed, struct arena *arena,
                  struct snapshot *snapshot);
// Keeps those that the plan leaves; whether there are any. world_due_ms: when the plan would have to be made again
// anyway.
bool searches_take(struct searches *searches, const struct plan *plan, int64_t world_due_ms);
