// The search for victims that reclaim, preemption and consolidation share.
//
// Victims are taken unit by unit in the order in which queues and workloads give way. From those taken so far a
// generator makes scenarios (node by node, then over several nodes); a scenario is tried on the live state: its victims
// are evicted, then everybody is served in the ordinary order, so that victims for whom there is room get it back. The
// first scenario that places the pending unit lawfully is kept. A gang is searched for with more and more of its pods,
// what was found for fewer staying evicted. After KAI's solver; docs/scheduler.md, 6.4 to 6.8.
#pragma once
#include "scheduler/victims/search_state.h"

// Finds a way to place the workload's next unit and leaves it done in the open statement: true, solution is set. False:
// nothing is changed. search has its members up to context set and the rest zero; search_done frees what it took.
bool search_run(struct search *search);
void search_done(struct search *search);

// Simulates one scenario; true: it is lawful and stands in the open statement.
bool search_try(struct search *search, const struct scenario *scenario);
// The search's budgets allow no more.
bool search_is_over(struct search *search);
