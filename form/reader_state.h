// What every file that reads a part of a snapshot knows: bounds, and the document so far.
#pragma once
#include "scheduler/snapshot.h"

struct arena;

// Bounds that keep every sum inside 64 bits and every array inside memory.
#define READER_COUNT_MAXIMUM INT64_C(1000000000)
#define READER_INTEGER_MAXIMUM INT64_C(1000000000000000000)
#define READER_SECONDS_MAXIMUM INT64_C(10000000000)
#define READER_MIB_MAXIMUM INT64_C(1000000000)
#define READER_BYTES_MAXIMUM (INT64_C(1) << 53)
#define READER_ALL_BYTES_MAXIMUM (UINT64_C(1) << 61) // of all nodes, of all pods
#define READER_CORES_MAXIMUM INT64_C(100000000)
#define READER_GPUS_MAXIMUM INT64_C(1000000)       // of a quota
#define READER_DEVICES_MAXIMUM INT64_C(65535)      // of a node, or of a request
#define READER_ALL_GPUS_MAXIMUM UINT64_C(16777216) // devices of all nodes
#define READER_EXTENDED_MAXIMUM INT64_C(1000000)
#define READER_WEIGHT_MAXIMUM INT64_C(1000000000)
#define READER_GPU_HOURS_MAXIMUM INT64_C(1000000000000)
#define READER_RATIO_MAXIMUM INT64_C(1000000)   // of kValue and usage
#define READER_QUEUES_MAXIMUM UINT64_C(4000000) // projects or departments, in every node pool

#define READER_LEVELS_MAXIMUM 16 // of a topology, and of sub-groups inside each other
#define READER_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct reader {
    struct arena *arena;
    struct snapshot *snapshot;                   // what is read so far, sorted
    struct snapshot_workload *workload;          // whose pods are being read
    bool *sub_group_is_set;                      // [workload->sub_group_count]: has sub-groups of its own
    struct snapshot_extended_resource *extended; // [snapshot->extended_resource_count]
};
