// A timeline as it was read, and how it is told.
#pragma once
#include "api/scheduling/timeline_blocks.h"
#include "db/timeline.h"

struct json_writer;

enum {
    TIMELINE_NODE_SLOTS = 4096 // a power of two
};

enum {
    FIGURE_ALLOCATED,
    FIGURE_READY,
    FIGURE_WAITING,
    FIGURE_COUNT
};

struct node_slot {
    size_t lane;
    struct node_slot *next;
};

// A project or workload that blocks name by its place in the list, which is by id.
struct named {
    int64_t id;
    int64_t place_id; // one that it holds
};

struct named_list {
    struct named *rows;
    size_t count;
};

struct timeline_pool {
    const char *name;
    int64_t node_count, gpu_count;
};

struct timeline {
    struct arena *arena;
    struct timeline_query query;
    struct scope_filter nodes, workloads;
    int64_t now_ms;
    int64_t parts;
    int64_t held_since_ms;
    enum timeline_by by;
    bool is_auto;                // by is chosen by the number of nodes
    struct timeline_lane *lanes; // nodes
    size_t lane_count, lane_capacity;
    struct node_slot *slots[TIMELINE_NODE_SLOTS];
    struct timeline_pool *pools; // by name; nodes that have gone are in one without a name
    size_t pool_count;
    struct timeline_place *places;
    size_t place_count, place_capacity;
    struct timeline_blocks merged;
    struct held_name *names;
    size_t name_count;
    struct timeline_eviction *evictions;
    const char **eviction_pools; // of the node of each; NULL: it has gone
    size_t eviction_count;
    size_t point_count;
    double *points[FIGURE_COUNT];
    struct named_list projects, named_workloads; // that blocks name
};

// "nodes", "pools", "projects". Static text.
const char *timeline_by_text(enum timeline_by by);

// Writes the answer, one object. What was read must be in the timeline.
void timeline_write(struct timeline *timeline, struct json_writer *json);
