// Past usage for time-based fair share (docs/scheduler.md, 2.6, 2.7): what each project and department held so far,
// over what the cluster had in the same time, with older time counting less where a half life is set.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct cluster;
struct nodes;
struct trace;

// Amounts held, and their sums over time: weighted by 0.5 ^ (age / half life).
struct usage_of {
    double held[RESOURCE_COUNT];
    double sum[RESOURCE_COUNT];
};

struct usage {
    int64_t half_life_ms; // 0: nothing is forgotten
    int64_t now_ms;
    struct usage_of *projects;
    size_t project_count;
    struct usage_of *departments;
    size_t department_count;
    struct usage_of capacity;
};

void usage_init(struct usage *usage, const struct trace *trace, int64_t half_life_ms, const struct nodes *nodes,
                int64_t now_ms, struct arena *arena);
// A job starts (1) or stops (-1), now.
void usage_change(struct usage *usage, const struct trace *trace, uint32_t job, int change);
// Time passes with everything as it is.
void usage_pass(struct usage *usage, int64_t now_ms);
// Puts the shares into the cluster's queues.
void usage_write(const struct usage *usage, const struct trace *trace, struct cluster *cluster);
