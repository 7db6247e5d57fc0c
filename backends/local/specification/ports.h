// Ports of distributed workloads: their pods are processes of one machine, and must not take each other's.
#pragma once
#include <stdint.h>

struct ports {
    int64_t first, count; // count 0: none
    char workload_uuid[37];
};
