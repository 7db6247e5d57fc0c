// A plan turned into changes of pods and workloads.
#pragma once
#include "reconciler/turn/turn.h"
#include "reconciler/world/snapshot_build.h"

void carry_out(struct turn *turn, const struct live_snapshot *live, const struct plan *plan);
// What an eviction costs, and for whom; before the pod is told to stop.
void receipt_add(struct turn *turn, const struct live_snapshot *live, const struct plan_decision *decision);
// The texts of why workloads wait: pendingSchedulingMessages and the explanation, where they are not what was written
// last.
void explain_all(struct turn *turn, const struct live_snapshot *live, const struct plan *plan);
