// Priority classes: seven names of today with their numbers, and the names of old versions that are taken for them.
// From 100 up a workload is not preemptible, unless it says otherwise.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    PRIORITY_NON_PREEMPTIBLE_FROM = 100
};

struct priority_class {
    const char *name;
    int64_t value;
    const char *id; // uuid, fixed
};

extern const struct priority_class PRIORITY_CLASSES[]; // by value
extern const size_t PRIORITY_CLASS_COUNT;

// By its name or an older one; NULL where there is none.
const struct priority_class *priority_find(const char *name);
// By its id, in any case; NULL where there is none.
const struct priority_class *priority_find_id(const char *id);
