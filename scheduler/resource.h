// The three resources that quota, limits and fair shares are counted in, each in its own exact integer unit.
// GPUs in thousandths of a device, CPU in thousandths of a core, memory in bytes. An amount without a bound (an
// unlimited quota or limit) is QUANTITY_UNLIMITED and compares as infinity; it is never added to anything.
#pragma once
#include "base/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MILLI_PER_DEVICE INT64_C(1000)

enum resource {
    RESOURCE_GPU,    // thousandths of a device
    RESOURCE_CPU,    // thousandths of a core
    RESOURCE_MEMORY, // bytes
    RESOURCE_COUNT
};

// One amount per resource: amounts.of[RESOURCE_GPU].
struct amounts {
    int64_t of[RESOURCE_COUNT];
};
