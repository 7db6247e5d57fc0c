// What is due is spared: the first of a reclaim's two searches passes over units without which their project, or a
// department above it that is not also above the reclaimer, would hold less than its due. docs/scheduler.md, 6.12.
#pragma once
#include "scheduler/victims/search_state.h"

struct popped_unit;

// One probe's countdown from what queues held when the search began.
struct sparing {
    struct search *search;
    bool is_within; // the reclaimer's project stays within its quota, so that theirs is due to others, else their share
    struct amounts *projects; // what is left of them
    struct amounts *departments;
    int64_t *passed; // by project: the lowest priority passed over; INT64_MAX: none
};

// Recorded victims count as gone. Memory is the search's probe arena.
struct sparing sparing_make(struct search *search);
// Whether the unit may be taken, and then counts as gone; else it is passed over, and the search knows it.
bool sparing_takes(struct sparing *sparing, const struct popped_unit *unit);
