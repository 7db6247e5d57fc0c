// The snapshot: everything a scheduling cycle may look at, as plain arrays that refer to each other by index.
//
// The caller builds it, as a rule from one arena, and keeps it unchanged while the plan made from it is in use (the
// plan points into it). docs/snapshot.md describes the same thing as JSON; every key of that page has its field here.
//
// What a caller must see to:
// - Order carries the ties. Node pools, nodes, topologies, departments, projects and workloads, and the pods of each
//   workload, stand in the byte order of their names. Wherever a rule ends in a name, the core compares indices.
// - Defaults are filled in: no field means "absent" unless it has a named constant for it. snapshot_queue_defaults and
//   snapshot_settings_defaults fill the longer ones.
// - The pods of a workload stand next to each other in snapshot.pods: first_pod, pod_count.
// - Lists (labels, groups, ...) may be NULL where their count is 0, and may be shared between owners.
#pragma once
#include "model/placement_words.h"
#include "scheduler/resource.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_NONE UINT32_MAX                 // an index that refers to nothing
#define SNAPSHOT_TIME_NONE INT64_MIN             // a time or duration that is not set
#define SNAPSHOT_COUNT_UNLIMITED UINT32_MAX      // a bound that is not there
#define SNAPSHOT_MIN_ALL UINT32_MAX              // min_sub_groups: all children
#define SNAPSHOT_PROMISE_NONE UINT32_MAX         // no promise from the cycle before
#define SNAPSHOT_STEPS_UNLIMITED INT64_MAX       // a search budget that is not there
#define SNAPSHOT_PEACE_MS (INT64_C(3600) * 1000) // so long after its last loss a workload counts as left alone

enum scheduler_action {
    ACTION_ALLOCATE,
    ACTION_CONSOLIDATION,
    ACTION_RECLAIM,
    ACTION_PREEMPT,
    ACTION_STALE_GANG_EVICTION, // "stalegangeviction" in JSON and log
    ACTION_COUNT
};

// Which tree level's minimum run time protects a victim from reclaim (scheduler.md, 9.4).
enum reclaim_min_run_time_method {
    RECLAIM_MIN_RUN_TIME_LCA,
    RECLAIM_MIN_RUN_TIME_QUEUE
};

struct snapshot_settings {
    int64_t staleness_grace_ms;         // negative: stale gangs are never evicted
    uint32_t max_consolidation_victims; // SNAPSHOT_COUNT_UNLIMITED: no bound; 0: no consolidation
    bool full_hierarchy_fairness;       // false: departments play no role
    uint32_t depth[ACTION_COUNT]; // pending workloads of a project an action looks at; SNAPSHOT_COUNT_UNLIMITED: all
    enum reclaim_min_run_time_method reclaim_min_run_time_method;
    int64_t saturation_multiplier_milli; // scheduler.md, 6.9; 1000 = 1, at least 1000
    uint32_t scenarios_per_workload; // search budgets: simulated scenarios for one pending workload in one action ...
    uint32_t scenarios_per_action;   // ... and for the whole action; SNAPSHOT_COUNT_UNLIMITED: no bound
    int64_t search_steps; // of all searches for victims of a cycle (scheduler.md, 6.14); SNAPSHOT_STEPS_UNLIMITED
};

// A turn of searches for victims that was not over when the cycle before had no steps left: scheduler.md, 6.14.
struct snapshot_search_turn {
    enum scheduler_action action;
    const char *node_pool;
    uint32_t preference; // of the node pool in the workloads' lists
    bool is_thorough;    // of the two that each action has in a node pool
    const char *next;    // the workload to go on with; NULL: it is over, and another turn of the action is not
    const char *first;   // the one that the turn began with; NULL: nobody waited
    int64_t steps;       // that each search of the turn may take
    bool was_cut;        // some of them took all of these
    bool has_changed;    // something else has, since the turn began: what found no room may find some now
};

enum placement_strategy {
    PLACEMENT_BINPACK,
    PLACEMENT_SPREAD,
    PLACEMENT_FRAGMENTATION // where free GPUs become useless for the least of the typical workload
};

struct snapshot_node_pool {
    const char *name;
    enum placement_strategy gpu_placement;
    enum placement_strategy cpu_placement;
    int64_t preempt_min_run_time_ms; // the default where no queue says otherwise; >= 0
    int64_t reclaim_min_run_time_ms;
    const char *topology;       // of the network that its gangs get by themselves; NULL: none
    bool reserves;              // keeps room for the largest gang that waits
    bool reclaims_by_rank;      // where quotas are more than there is, a higher rank takes from within a lower one's
    int64_t fair_share_k_micro; // kValue of time-based fair share in millionths; 0: plain weights
};

// A resource beside GPU, CPU and memory that nodes offer and pods ask for by count: a MIG profile or an extended
// resource.
struct snapshot_extended_resource {
    const char *name;  // "nvidia.com/mig-1g.10gb", "example.com/nic"
    bool is_mig;       // a MIG profile: only MIG nodes offer it, and it counts against GPU quota
    int64_t gpu_milli; // what one instance counts against GPU quota: 1000 * X for an Xg profile, 0 for the others
};

struct snapshot_extended_amount {
    uint32_t resource; // index into snapshot.extended_resources; at most one entry per resource in a list
    int64_t count;
};

struct snapshot_label {
    const char *key;
    const char *value;
};

struct snapshot_taint {
    const char *key;
    const char *value; // "" where none
    enum taint_effect effect;
};

struct snapshot_toleration {
    const char *key; // NULL with TOLERATION_EXISTS: every key
    const char *value;
    enum toleration_operator operator;
    bool any_effect;
    enum taint_effect effect;
};

enum mig_strategy {
    MIG_STRATEGY_NONE,
    MIG_STRATEGY_SINGLE,
    MIG_STRATEGY_MIXED
};

struct snapshot_node {
    const char *name;
    uint32_t node_pool;
    uint32_t gpu_count;             // whole devices, indices 0 to gpu_count - 1
    const uint32_t *unhealthy_gpus; // indices of devices that take nothing new and are in no total, ascending
    size_t unhealthy_gpu_count;
    int64_t gpu_memory_mib; // of one device; 0: unknown, then the node takes no shared requests
    const char *gpu_type;   // may be NULL
    int64_t cpu_milli;
    int64_t memory_bytes;
    uint32_t max_pods;
    enum mig_strategy mig_strategy;
    const struct snapshot_extended_amount *extended; // MIG instances and extended resources on offer
    size_t extended_count;
    const struct snapshot_label *labels;
    size_t label_count;
    const struct snapshot_taint *taints;
    size_t taint_count;
    bool ready;    // false: takes nothing new, and its resources are in no pool's total
    bool cordoned; // the same
};

struct snapshot_topology {
    const char *name;
    const char *const *levels; // node label keys from the top down
    size_t level_count;
};

// A project or department in one node pool.
struct snapshot_queue {
    int64_t rank;                           // higher is served first; 100 where nothing is said
    struct amounts deserved;                // QUANTITY_UNLIMITED: whatever it asks for
    struct amounts limit;                   // QUANTITY_UNLIMITED: none
    struct amounts over_quota_weight_milli; // thousandths of a weight, one per resource; 0 to 10^12
    struct amounts
        usage_micro; // past usage over the pool's capacity in millionths (time-based fair share); 0 where unknown
};

struct snapshot_department {
    const char *name;
    int64_t created_ms;
    int64_t preempt_min_run_time_ms; // SNAPSHOT_TIME_NONE: not set here
    int64_t reclaim_min_run_time_ms;
    const struct snapshot_queue *queues; // one per node pool, in the order of snapshot.node_pools
};

// What a person has used of a project in the past.
struct snapshot_person {
    const char *name;
    int64_t use_gpu_hours_milli; // thousandths of a GPU, held for an hour; what is long ago counts less
};

struct snapshot_project {
    const char *name;
    uint32_t department;
    int64_t created_ms;
    int64_t preempt_min_run_time_ms; // SNAPSHOT_TIME_NONE: not set here
    int64_t reclaim_min_run_time_ms;
    int64_t person_gpu_limit_milli;       // what one person may hold in all node pools; QUANTITY_UNLIMITED: any
    uint32_t person_workload_limit;       // how many of one person's may hold something; SNAPSHOT_COUNT_UNLIMITED: any
    bool is_fair_among_people;            // inside one priority who has used least goes first
    const struct snapshot_person *people; // those who have used some of it, by name
    size_t person_count;
    const struct snapshot_queue *queues; // one per node pool, in the order of snapshot.node_pools
};

// {topology, required level, preferred level}: a topology of SNAPSHOT_NONE is no constraint.
struct snapshot_topology_constraint {
    uint32_t topology;  // index into snapshot.topologies
    uint32_t required;  // index into the topology's levels, or SNAPSHOT_NONE
    uint32_t preferred; // index into the topology's levels, or SNAPSHOT_NONE
};

// A member of a workload's tree of sub-groups. One that some other names as its parent is a set and has min_sub_groups;
// the others are leaves, hold pods and have min_pods.
struct snapshot_sub_group {
    const char *name;        // sub-groups of a workload stand in the order of their names
    uint32_t parent;         // index into the workload's sub_groups; SNAPSHOT_NONE: the workload itself
    uint32_t min_pods;       // of a leaf
    uint32_t min_sub_groups; // of a set; SNAPSHOT_MIN_ALL: all children
    struct snapshot_topology_constraint topology;
};

enum pod_affinity {
    POD_AFFINITY_NONE,
    POD_AFFINITY_REQUIRED,
    POD_AFFINITY_PREFERRED
};

struct snapshot_workload {
    const char *name;
    uint32_t project;
    const char *person; // who submitted it, for what the project says of people; NULL: nobody
    int64_t created_ms;
    int64_t priority; // higher first; any integer
    bool preemptible;
    bool deleting;         // is not considered for placement
    const char *gate;      // why its pods are gated: a sentence; NULL: nobody says
    int64_t gate_until_ms; // until when, where it has a gate and that is known; 0
    bool gate_is_final;    // it never opens
    // Why it may not go beyond the project's quota of GPUs: the budget that is used up, a clause; NULL: it may.
    const char *over_budget;
    int64_t over_budget_until_ms; // when the next period begins; 0: not known
    uint32_t min_pods;            // the gang where there are no sub-groups; at most pod_count is not required
    uint32_t min_sub_groups;      // how many of the root's children; SNAPSHOT_MIN_ALL: all
    const uint32_t
        *node_pools; // in order of preference, at least one; resolved by the caller from the project's default
    size_t node_pool_count;
    const struct snapshot_sub_group *sub_groups;
    size_t sub_group_count;
    struct snapshot_topology_constraint topology;
    enum pod_affinity pod_affinity; // pods of this workload together in one domain of ...
    const char *pod_affinity_key;   // ... this node label; NULL with POD_AFFINITY_NONE
    int64_t staleness_grace_ms;     // SNAPSHOT_TIME_NONE: the setting's
    int64_t stale_ms;               // how long it has been stale already; SNAPSHOT_TIME_NONE: it was not
    int64_t preemption_delay_ms;    // 0: none
    int64_t max_run_ms;             // it ends by itself so long after its start; 0: not known
    int64_t last_eviction_ms;       // SNAPSHOT_TIME_NONE: never
    // How often in a row it lost a place or a promise by a decision, with less than SNAPSHOT_PEACE_MS in between.
    uint32_t displaced_count;
    int64_t displaced_ms; // when last, where the count is not 0
    uint32_t promise;     // its place among the promises of the cycle before, from 0; SNAPSHOT_PROMISE_NONE
    uint32_t first_pod;   // snapshot.pods[first_pod .. first_pod + pod_count - 1]
    uint32_t pod_count;
};

enum snapshot_pod_status {
    SNAPSHOT_POD_PENDING,
    SNAPSHOT_POD_GATED,
    SNAPSHOT_POD_PIPELINED, // in: counts as pending; out: promised a node whose resources are still being released
    SNAPSHOT_POD_BINDING,
    SNAPSHOT_POD_BOUND,
    SNAPSHOT_POD_RUNNING,
    SNAPSHOT_POD_RELEASING,
    SNAPSHOT_POD_STUCK_IN_RELEASING,
    SNAPSHOT_POD_SUCCEEDED,
    SNAPSHOT_POD_FAILED,
    SNAPSHOT_POD_STATUS_COUNT
};

// "Pending", "Gated", ...: as in JSON and log. Static text.
const char *snapshot_pod_status_name(enum snapshot_pod_status status);
// "allocate", "consolidation", ...: as in JSON and log. Static text.
const char *scheduler_action_name(enum scheduler_action action);

// Roles that are placed before the other pods of their sub-group.
enum pod_role {
    POD_ROLE_NONE,
    POD_ROLE_MASTER,
    POD_ROLE_LAUNCHER,
    POD_ROLE_HEAD
};

struct snapshot_requirement {
    const char *key;
    enum requirement_operator operator;
    const char *const *values;
    size_t value_count;
};

struct snapshot_affinity_term {
    const struct snapshot_requirement *requirements; // all must hold
    size_t requirement_count;
};

// Where pods may go. Pods with the same rules should share one object: the core compares rules by address.
struct snapshot_placement_rules {
    const struct snapshot_requirement *selector; // all must hold: nodeSelector is REQUIREMENT_IN with its values
    size_t selector_count;
    const struct snapshot_affinity_term *affinity_terms; // at least one must hold, where there are any
    size_t affinity_term_count;
    const struct snapshot_toleration *tolerations;
    size_t toleration_count;
    const char *const *node_types; // the project's list: the node's type must be one of them; 0 of them: any
    size_t node_type_count;
};

struct snapshot_pod {
    const char *name;
    uint32_t workload;
    uint32_t sub_group; // index of a leaf of the workload's sub_groups; SNAPSHOT_NONE where the workload has none
    int64_t priority;   // order inside the workload, higher first
    enum pod_role role;

    // Requests. GPU: whole devices (gpu_devices alone), or a part of each of gpu_devices devices (with
    // gpu_portion_milli or gpu_memory_mib; gpu_devices is then at least 1), or MIG instances in extended.
    uint32_t gpu_devices;
    int64_t gpu_portion_milli; // 10 to 990 in steps of 10; 0: no portion
    int64_t gpu_memory_mib;    // of each device; 0: no amount of memory
    int64_t cpu_milli;
    int64_t memory_bytes;
    const struct snapshot_extended_amount *extended;
    size_t extended_count;
    const struct snapshot_placement_rules *rules; // NULL: any node without taints that forbid it

    enum snapshot_pod_status status;
    uint32_t node; // where status holds a node (or held one: Succeeded, Failed); else SNAPSHOT_NONE

    // Devices it holds. A shared request names one group per device: pods that name the same group on a node share one
    // device; 0 groups: a group of its own. Device indices stand for whole requests one per device, for shared ones one
    // per group in the order of gpu_groups; 0 of them: the core takes the lowest free ones, pod by pod in the order of
    // names.
    const char *const *gpu_groups;
    size_t gpu_group_count;
    const uint32_t *gpu_indices;
    size_t gpu_index_count;
    int64_t started_ms; // SNAPSHOT_TIME_NONE: not started
};

struct snapshot {
    int64_t now_ms;                              // the only clock the core knows; UTC since the epoch
    enum scheduler_action actions[ACTION_COUNT]; // in the order they are run, each at most once
    size_t action_count;
    struct snapshot_settings settings;
    const struct snapshot_search_turn *search_turns; // those that go on
    size_t search_turn_count;
    uint32_t searches_for; // this workload alone; SNAPSHOT_NONE: all that wait. Not in the JSON
    uint32_t search_cycle; // of those in which turns went on, so that thorough ones come first by turns
    const struct snapshot_node_pool *node_pools;
    size_t node_pool_count;
    const struct snapshot_extended_resource *extended_resources; // in the order of their names
    size_t extended_resource_count;
    const struct snapshot_node *nodes;
    size_t node_count;
    const struct snapshot_topology *topologies;
    size_t topology_count;
    const struct snapshot_department *departments;
    size_t department_count;
    const struct snapshot_project *projects;
    size_t project_count;
    const struct snapshot_workload *workloads;
    size_t workload_count;
    const struct snapshot_pod *pods; // workload by workload
    size_t pod_count;
};

// Whether the device is one of the node's unhealthy ones.
bool snapshot_gpu_is_unhealthy(const struct snapshot_node *node, uint32_t gpu);
// Actions in their usual order, and the settings a snapshot has where it says nothing.
void snapshot_defaults(struct snapshot *out_snapshot);
// The count after one more loss now: begins again for who was left alone.
uint32_t snapshot_displaced_again(const struct snapshot_workload *workload, int64_t now_ms);
// A queue as it is in a node pool that its resources don't name: nothing deserved of GPU, CPU and memory unlimited, no
// limit, weight 1, rank 100.
struct snapshot_queue snapshot_queue_default(void);
