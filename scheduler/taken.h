// The victims that a success of a search really took: who was put back is none of them. docs/scheduler.md, 5.
#pragma once
#include "scheduler/search.h"

// Takes the search's solution back, and finds whom it took, for the next probe.
struct scenario taken_back(struct search *search, size_t checkpoint);
// Whether the solution that stands took all of its victims, in the order in which they were: once more it would end the
// same.
bool taken_is_all(const struct search *search);
