// Nodes by how many GPUs are free on them: finds the fullest that still has room without looking at all.
//
// For a pool that packs, and requests for whole devices: a bit for each node in the row of its number of free devices
// (idle and releasing), and in the rows up to its number of idle ones. A row is gone through word by word, so that the
// first node found is the one with least free, and of equal ones the first by name, as the scores of placement.c say.
#pragma once
#include "scheduler/state/cycle.h"

enum {
    ROOMS_MOST_GPUS = 32 // a pool with a larger node has none
};

struct rooms {
    size_t words; // of a row
    uint32_t most_gpus;
    uint64_t *free;             // rows 0 to most_gpus
    uint64_t *idle;             // rows 0 to most_gpus: at least so many are idle
    uint8_t *free_of, *idle_of; // by position in the pool
};

// NULL where the pool cannot have them. Made when first asked for, kept up to date by rooms_note.
struct rooms *rooms_of(struct cycle *cycle, const struct pool *pool);
// What is free on the node has changed.
void rooms_note(struct cycle *cycle, const struct node *node);

// Nodes with `free` free devices and at least min_idle idle ones, 64 at a time: those of a word of the pool's
// positions.
static inline uint64_t rooms_word(const struct rooms *rooms, uint32_t free, uint32_t min_idle, size_t word)
{
    return rooms->free[free * rooms->words + word] & rooms->idle[min_idle * rooms->words + word];
}
