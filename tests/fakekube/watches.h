// Watches: a stream of lines, one event each, until the time is up, the client goes, or a fault ends it.
#pragma once
#include "tests/fakekube/call.h"

// Serves the whole watch on this thread; takes and gives back the store's lock. A refusal is answered as usual.
int watch_serve(struct call *call);
