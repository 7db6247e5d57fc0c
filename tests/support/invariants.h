// What must hold of every plan, whatever the cluster: checked from the snapshot and the plan alone, with sums of its
// own. Inputs that are wrong already (a node that holds more than it has, a queue over a limit that was lowered) are
// good inputs: what is wrong may stay, and no decision may make it worse.
#pragma once
#include "scheduler/plan.h"
#include "scheduler/snapshot.h"

struct breach {
    const char *rule; // NULL: everything holds; static text
    char subject[256];
    int cycle;
};

// The first rule that the plan breaks, if any; before is the same snapshot looked at without any action.
bool invariants_hold(const struct snapshot *snapshot, const struct plan *before, const struct plan *plan,
                     struct breach *out_breach);
