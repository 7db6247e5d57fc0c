// Nodes by how many GPUs are free on them: finds the fullest that still has room without looking at all.
//
// For a pool that packs, and requests for whole devices: a bit for each node in the row of its number of free devices
// (idle and releasing), and in the rows up to its number of idle ones. A row is gone through word by word, so that the
// first node found is the one with least free, and of equal ones the first by name, as the scores of placement.c say.
#pragma once
#include "scheduler/state/cycle.h"

enum {
    FREE_GPU_INDEX_MOST = 32 // a pool with a larger node has none
};

struct free_gpu_index {
    size_t words; // of a row
    uint32_t most_gpus;
    uint64_t *free;             // rows 0 to most_gpus
    uint64_t *idle;             // rows 0 to most_gpus: at least so many are idle
    uint8_t *free_of, *idle_of; // by position in the pool
};

// NULL where the pool cannot have them. Made when first asked for, kept up to date by free_gpu_index_note.
struct free_gpu_index *free_gpu_index_of(struct cycle *cycle, const struct pool *pool);
// What is free on the node has changed.
void free_gpu_index_note(struct cycle *cycle, const struct node *node);

// Nodes with `free` free devices and at least min_idle idle ones, 64 at a time: those of a word of the pool's
// positions.
static inline uint64_t free_gpu_index_word(const struct free_gpu_index *index, uint32_t free, uint32_t min_idle,
                                           size_t word)
{
    return index->free[free * index->words + word] & index->idle[min_idle * index->words + word];
}
