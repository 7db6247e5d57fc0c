// Nodes that the backend finds: rows follow them, and which devices count as withheld follows what our pods hold.
#pragma once
#include "reconciler/turn/turn.h"

// Asks the backend where it says that there is something new.
void machines_take(struct turn *turn, const struct backend_fact *facts, size_t count);
// After pods have given up their places: of a node whose withheld devices they held, others are withheld now.
void machines_settle(struct turn *turn);
