// What would happen in the next cycle if a workload were submitted now, or asked for otherwise.
//
// The workload is put into a copy of the snapshot (which shares everything else) and a cycle is planned; the answer is
// read from the plan. Where it would wait, changes to it or to its quota are tried the same way, so that each
// suggestion has been run. docs/scheduler.md, 11.6.
#pragma once
#include "scheduler/plan.h"
struct arena;
struct error;

enum {
    WHAT_IF_PLANS_MAXIMUM = 44, // cycles that one question plans at most, fixes included
    WHAT_IF_FIXES_MAXIMUM = 4
};

enum what_if_verdict {
    WHAT_IF_STARTS,               // pods are bound in the next cycle
    WHAT_IF_STARTS_AFTER_RELEASE, // promised a place that is being released already
    WHAT_IF_STARTS_BY_EVICTION,   // promised a place that others give up for it
    WHAT_IF_WAITS
};

const char *what_if_verdict_name(enum what_if_verdict verdict); // "Starts", "StartsAfterRelease", ...

struct what_if_question {
    // A workload that is not in the snapshot, with its pods (pod_count of them, in the order of their names);
    // first_pod, and the pods' workload, are ignored. Its name and its pods' names must be new. NULL: one that is
    // there.
    const struct snapshot_workload *workload;
    const struct snapshot_pod *pods;
    uint32_t existing; // where workload is NULL: index into snapshot.workloads
    bool wants_fixes;
    // Scenarios that the trials of all changes together may simulate; 0: only the snapshot bounds them. A trial whose
    // search is cut is no fix.
    uint32_t fix_scenarios;
    // The plan of the snapshot itself, where the caller has it and the question is new; NULL: it is planned.
    const struct plan *before;
};

struct what_if_node {
    uint32_t node;
    int64_t gpu_milli;
    uint32_t pods;
};

// A workload that gives way; indices are those of the snapshot asked about.
struct what_if_displaced {
    uint32_t workload;
    uint32_t node_pool;
    int64_t gpu_milli;
    uint32_t pods;
    enum scheduler_action action;
    bool moved;           // every one of its pods has a new place in the same decision
    int64_t lost_ms;      // the longest run time that is lost
    const char *sentence; // names no workload but the one asked about
};

enum what_if_fix_kind {
    FIX_OTHER_NODE_POOL,
    FIX_OTHER_PREEMPTIBILITY,
    FIX_FEWER_GPUS, // of each pod
    FIX_FEWER_PODS,
    FIX_OTHER_PRIORITY,
    FIX_MORE_QUOTA,
    FIX_KIND_COUNT
};

const char *what_if_fix_kind_name(enum what_if_fix_kind kind); // "OtherNodePool", "FewerGpus", ...

// What is different; only the members of its kind mean something.
struct what_if_change {
    enum what_if_fix_kind kind;
    uint32_t node_pool;   // other node pool; of the quota
    bool preemptible;     // other preemptibility
    uint32_t gpu_devices; // fewer GPUs: of each pod that asks for more
    uint32_t pods;        // fewer pods: how many in all, which is also the gang
    int64_t priority;     // other priority
    // More quota, in GPUs of a project and its department; the quota and limit they would have.
    uint32_t project;
    uint32_t department;
    int64_t project_deserved;
    int64_t project_limit;
    int64_t department_deserved;
    int64_t department_limit;
    bool changes_project;
    bool changes_department;
};

struct what_if_fix {
    struct what_if_change change;
    const char *sentence; // what to do
    const char *price;    // what is given up
    const char *effect;   // what happens then
    enum what_if_verdict verdict;
    const struct what_if_displaced *displaced;
    size_t displaced_count;
};

struct what_if_answer {
    enum what_if_verdict verdict;
    const char *sentence;
    const char *reason;               // why nobody gives it; NULL
    uint32_t node_pool;               // SNAPSHOT_NONE where it waits
    const struct what_if_node *nodes; // by name
    size_t node_count;
    const struct what_if_displaced *displaced; // by name
    size_t displaced_count;
    const char *could_lose_to; // who could take it back; NULL where it waits
    struct plan_forecast forecast;
    const struct plan_explanation *explanations; // where it waits
    size_t explanation_count;
    // Its project and department in the pool where it starts, else the first it asks for: without it and with it.
    uint32_t queue_node_pool;
    uint32_t project;
    uint32_t department;
    struct plan_queue project_before, project_with;
    struct plan_queue department_before, department_with;
    const struct what_if_fix *fixes; // least loss first
    size_t fix_count;
    uint32_t plan_count; // cycles planned for this answer
};

// The answer lives in the arena and points into the snapshot. Costs one to WHAT_IF_PLANS_MAXIMUM cycles; scratch memory
// is given back in between. ERROR_CONFLICT where the name is taken; else fails like scheduler_plan.
int scheduler_what_if(const struct snapshot *snapshot, const struct what_if_question *question, struct arena *arena,
                      struct what_if_answer **out_answer, struct error *err);
// The snapshot with the question's workload put in, and changed where change is not NULL: a shallow copy in the arena
// whose plan is the answer. out_workload is its index there. What the tests apply to see that a fix holds.
int what_if_apply(const struct snapshot *snapshot, const struct what_if_question *question,
                  const struct what_if_change *change, struct arena *arena, struct snapshot **out_snapshot,
                  uint32_t *out_workload, struct error *err);
