// What projects and departments have used of a node pool in a window of the past, for time-based fair share
// (docs/scheduler.md, 2.6 and 2.7): usage = sum of allocation over sum of capacity, both over the same window and with
// the same weights, which halve with each half-life.
//
// The recorded time series are read once, when a pool's setting comes into force; from then on allocation and capacity
// are added up as they change, in some five hundred buckets a window. The figures are renewed each minute. With it goes
// what people have used of projects that are fair among them.
#pragma once
#include "reconciler/world/id_map.h"
#include "reconciler/world/people_usage.h"
#include "reconciler/world/world.h"

struct db;
struct error;

struct usage_pool;

struct past_usage {
    struct usage_pool *pools; // those with time-based fair share
    size_t pool_count;
    uint64_t world;       // number of the world whose settings these are
    int64_t refreshed_ms; // 0: never
    struct people_usage people;
};

void past_usage_init(struct past_usage *usage);
void past_usage_done(struct past_usage *usage);

// Takes settings over from the world, and renews the figures where their minute is over. *out_changed: a figure is
// another than before. Reads the database only for a pool that is new here.
int past_usage_refresh(struct past_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                       bool *out_changed, struct error *err);
// When the figures are to be renewed; INT64_MAX where nobody asks for them.
int64_t past_usage_due_ms(const struct past_usage *usage);
// What is held from now on: project (department) i's amounts in pool p stand at [i * pool_count + p].
void past_usage_hold(struct past_usage *usage, const struct world *world, const struct amounts *projects,
                     const struct amounts *departments, int64_t now_ms);
// Puts the figures into the snapshot, whose queues are the world's; copies are the arena's.
void past_usage_apply(const struct past_usage *usage, const struct world *world, struct snapshot *snapshot,
                      struct arena *arena);
