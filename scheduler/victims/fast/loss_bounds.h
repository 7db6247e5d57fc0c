// How many GPUs a scenario takes from each side at most: what the fairness test looks at before it is simulated.
//
// A side is what the fairness test takes from: another project of the reclaimer's department, or another department.
#pragma once
#include "scheduler/state/cycle.h"
struct arena;

struct loss {
    int64_t milli;         // of all its victims
    int64_t largest_milli; // of what may be taken at once, at most
    int64_t grain_milli;   // whatever may be taken at once is a multiple of it; 0: nothing is taken
};

struct loss_side {
    struct queue *queue;
    struct loss loss;
};

// The largest amount of which both are multiples; of nothing and another it is the other.
int64_t loss_grain(int64_t a_milli, int64_t b_milli);

struct loss_bounds {
    struct loss_side *sides;
    size_t count;
    int64_t shared_count; // shared devices that some victim stands on
    uint32_t *project_at; // position + 1 of the project's side; 0: none
    uint32_t *department_at;
};

void loss_bounds_open(struct loss_bounds *losses, const struct cycle *cycle, const struct pool *pool,
                      struct arena *arena);
void loss_bounds_add(struct loss_bounds *losses, struct queue *side, struct loss loss);
// Becomes what `from` is.
void loss_bounds_reset(struct loss_bounds *losses, const struct loss_bounds *from);
