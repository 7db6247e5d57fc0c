// Generators of scenarios: which of the victims taken so far are tried together. docs/scheduler.md, 6.6.
#pragma once
#include "scheduler/victims/search_state.h"

// A generator's run over the victims for the search's pending_count: true once a scenario stands.
typedef bool (*scenario_generator)(struct search *search);
bool scenarios_by_node(struct search *search);
bool scenarios_over_nodes(struct search *search);
