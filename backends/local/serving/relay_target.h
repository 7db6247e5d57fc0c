// A port of this machine at which a replica listens.
#pragma once
#include <stdint.h>

struct relay_target {
    uint16_t port;
    int64_t user; // nobody but he, or root, is taken for the replica; -1: anybody is
};
