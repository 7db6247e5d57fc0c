// Which ports a distributed workload gets.
#pragma once
#include "backends/local/specification/ports.h"

struct local_pods;

// The workload's, if one of its pods has some; else `count` in a row that no other pod has and nothing listens on.
// O(pods x ports tried), and a socket per port that is tried. Where nothing is free: some.
struct ports ports_choose(const struct local_pods *pods, const char *workload_uuid, int64_t count);
