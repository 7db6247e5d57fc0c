// Ports of distributed workloads: their pods are processes of one machine, and must not take each other's.
#pragma once
#include <stdint.h>

struct local_pods;

struct ports {
    int64_t first, count; // count 0: none
    char workload_uuid[37];
};

// The workload's, if one of its pods has some; else `count` in a row that no other pod has and nothing listens on.
// O(pods x ports tried), and a socket per port that is tried. Where nothing is free: some.
struct ports ports_choose(const struct local_pods *pods, const char *workload_uuid, int64_t count);
