// Nodes that a person empties: what may be preempted leaves them, or everything where the person insists, and waits for
// a place elsewhere. A gang leaves whole: a part of it could not go on. The order stands with the node until somebody
// takes it back, so that a restart goes on with it, and is carried out once a pod: what leaves does not come back,
// because nothing new is placed there.
#pragma once
#include "reconciler/turn/turn.h"

// Before planning. Without such a node it costs a look at each node.
void drains_carry_out(struct turn *turn);
