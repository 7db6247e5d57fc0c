// Units in the order of giving way, taken from the walk once and gone through by every probe and generator of a search.
//
// Nothing is decided during a search, so that each of them would take the same units. docs/scheduler.md, 6.5.
#pragma once
#include "scheduler/queue_walk.h"
struct arena;
struct search;

struct popped_unit {
    struct workload *workload;
    const uint32_t *pods;
    uint32_t count;
    struct amounts amounts;
};

struct popping {
    struct search *search;
    struct walk walk;
    struct popped_unit *units;
    size_t count;
    uint32_t *pods; // of all units
    size_t pod_count;
};

// Every unit's pods count as taken until popping_close.
void popping_open(struct popping *popping, struct search *search, struct arena *arena);
// The unit at the position, at most one behind those taken so far; NULL: nobody is left.
const struct popped_unit *popping_at(struct popping *popping, size_t position);
void popping_close(struct popping *popping);
