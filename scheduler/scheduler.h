// The scheduling core: a pure function from a snapshot to a plan. See docs/scheduler.md for the rules.
#pragma once
#include "scheduler/plan.h"
#include "scheduler/snapshot.h"
struct arena;
struct error;

enum {
    SCHEDULER_STEPS_PER_MS = 40000 // that searches for victims take on an ordinary processor: one is 20 to 25 ns
};

// Plans one cycle. Plan and scratch memory are arena's; the plan points into the snapshot too. Same snapshot, same
// plan. Knows no clock, thread, file or global: many may run at once on arenas of their own. Fails with ERROR_INVALID
// where the snapshot contradicts itself (an index out of range, names out of order, a negative amount); the message
// says where.
int scheduler_plan(const struct snapshot *snapshot, struct arena *arena, struct plan **out_plan, struct error *err);

// For a caller that plans often.
struct scheduler_options {
    struct arena *scratch; // memory that the plan does not need: may be cleared as soon as it is made. NULL: the plan's
    bool decisions_only;   // no sentences, no explanations, no evidence and receipts: why is "" everywhere
    bool plain_search;     // nothing is left out of a search for victims because its end is certain: for tests
};

int scheduler_plan_with(const struct snapshot *snapshot, const struct scheduler_options *options, struct arena *arena,
                        struct plan **out_plan, struct error *err);

// Inside: plans an opened cycle, every pool and every action. Once for each cycle.
struct cycle;
struct plan *scheduler_run(struct cycle *cycle);
// Instead of it: only as far as somebody may be tried for a place in the pool for the first time. Leaves out the
// searches for victims behind that, which cost most of a cycle.
void scheduler_run_to_last_try(struct cycle *cycle, uint32_t node_pool);
