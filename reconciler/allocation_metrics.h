// What queues and nodes have and hold in the latest cycle, for Prometheus: by our names, and by those that Run:ai
// documents (docs/metrics.md), whose labels and units they keep. Of workloads and pods nothing: their number has no
// bound.
#pragma once

struct buffer;
struct reconciler_view;

// 10 to 14 series for a project and node pool, and 3 for a project; a walk over the pods for the nodes.
void allocation_metrics_write(const struct reconciler_view *view, struct buffer *out);
