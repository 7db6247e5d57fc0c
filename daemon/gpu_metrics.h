// What GPUs do, for Prometheus. Each answer reads the latest samples: three statements, two look-ups for each node and
// for each device. So there is an upper bound: the first nodes by name, and devices only where all of them are few.
#pragma once

struct buffer;
struct db;

enum {
    GPU_METRICS_NODES_MAX = 1000,
    GPU_METRICS_DEVICES_MAX = 512 // of a cluster with more none is told
};

// Where they cannot be read there are none.
void gpu_metrics_write(struct db *db, struct buffer *out);
