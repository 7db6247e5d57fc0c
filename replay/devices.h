// What is free on each node, device by device, as the running pods leave it: kept apart from the scheduler's own
// account and compared with it at each start, so that no device is ever given twice; and how much of it is of use to
// the jobs of the trace.
//
// Fragmentation is the measure of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC 2023), section 4: for a node and a pod, the node's free GPUs that the pod
// could not use: all of them where it does not fit there, else those devices with less free than it asks of one. The
// mean over the pods of the trace that ask for GPUs, summed over the nodes, is how much is expected to be of no use.
#pragma once
#include "scheduler/snapshot.h"

struct arena;
struct error;
struct trace;

enum {
    DEVICES_SHAPES_MAXIMUM = 256 // the most frequent ones count
};

struct device_node {
    int64_t *free_milli; // by device
    uint32_t count;
    int64_t free_cpu_milli;
    int64_t free_memory_bytes;
    int64_t fragmented; // free thousandths times pods
};

struct devices {
    const struct snapshot_node *specs;
    struct device_node *nodes;
    size_t node_count;
    const struct trace *trace;
    uint32_t *shapes; // that count for fragmentation
    size_t shape_count;
    uint64_t weight; // pods of these shapes
    int64_t capacity_milli;
    int64_t free_milli;
    __int128 fragmented; // the sum of the nodes'
};

void devices_init(struct devices *devices, const struct snapshot_node *nodes, size_t count, const struct trace *trace,
                  struct arena *arena);
// A pod of this shape starts on the node with these devices. ERROR_INTERNAL where one of them has not that much left.
int devices_take(struct devices *devices, uint32_t node, uint32_t shape, const uint32_t *indices, size_t index_count,
                 struct error *err);
void devices_give_back(struct devices *devices, uint32_t node, uint32_t shape, const uint32_t *indices,
                       size_t index_count);
// How many thousandths of a GPU are free and expected to be of no use.
int64_t devices_fragmented_milli(const struct devices *devices);
