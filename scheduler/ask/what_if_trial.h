// One question while it is being answered: changes tried one after the other, each by a cycle of its own. Internal;
// what_if.h is the face.
#pragma once
#include "base/arena.h"
#include "scheduler/ask/what_if.h"

// A question that has been planned: the copy, its plan, and where the workload stands in it.
struct what_if_trial {
    const struct snapshot *snapshot; // the copy
    const struct plan *plan;
    uint32_t workload;
    bool is_new; // it was put in: workloads behind it have moved up by one
};

enum {
    WHAT_IF_TIMES_MAXIMUM = 6 // at which a start is tried
};

struct what_if_inquiry {
    const struct snapshot *snapshot;
    const struct what_if_question *question;
    struct arena *arena;  // of the answer
    struct arena scratch; // of one trial
    uint32_t plan_count;
    uint64_t fix_scenarios;            // simulated for changes
    const struct what_if_trial *asked; // the question as it was asked, planned
    const struct what_if_answer *answer;
};

// Plans the snapshot and counts it; the plan is arena's.
int what_if_plan(struct what_if_inquiry *inquiry, const struct snapshot *snapshot, struct arena *arena,
                 const struct plan **out_plan, struct error *err);
// Plans the question with a change (NULL: none). trial and what it points to are arena's.
int what_if_try(struct what_if_inquiry *inquiry, const struct what_if_change *change, struct arena *arena,
                struct what_if_trial *out_trial, struct error *err);
