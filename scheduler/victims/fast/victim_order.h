// Units in the order of giving way, gone through by every probe and generator of a search.
//
// Nothing is decided during a search, so that each of them would take the same units. Where all that a project holds
// may go, its units are known from searches before (project_units.h), and only the projects are put in order; else all
// is taken from the walk. docs/scheduler.md, 6.5.
#pragma once
#include "scheduler/order/queue_walk.h"
#include "scheduler/victims/fast/project_units.h"
struct arena;
struct search;

struct victim_order_project {
    uint32_t index;
    size_t next; // its first unit that has not gone
    const struct project_unit *unit;
    struct queue_key key;
};

struct victim_order_department {
    struct queue *queue;
    struct victim_order_project *projects;
    size_t count;
    struct amounts popped;
    struct victim_order_project *best; // NULL: nobody is left
    struct queue_key key;
};

struct victim_order {
    struct search *search;
    struct walk walk; // of all candidates; or
    struct victim_order_department *departments;
    size_t department_count;
    struct victim_order_department *last; // the one that gave way last
    size_t certain;                       // so many more units of its best project follow
    const struct popped_unit **units;
    size_t count;
    size_t capacity;
    uint32_t *pods; // of all units of the walk
    uint32_t *nodes;
    size_t pod_count;
    struct arena *arena;
};

// Units of the walk count as taken until victim_order_close.
void victim_order_open(struct victim_order *order, struct search *search, struct arena *arena);
// The unit at the position, at most one behind those taken so far; NULL: nobody is left.
const struct popped_unit *victim_order_at(struct victim_order *order, size_t position);
void victim_order_close(struct victim_order *order);
