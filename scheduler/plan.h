// The plan: what a cycle decided, why, and the numbers behind it.
//
// Lives in the arena given to scheduler_plan and points into the snapshot. Arrays that mirror the snapshot's are in its
// order and have its counts. Texts are single sentences without a full stop at the end, for people; codes are for
// programs.
#pragma once
#include "scheduler/snapshot.h"
struct arena;

enum plan_verb {
    PLAN_EVICT,    // the pod is to be stopped; it holds its resources until it is gone
    PLAN_PIPELINE, // the pod is promised a node that has room once what is being released there is gone; nothing is
                   // carried out now but the promise
    PLAN_BIND,     // the pod is to be started on the node with these devices
    PLAN_WITHDRAW  // a promise made earlier in this cycle is taken back; no pod is stopped
};

const char *plan_verb_name(enum plan_verb verb); // "evict", "pipeline", "bind", "withdraw"

// The devices a decision or a pod's place stands for: indices on the node, in ascending order for whole devices; for a
// shared request one per group, in the order of groups.
struct plan_devices {
    const char *const *gpu_groups; // of shared requests only
    size_t gpu_group_count;
    const uint32_t *gpu_indices;
    size_t gpu_index_count;
};

// The rule under which a pod gives way.
enum eviction_rule {
    EVICTION_ABOVE_SHARE, // reclaim: its side holds more than its allocatable share
    EVICTION_OWED_QUOTA,  // reclaim: the beneficiary's side stays within its quota, its own holds more than its quota
    EVICTION_HIGHER_RANK, // reclaim: the beneficiary's side stays within its quota and ranks above its own
    EVICTION_HIGHER_PRIORITY, // preemption: the beneficiary is of the same project and of higher priority
    EVICTION_MOVED,           // it loses nothing but its place: it has another in the same decision
    EVICTION_STALE_GANG,      // its gang has lost pods below its minimum
    EVICTION_RULE_COUNT
};

const char *eviction_rule_name(enum eviction_rule rule); // "AboveShare", "OwedQuota", "HigherPriority", ...

// One side of an eviction: a project and its department in the decision's node pool, around the whole statement that
// the eviction is part of.
struct plan_receipt_queue {
    struct amounts deserved;
    struct amounts limit;
    struct amounts fair_share;
    struct amounts allocated_before;
    struct amounts allocated_after;
};

struct plan_receipt_side {
    uint32_t project;    // SNAPSHOT_NONE: there is no such side
    uint32_t department; // index into departments
    struct plan_receipt_queue project_queue;
    struct plan_receipt_queue department_queue; // blank with departments off
};

struct plan_receipt {
    enum eviction_rule rule;
    struct plan_receipt_side victim;
    struct plan_receipt_side beneficiary; // of the same project with preemption; none for a stale gang
};

struct plan_decision {
    enum scheduler_action action;
    enum plan_verb verb;
    uint32_t workload;
    uint32_t pod;  // index into snapshot.pods
    uint32_t node; // evict, withdraw: the node it leaves; pipeline, bind: the node it gets
    uint32_t node_pool;
    struct plan_devices devices; // on that node
    uint32_t beneficiary;        // the workload for whom a pod is evicted, moved or withdrawn; SNAPSHOT_NONE where none
    int64_t gpu_milli;           // what the pod counts against GPU quota there
    bool moved;      // the pod was evicted by this statement and has a new place: evict and pipeline stand in pairs
    int64_t lost_ms; // evict: run time since start that is lost; 0 where it had not started
    const char *why;
    uint32_t statement;                 // decisions with the same number were taken together; from 0
    const struct plan_receipt *receipt; // evict: never NULL; withdraw: NULL where nothing but a promise is lost
};

// A pod as the cycle leaves it.
struct plan_pod {
    enum snapshot_pod_status status;
    uint32_t node; // SNAPSHOT_NONE where it has none
    struct plan_devices devices;
};

// Why a workload is pending, or why a part of it is.
enum explanation_code {
    EXPLANATION_NOT_READY,                    // fewer pods exist than the gang needs, or pods are gated
    EXPLANATION_QUEUE_DOES_NOT_EXIST,         // the project has no place in the pool
    EXPLANATION_OVER_LIMIT,                   // would go over the limit of the project or department
    EXPLANATION_NON_PREEMPTIBLE_OVER_QUOTA,   // non-preemptible, and would go over the deserved quota
    EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED, // may not trigger an eviction yet
    EXPLANATION_NOT_ENOUGH_GPUS,              // no node or not enough nodes with the GPUs
    EXPLANATION_NOT_ENOUGH_CPU,
    EXPLANATION_NOT_ENOUGH_MEMORY,
    EXPLANATION_NOT_ENOUGH_EXTENDED,  // MIG instances or an extended resource
    EXPLANATION_TOO_MANY_PODS,        // the nodes' pod numbers are used up
    EXPLANATION_NO_MATCHING_NODE,     // selectors, affinity, taints, MIG strategy: no node may take it
    EXPLANATION_TOPOLOGY,             // no domain of the required level has room for all
    EXPLANATION_OVER_FAIR_SHARE,      // would have to reclaim, but is at its fair share
    EXPLANATION_NOTHING_TO_RECLAIM,   // within its share, but no set of victims makes room lawfully
    EXPLANATION_NOTHING_TO_PREEMPT,   // nothing of lower priority in its project makes room
    EXPLANATION_LOST_A_POD,           // lost a pod by a decision of this cycle: gets nothing more in it
    EXPLANATION_WAITING_FOR_RELEASE,  // has a promise: its place is still being released
    EXPLANATION_SEARCH_CUT,           // the search for victims was cut by its budget
    EXPLANATION_HELD_FOR_RESERVATION, // there is room, but it is reserved for a gang
    EXPLANATION_HAS_RESERVATION,      // is the gang for which room is reserved
    EXPLANATION_TOPOLOGY_OFF,         // the network of its node pool doesn't count: nodes lack labels of its levels
    EXPLANATION_OVER_PERSON_LIMIT,    // would go over what each person may have of the project
    EXPLANATION_OVER_BUDGET,          // would go beyond the project's quota, and a budget of GPU hours is used up
    EXPLANATION_CODE_COUNT
};

const char *explanation_code_name(enum explanation_code code); // "NotReady", "OverLimit", "NotEnoughGpus", ...

enum queue_kind {
    QUEUE_KIND_PROJECT,
    QUEUE_KIND_DEPARTMENT
};

const char *queue_kind_name(enum queue_kind kind); // "project", "department"

// How many nodes could not take the pod for one reason. The counts of an explanation sum to the nodes of the pool.
struct plan_node_reason {
    const char *reason; // "without enough free GPUs", "with a taint that is not tolerated"
    uint32_t node_count;
};

// Why a project gives nothing, or no more, to a workload that looked for victims.
enum evidence_code {
    EVIDENCE_WITHIN_QUOTA,      // holds no more than its deserved quota
    EVIDENCE_WITHIN_FAIR_SHARE, // holds no more than its share, and who waits would go over its own quota
    EVIDENCE_NON_PREEMPTIBLE,   // what it holds may not be stopped
    EVIDENCE_PROTECTED,         // has not run for its minimum run time yet
    EVIDENCE_HIGHER_PRIORITY,   // in the same project: nothing of lower priority
    EVIDENCE_TOPOLOGY_OR_NODE,  // could give way, but no lawful choice of it makes room where the pods may go
    EVIDENCE_CODE_COUNT
};

const char *evidence_code_name(enum evidence_code code); // "WithinQuota", "ProtectedByMinRunTime", ...

// What a project holds in the pool, and why it is not taken; amounts in the explanation's resource.
struct plan_evidence {
    uint32_t project;
    enum evidence_code code; // of the larger part of what it does not give
    int64_t held;
    int64_t reclaimable;        // of it, in workloads that could give way
    int64_t protected_until_ms; // when the first protection ends; SNAPSHOT_TIME_NONE
    int64_t ends_ms;            // when the first of it ends by a time limit; SNAPSHOT_TIME_NONE
    const char *sentence;
};

enum {
    PLAN_EVIDENCE_MAXIMUM = 8 // projects; those that hold most
};

struct plan_explanation {
    enum explanation_code code;
    const char *message;
    uint32_t node_pool; // where; SNAPSHOT_NONE where it is about no pool
    // The queue that blocks; queue is an index into projects or departments, SNAPSHOT_NONE where no queue blocks.
    enum queue_kind queue_kind;
    uint32_t queue;
    enum resource resource; // the first resource that is short, with these numbers of that queue:
    int64_t requested;
    int64_t deserved;
    int64_t limit;
    int64_t fair_share;
    int64_t allocated;
    int64_t allocated_non_preemptible;
    // The gang's progress: so many of so many pods found a place. 0 of 0 where it came to no placing.
    uint32_t pods_placed;
    uint32_t pods_needed;
    uint32_t sub_group; // the sub-group that failed; SNAPSHOT_NONE
    int64_t until_ms;   // when the delay or the protection of the first victim ends; SNAPSHOT_TIME_NONE
    const struct plan_node_reason *node_reasons;
    size_t node_reason_count;
    // NothingToReclaim, NothingToPreempt: who holds what in the pool and why it is not taken, largest first.
    const struct plan_evidence *evidence;
    size_t evidence_count;
    uint32_t evidence_more; // further projects that hold something
    // NotEnoughGpus: what is free in the pool, on how many nodes, and at most on one; and from when on time limits of
    // what runs leave room by themselves (SNAPSHOT_TIME_NONE: never).
    bool has_room;
    int64_t free_milli;
    int64_t most_milli;
    uint32_t free_nodes;
    int64_t room_ms;
    bool can_never_start; // no node of the pool has so much, be it empty, or no person of the project may have it
    // Pods that are not alike found no place in two orders, and the pool as a whole has enough: another might do.
    bool may_fit_otherwise;
};

// Whether the code says why nobody gives what another explanation says is lacking.
bool explanation_is_cause(enum explanation_code code);

// When a workload that waits will start, as far as that can be said.
enum forecast_kind {
    FORECAST_NOW,     // it starts
    FORECAST_DECIDED, // it has a place and waits for what stops there
    FORECAST_RULE,    // a rule's time stands in the way until at_ms
    FORECAST_UNKNOWN, // it depends on others
    FORECAST_NEVER    // not as asked, not even with the cluster to itself
};

const char *forecast_kind_name(enum forecast_kind kind); // "now", "decided", "rule", "unknown", "never"

struct plan_forecast {
    enum forecast_kind kind;
    int64_t at_ms;        // SNAPSHOT_TIME_NONE: no time can be told
    const char *sentence; // what it depends on and what could undo it
};

struct plan_workload {
    enum snapshot_pod_status status; // in a word: see scheduler.md, 11.1; Pending where its gang has no place
    uint32_t node_pool;              // where it holds or was promised a place; SNAPSHOT_NONE
    uint32_t promise;                // its place among the promises for the next cycle, from 0; SNAPSHOT_PROMISE_NONE
    bool bound_first;                // its first pods were bound in this cycle: its last start time is now
    bool was_displaced;              // lost a place or a promise: the caller counts it (displaced_count, displaced_ms)
    bool was_passed;                 // over by a search that had no steps left: see search_turns
    bool is_stale;                   // some gang minimum is lost: the caller keeps the time since (stale_ms)
    const struct plan_explanation *explanations; // of the pods that stay pending; pool by pool in the order tried
    size_t explanation_count;
};

// What the explanations of a workload that waits let one expect. Looks at nothing else; texts are static or the
// arena's.
struct plan_forecast plan_forecast_of(const struct plan_workload *workload, struct arena *arena);

// A project or department in one pool, in the end of the cycle.
struct plan_queue {
    struct amounts deserved;
    struct amounts limit;
    struct amounts fair_share;
    struct amounts allocated; // promised resources included, evicted ones not
    struct amounts allocated_non_preemptible;
    struct amounts requested; // allocated at the start and pending
};

struct plan_node {
    int64_t idle_gpus;      // whole devices
    int64_t releasing_gpus; // whole devices; a shared one when every pod on it is releasing; may count promised ones as
                            // taken
    int64_t idle_cpu_milli;
    int64_t releasing_cpu_milli;
    int64_t idle_memory_bytes;
    int64_t releasing_memory_bytes;
    int64_t idle_pods;
};

// A search for victims that its budget ended before it had looked at everything.
struct plan_search_cut {
    enum scheduler_action action;
    uint32_t node_pool;
    uint32_t workload;
    uint32_t scenario_count; // simulated for this workload
};

struct plan_action_counts {
    uint64_t workloads_tried;
    uint64_t workloads_placed;
    uint64_t scenarios_simulated;
    uint64_t scenarios_filtered;
    uint64_t pods_evicted;
};

struct plan {
    const struct plan_decision *decisions; // in the order they were taken
    size_t decision_count;
    const struct plan_pod *pods;           // as snapshot.pods
    const struct plan_workload *workloads; // as snapshot.workloads
    const struct plan_queue *projects;     // [project * node_pool_count + node_pool]
    const struct plan_queue *departments;  // [department * node_pool_count + node_pool]
    const struct plan_node *nodes;         // as snapshot.nodes
    const struct plan_search_cut *search_cuts;
    size_t search_cut_count;
    const struct snapshot_search_turn *search_turns; // for the next cycle
    size_t search_turn_count;
    uint32_t search_cycle;
    struct plan_action_counts actions[ACTION_COUNT];
    // The earliest later time at which the same snapshot may give other decisions: a protection or delay that ends, a
    // grace that runs out. Durations in the snapshot (stale_ms) grow with the clock; a workload that is stale now keeps
    // its time. INT64_MAX: nothing depends on the clock. Times and run times in texts go on all the same.
    int64_t good_until_ms;
};
