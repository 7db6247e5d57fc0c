// The nodes that a trace is replayed on: a CSV file (docs/replay.md), or a number of equal ones written as 140x8.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct error;

#define NODES_POOL "default"          // all nodes stand in one node pool: a trace's jobs name none
#define NODES_POOL_LABEL "pool"       // the label with the file's column of that name
#define NODES_MODEL_LABEL "gpu-model" // the label that gpu_models of jobs are matched with
#define NODES_GPU_MEMORY_MIB 100000   // of every device: traces state parts of devices, so only their ratio counts

struct nodes {
    const struct snapshot_node *nodes; // by name, in node pool 0
    size_t count;
    int64_t gpu_milli; // devices of all nodes
};

// `file` is a path, or COUNTxGPUS: COUNT nodes of GPUS devices, with 1,000 cores and 16 TiB each, which bind nobody.
int nodes_read_file(const char *file, struct arena *arena, struct nodes *out_nodes, struct error *err);
