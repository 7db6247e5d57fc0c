// What each person has used of a project that is fair among people (docs/scheduler.md, 3.6): GPU hours, which halve
// with each half-life. The allocations of the past are read once, when the project's setting comes into force; from
// then on what is held is added up. The figures are renewed each minute.
#pragma once
#include "reconciler/world/cache.h"

struct db;
struct error;

struct person_use;
struct fair_project;

struct people_usage {
    struct fair_project *projects; // those that are fair, in the world's order
    size_t project_count;
    struct person_use *people; // by project and name
    size_t count, capacity;
    uint64_t world;       // number of the world whose settings these are
    int64_t refreshed_ms; // 0: never
};

void people_usage_done(struct people_usage *usage);

// Takes settings over from the world, and renews the figures where their minute is over; *out_changed is set where a
// figure is another than before, and left as it is otherwise. Reads the database only for a project that is new here.
int people_usage_refresh(struct people_usage *usage, const struct world *world, struct db *db, int64_t now_ms,
                         bool *out_changed, struct error *err);
// When the figures are to be renewed; INT64_MAX where no project asks for them.
int64_t people_usage_due_ms(const struct people_usage *usage);
// What is held from now on.
void people_usage_hold(struct people_usage *usage, const struct cache *cache, int64_t now_ms);
// Puts the figures into the snapshot, whose projects are the world's; copies are the arena's.
void people_usage_apply(const struct people_usage *usage, const struct world *world, struct snapshot *snapshot,
                        struct arena *arena);

// The average weight of a stretch of the past at a later time: each moment counts 0.5 ^ (age / half-life).
double half_life_weight(int64_t half_life_ms, int64_t now_ms, int64_t from_ms, int64_t to_ms);
// What an amount that is held from one time to another comes to at a later one, in amount times hours so
// weighted.
double people_usage_of(double amount, int64_t from_ms, int64_t to_ms, int64_t now_ms, int64_t half_life_ms);
