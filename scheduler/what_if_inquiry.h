// One question while it is being answered: changes tried one after the other, each by a cycle of its own. Internal;
// what_if.h is the face.
#pragma once
#include "base/arena.h"
#include "scheduler/what_if_answer.h"

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

// Plans the question with a change (NULL: none). trial and what it points to are arena's.
int what_if_try(struct what_if_inquiry *inquiry, const struct what_if_change *change, struct arena *arena,
                struct what_if_trial *out_trial, struct error *err);
// The changes that would start it, each tried: answer->fixes.
int what_if_find_fixes(struct what_if_inquiry *inquiry, struct what_if_answer *answer, struct error *err);
