// What pods hold, by project, department and node pool; and how busy what they hold is, as far as somebody measures it.
#pragma once
#include "reconciler/world/cache.h"

// Of devices that are held: those that somebody measures, and how busy they are.
struct held_use {
    int64_t measured_milli;
    double busy_milli;                            // measured, times how busy
    int64_t memory_held_bytes, memory_used_bytes; // of devices' memory: what is held and measured; what of it is used
};

// What is held of each resource in a queue; [0] all, [1] by what is not preemptible.
struct held {
    struct amounts of[2];
    struct held_use use;
};

bool held_is_measured(const struct cache_pod *pod);
// From 0 to 1; 0 where nobody measures it.
double held_busy_of(const struct cache_pod *pod);
// Whether somebody measures the devices' memory that it uses.
bool held_memory_is_measured(const struct cache_pod *pod);
void held_use_add(struct held_use *use, const struct cache_pod *pod);
// Percent of what is held; NAN where nobody measures any of it.
double held_use_percent(const struct held_use *use);
void held_use_sum(struct held_use *sum, const struct held_use *use);
// The same of the memory.
double held_memory_percent(const struct held_use *use);
// Of each project and pool, then (out) of each department and pool; both the arena's.
struct held *held_count(const struct cache *cache, struct arena *arena, struct held **out_departments);
