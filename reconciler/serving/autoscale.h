// How many replicas an inference should have: a pure decision over what was measured.
// The load is the metric summed over the replicas that show it (of latency, the mean times their number), so that
// ceil(load / target) replicas have the target each; Knative's autoscaler and Kubernetes' HPA count alike. More come as
// soon as the mean of the last readings asks for them; fewer only when nothing in the whole window asked for more.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct serving; // model/serving.h

enum {
    AUTOSCALE_SHORT = 3,    // readings whose mean asks for more; also how long it rests after each change
    AUTOSCALE_WINDOW = 12,  // readings that must ask for fewer, where scaleDownDelaySeconds does not say more
    AUTOSCALE_BUCKETS = 64, // the window's parts: the highest of each is kept
};

// What was seen of one inference; blank when the server starts.
struct autoscale_memory {
    double recent[AUTOSCALE_SHORT]; // loads, the latest last
    int recent_count;
    int64_t bucket_ms[AUTOSCALE_BUCKETS]; // begin; 0: empty
    int64_t bucket_replicas[AUTOSCALE_BUCKETS];
    int64_t since_ms; // of the first reading of an unbroken row; 0: there was none
    int64_t changed_ms;
};

struct autoscale_reading {
    bool has_load; // some replica shows the metric
    double load;
    bool is_idle;        // nobody has called for the time of retention, and nobody waits
    bool has_caller;     // somebody waits for a replica
    int64_t interval_ms; // between readings
    int64_t now_ms;
};

enum autoscale_cause {
    AUTOSCALE_NONE,
    AUTOSCALE_BOUNDS, // they were moved
    AUTOSCALE_MORE,   // of load
    AUTOSCALE_LESS,
    AUTOSCALE_TO_ZERO,
    AUTOSCALE_FROM_ZERO
};

struct autoscale_answer {
    int64_t replicas;
    enum autoscale_cause cause;
    double load; // that it was decided by
};

// Takes a reading into memory and answers. replicas: the present number. Steps: at most twice as many, at most half of
// them away; never beyond the bounds.
struct autoscale_answer autoscale_decide(const struct serving *serving, struct autoscale_memory *memory,
                                         int64_t replicas, const struct autoscale_reading *reading);
