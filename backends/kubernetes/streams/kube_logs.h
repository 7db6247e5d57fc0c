// A pod's log, read by the API server from its node: backend_ops.logs of a cluster.
#pragma once
#include "backends/backend.h"

struct kube_access;

struct kube_log_source {
    struct kube_access *access;
    const char *namespace, *name; // of the pod as the cluster knows it
    bool is_over;                 // it has ended: no line will come that is not there now
};

// Appends lines from request->position on, as backend_ops.logs says; positions are those of kube_log_lines.h. Waits for
// the API server, 30 s at most. A pod that has not started has no lines; one that is gone has none any more, and has
// ended. Where something was read before, a server that is away means that there is nothing new: who follows goes on.
// ERROR_UNAVAILABLE: its node or the server is away; ERROR_FORBIDDEN: we may not read logs.
int kube_logs_read(const struct kube_log_source *source, const struct backend_log_request *request, struct buffer *out,
                   int64_t *out_position, bool *out_ended, struct error *err);
