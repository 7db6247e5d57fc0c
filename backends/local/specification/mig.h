// MIG instances of this machine's GPUs: which pod has which. A GPU that is divided into instances is no device of its
// own; the scheduler counts instances by profile, and here each pod gets as many of those that no other has.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;

enum {
    MIG_INSTANCES_MAX = 64
};

struct mig_instance {
    const char *uuid;     // what CUDA_VISIBLE_DEVICES takes
    const char *resource; // nvidia.com/mig-1g.10gb
};

// Their UUIDs, with commas; "" where there are none.
const char *mig_list(const struct mig_instance *all, size_t count, uint64_t instances, struct arena *arena);
// The instances of such a list.
uint64_t mig_find(const struct mig_instance *all, size_t count, const char *list);
// How many there are of each profile, as JSON: {"nvidia.com/mig-1g.10gb": 7}.
const char *mig_count_json(const struct mig_instance *instances, size_t count, struct arena *arena);
