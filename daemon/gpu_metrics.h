// What GPUs do, for Prometheus. Each answer reads the latest samples: three statements, two look-ups for each node and
// for each device. So there is an upper bound (base/prometheus.h). By our names, and by those that Run:ai documents.
#pragma once

struct buffer;
struct db;

// cluster: the id that Run:ai's names have as a label. Where figures cannot be read there are none.
void gpu_metrics_write(struct db *db, const char *cluster, struct buffer *out);
