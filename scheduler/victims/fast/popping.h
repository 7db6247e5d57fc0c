// Units in the order of giving way, gone through by every probe and generator of a search.
//
// Nothing is decided during a search, so that each of them would take the same units. Where all that a project holds
// may go, its units are known from searches before (yielding.h), and only the projects are put in order; else all is
// taken from the walk. docs/scheduler.md, 6.5.
#pragma once
#include "scheduler/order/queue_walk.h"
#include "scheduler/victims/fast/yielding.h"
struct arena;
struct search;

struct popping_project {
    uint32_t index;
    size_t next; // its first unit that has not gone
    const struct yielding_unit *unit;
    struct queue_key key;
};

struct popping_department {
    struct queue *queue;
    struct popping_project *projects;
    size_t count;
    struct amounts popped;
    struct popping_project *best; // NULL: nobody is left
    struct queue_key key;
};

struct popping {
    struct search *search;
    struct walk walk; // of all candidates; or
    struct popping_department *departments;
    size_t department_count;
    struct popping_department *last; // the one that gave way last
    size_t certain;                  // so many more units of its best project follow
    const struct popped_unit **units;
    size_t count;
    size_t capacity;
    uint32_t *pods; // of all units of the walk
    uint32_t *nodes;
    size_t pod_count;
    struct arena *arena;
};

// Units of the walk count as taken until popping_close.
void popping_open(struct popping *popping, struct search *search, struct arena *arena);
// The unit at the position, at most one behind those taken so far; NULL: nobody is left.
const struct popped_unit *popping_at(struct popping *popping, size_t position);
void popping_close(struct popping *popping);
