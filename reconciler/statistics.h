// Keeps what SQLite's planner knows of the tables near to what they hold: at a start, whenever workloads have doubled,
// and once a day. A small database needs none: any plan is a good one there.
#pragma once
#include <stdint.h>

struct db;

struct statistics {
    int64_t due_ms;     // of the next look
    int64_t workloads;  // when they were renewed last; 0: not since the start
    int64_t renewed_ms; // likewise
};

// One look, where one is due. What fails is logged, and tried again a minute later.
void statistics_step(struct statistics *statistics, struct db *db, int64_t now_ms);
