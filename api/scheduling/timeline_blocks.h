// The timeline's blocks: places that were held, merged until they fit the width and the answer.
//
// Of few nodes each device is told: what is narrower than a part of the period is merged with its neighbours on the
// same device. Of many nodes each node is told as shares: per part of the period the GPUs held on the mean, and whose.
// Of pools and projects each row is told so: what one project held of a pool, or in all. Where that gives too many
// blocks the parts get longer by a quarter, until they fit.
#pragma once
#include "db/timeline.h"

struct arena;

enum {
    TIMELINE_DEVICE_LANES = 16, // with more nodes, shares are told instead of devices
    TIMELINE_POOL_ROWS = 24     // projects that a pool's lane tells apart; the others are one row
};

enum timeline_by {
    TIMELINE_BY_NODES,
    TIMELINE_BY_POOLS,    // a lane is a pool, with a row for each project
    TIMELINE_BY_PROJECTS, // a lane is a project; timeline_merge numbers them
    TIMELINE_BY_COUNT
};

struct timeline_place {
    struct held_place held; // its node is not set; ended_ms is at most the period's end or now
    size_t lane;            // a node's, or a pool's
};

struct timeline_block {
    size_t lane;
    int64_t from_ms, to_ms;
    uint64_t devices;                   // 0: of shares
    int64_t gpu_milli;                  // held; of shares, on the mean
    int64_t count;                      // places in it
    int64_t failed, preempted;          // of those, that ended so within the period
    const struct timeline_place *only;  // the one whose it is; NULL: of several workloads
    const struct timeline_place *whose; // one of the project that it belongs to; NULL: of several projects
};

struct timeline_blocks {
    struct timeline_block *blocks; // by lane, from, devices; by pools, by lane, row and from
    size_t count;
    size_t lane_count; // by projects as many as hold something, else those that were given
    int64_t part_ms;   // what is shorter is merged
    bool has_devices;
};

// Places in the order of their starts; they must outlive the blocks. Parts: how many the period is divided into at
// first.
void timeline_merge(const struct timeline_query *query, enum timeline_by by, size_t lane_count,
                    const struct timeline_place *places, size_t place_count, int64_t parts, struct arena *arena,
                    struct timeline_blocks *out_blocks);
