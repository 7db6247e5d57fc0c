// How an inference serves: its port, where a replica shows its metrics, and between which bounds replicas are kept.
// Read from a specification by model/inference_spec.h; kept beside the workload (workloads.serving_json), together with
// what a replica asks for, because replicas are made long after the submission and after changes of it.
#pragma once
#include "model/pod.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;

enum {
    SERVING_PORT_DEFAULT = 8080,
    SERVING_SERVICE_PORT = 80, // of the Service that stands for an inference in a cluster
    SERVING_REPLICAS_MAX = 1000,
    SERVING_PERCENTAGE_DEFAULT = 70,
    SERVING_WAIT_SECONDS_DEFAULT = 600,
};

struct serving {
    const char *address;  // where it answers, HOST:PORT; NULL: it has none that is real
    int64_t port;         // that the command listens on, as it sees it
    const char *protocol; // http, grpc
    int64_t min_replicas, max_replicas;
    int64_t initial_replicas;    // at the start, and while nothing is measured
    int64_t activation_replicas; // at the first connection after there were none
    const char *metric;          // what replicas are counted by; NULL: they are not
    double target;               // of the metric, for one replica: the threshold and its percentage
    int64_t retention_ms;        // without a connection, before the last replica goes
    int64_t scale_down_delay_ms;
    int64_t wait_ms;       // the longest that who connects waits for a replica
    int64_t page_port;     // where its metrics are; 0: at its port
    const char *page_path; // "/metrics"
    struct pod_request replica;
};

// Whether the number of replicas may change by itself.
bool serving_scales(const struct serving *serving);
// As text to keep; the arena's.
const char *serving_text(const struct serving *serving, struct arena *arena);
// False where the text is NULL, or is not what serving_text wrote. Texts are the arena's.
bool serving_parse(const char *text, struct arena *arena, struct serving *out);
