// The wall clock was set back: moments that were written by the old clock and lie in the future now would hold things
// up until they come again.
#pragma once
#include "reconciler/turn/turn.h"

// They count as of now.
void clock_set_back(struct turn *turn);
