// The victims that a success of a search really took: who was put back is none of them. docs/scheduler.md, 6.7.
#pragma once
#include "scheduler/victims/search_state.h"

// Whether no gang that stood whole is left in part by the scenario, which was simulated since the checkpoint.
bool taken_leaves_gangs_whole(struct search *search, const struct scenario *scenario, size_t checkpoint);
// Takes the search's solution back, and finds whom it took, for the next probe.
struct scenario taken_back(struct search *search, size_t checkpoint);
// Whether the solution that stands took all of its victims, in the order in which they were: once more it would end the
// same.
bool taken_is_all(const struct search *search);
