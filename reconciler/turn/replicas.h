// The replicas of inferences: the right number, of the present specification, each in the place of one that ended.
// A changed specification rolls: a replica of the new one comes first, then one of the old goes; where there is no room
// for both, an old one gives way after a while.
#pragma once
#include "reconciler/turn/turn.h"

// Whether its pods are counted here.
bool replicas_are_of(const struct cache_workload *workload);
// What is to be done for one that should run: readings, the number wanted, pods that come and go.
void replicas_attend(struct turn *turn, struct cache_workload *workload);
// Replicas of an older specification that still hold a place.
int64_t replicas_of_before(const struct cache_workload *workload);
// After all have been attended to: which pages are read, and which addresses the backend holds.
void replicas_hand_over(struct turn *turn);
