// Cycles over a snapshot in memory: plan, let the cluster obey, plan again. Time stands still, and the cluster does at
// once what the plan says, or takes its time to stop pods.
#pragma once
#include "base/arena.h"
#include "scheduler/plan.h"
#include "scheduler/snapshot.h"

struct error;

struct simulation {
    struct snapshot snapshot; // as the next cycle will see it
    struct arena arenas[2];   // of this snapshot's changes and its plan; of the next one's
    unsigned turn;
};

// What does not change in cycles stays the caller's; it has to outlive the simulation.
void simulation_init(struct simulation *simulation, const struct snapshot *snapshot);
void simulation_done(struct simulation *simulation);

// Plans one cycle over simulation->snapshot. The plan lives until the next simulation_advance.
int simulation_plan(struct simulation *simulation, struct plan **out_plan, struct error *err);
// The same decisions without words: no sentences, explanations, evidence and receipts. scratch is cleared.
int simulation_decide(struct simulation *simulation, struct arena *scratch, struct plan **out_plan, struct error *err);
// The same without any action: where pods and nodes stand now.
int simulation_look(struct simulation *simulation, struct plan **out_plan, struct error *err);
// The cluster obeys the plan that simulation_plan made last: what is Binding is Running; what is Releasing is Pending
// and off its node, unless its workload is being deleted; what is Pipelined is Pending, and its promise is kept.
void simulation_advance(struct simulation *simulation, const struct plan *plan);
// As a real cluster does it, in two steps: what is Binding is Running; what is evicted holds its place, Releasing, and
// what was promised waits for it. Then all that is Releasing is off its node: Pending, or Succeeded where its workload
// is being deleted. False: nothing was. After simulation_tell alone.
void simulation_tell(struct simulation *simulation, const struct plan *plan);
bool simulation_release(struct simulation *simulation);
