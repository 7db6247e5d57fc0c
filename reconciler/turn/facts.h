// What the backend reports, turned into changes of pods.
#pragma once
#include "reconciler/turn/turn.h"

void facts_take(struct turn *turn, const struct backend_fact *facts, size_t count);
// Pods whose node is not in the cluster any more are lost with it.
void facts_lose_pods_without_node(struct turn *turn);
