// A workload as it is submitted: what the request says, checked and completed with defaults, and the numbers that
// follow from it (model/workload_spec.h reads the specification). db/workloads.h stores it.
#pragma once
#include "model/facts.h"
#include "model/pod.h"
#include "model/serving.h"
#include "model/sub_groups.h"
#include "model/workload_type.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORKLOAD_PODS_MAX = 10000,
    WORKLOAD_AFTER_MAX = 64
};

// Another workload of the project that is to end first.
struct workload_after {
    const char *name;
    const char *wanted; // how it is to end: ok, any, failed
};

// What follows from the specification.
struct workload_spec {
    enum workload_type type;
    const char *category;
    const char *priority_class; // one of the seven names of today
    int64_t priority;
    bool is_preemptible;
    const char *framework;         // distributed: PyTorch, MPI, ...; "" else
    const char *const *node_pools; // as asked, in order
    size_t node_pool_count;        // 0: the project's default
    struct pod_request worker;
    struct pod_request master;
    bool has_master;
    int64_t worker_count;             // workers, or pods of a training at once
    int64_t pods_wanted;              // with the master
    int64_t min_pods;                 // the gang
    int64_t min_workers, max_workers; // elastic; 0: not given
    struct sub_groups sub_groups;     // and the topology that the whole is to stand in
    const char *sub_groups_json;      // the same as the row keeps it; NULL: neither
    int64_t parallelism, completions;
    int64_t backoff_limit;
    int64_t grace_period_ms;
    int64_t auto_delete_ms;
    bool is_terminated_after_preemption;
    int64_t start_at_ms;                // joins the queue then; 0: at once
    const struct workload_after *after; // joins it when these have ended
    size_t after_count;
    struct serving serving;       // of an inference
    const char *gpu_request_type; // portion, memory; NULL: whole devices
    int64_t gpu_milli; // sums over pods_wanted; what an amount of GPU memory comes to is known on the node: 0 here
    int64_t cpu_milli;
    int64_t memory_bytes;
};

struct submission {
    const char *uuid;
    const char *name;
    const char *requested_name;
    int64_t project_id;
    const char *created_by;
    const char *machine_user; // of this machine, who submitted it himself: NAME:NUMBER; NULL: nobody did
    int64_t now_ms;
    const struct workload_spec *spec;
    const char *spec_json;
    const char *master_spec_json; // NULL: none of its own
    const char *node_pools_json;  // NULL: none asked for
    const char *serving_json;     // of an inference; NULL: it is none
    const char *listing_json;
    const char *waits_for; // as the fact of that name; NULL: nothing
    const char *note;      // what is done otherwise than it asks; NULL: nothing
    int64_t time_limit_ms; // 0: none
    int64_t idle_limit_ms;
    const char *time_limit_scope; // whose: "project team-a"; NULL: nobody's
    const char *idle_limit_scope;
};

// What the row of a submission says from the start: what is stored and what what-if asks about are both made from it,
// so that a member is in both or in neither. Texts stay the submission's.
struct workload_facts submission_facts(const struct submission *submission);
// The same of one of its pods, which waits; the name is the caller's.
struct pod_facts submission_pod_facts(const struct pod_request *request, const char *name, int64_t index,
                                      int64_t attempt);
