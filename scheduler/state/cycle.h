// A cycle's working state: the snapshot made into nodes, queues, workloads and pods that change as decisions are tried.
//
// Everything is made by cycle_open, lives in the cycle's arena and is changed through node.h and statement.h only.
// Indices are those of the snapshot, whose order is the order of names: comparing indices compares names. Internal to
// the scheduler.
#pragma once
#include "scheduler/plan.h"
#include "scheduler/resource.h"
#include "scheduler/snapshot.h"
struct arena;
struct error;
struct undo_log;
struct journal;
struct person;
struct reservation;
struct node_scores;
struct victim_marks;

enum dimension {
    DIMENSION_CPU,
    DIMENSION_MEMORY,
    DIMENSION_GPU,
    DIMENSION_PODS,
    DIMENSION_COUNT
};

// What a pod takes from a node, and what it asks of quota.
struct request {
    int64_t of[DIMENSION_COUNT]; // whole devices, and none of a shared request; one pod
    int64_t portion_milli;       // of each shared device; 0: none
    int64_t memory_mib;          // of each shared device; 0: none
    uint32_t shared_devices;     // how many devices are shared; 0: not a shared request
    int64_t mig_gpu_milli;       // MIG instances as GPUs
    bool is_mig;
    bool needs_gpu; // of any kind
};

// A device that is shared, or was: a GPU group.
struct shared_device {
    const char *name;
    bool is_number; // the name is a decimal number, below
    uint64_t number;
    int64_t used_mib;      // of pods of any status
    int64_t allocated_mib; // of pods that stand there, releasing ones included
    int64_t releasing_mib; // of releasing pods less promised ones
    uint32_t standing;     // pods that stand there and stay
    uint32_t releasing;
    uint32_t promised;
    uint32_t mark;      // of who counted it last
    bool is_unhealthy;  // stands on an unhealthy device: none of the node's, and takes nothing new
    uint32_t gpu_index; // the physical device; SNAPSHOT_NONE until it is opened by a bound pod
};

struct node {
    const struct snapshot_node *spec;
    uint32_t index;
    uint32_t position; // among the nodes of its pool
    bool is_open;      // takes new pods
    int64_t capacity[DIMENSION_COUNT];
    int64_t idle[DIMENSION_COUNT];
    int64_t releasing[DIMENSION_COUNT];
    int64_t *extended_capacity; // by extended resource; NULL where the snapshot has none
    int64_t *extended_idle;
    int64_t *extended_releasing;
    int64_t gpu_memory_mib; // of a device, in whole hundreds; 0: unknown
    int64_t mig_gpu_milli;  // capacity of MIG instances as GPUs
    struct shared_device *shared;
    size_t shared_count;
    size_t shared_capacity;
    uint64_t version; // grows with each change of what is free
};

// Where a pod stands or is promised: its shared devices are indices into the node's.
struct place {
    uint32_t node; // SNAPSHOT_NONE: nowhere
    uint32_t shared_count;
    const uint32_t *shared;
    uint32_t unhealthy; // of its whole devices, so many are unhealthy, and none of those the node offers
};

struct pod_state {
    enum snapshot_pod_status status;
    bool evicted;   // by the open statement: may be placed again in it
    bool withdrawn; // what was evicted was a promise only
    struct place place;
    struct place held; // moved away from here, but its resources are still to be released
    // What the open statement's eviction took away: placing it back just so cancels the eviction.
    enum snapshot_pod_status origin_status;
    struct place origin;
};

struct pod {
    const struct snapshot_pod *spec;
    uint32_t index;
    uint32_t workload;
    uint32_t group; // leaf, index into the workload's groups
    bool taken;     // by the victim walk
    uint8_t rule;   // enum eviction_rule: under which reclaim last found it lawful to take
    struct request request;
    struct pod_state state;
};

struct pod_counts {
    uint32_t used;      // pipelined to stuck in releasing
    uint32_t held;      // pipelined, binding, bound, running: the workload has it
    uint32_t allocated; // held and not only promised
    uint32_t pending;
    uint32_t gated;
    uint32_t returnable; // evicted by the open statement
    uint32_t succeeded;
};

// A member of a workload's tree: a set of others, or a leaf with pods. The first of a workload is its root, always a
// set.
struct group {
    uint32_t parent;      // SNAPSHOT_NONE for the root
    uint32_t first_child; // into the workload's children
    uint32_t child_count;
    bool is_set;
    uint32_t minimum;   // pods of a leaf, satisfied children of a set
    uint32_t sub_group; // index into the snapshot workload's sub_groups; SNAPSHOT_NONE: root, or the only leaf
    const struct snapshot_topology_constraint *topology; // NULL: none
    uint32_t first_pod;                                  // into the workload's order, leaf's pods in task order
    uint32_t pod_count;
    struct pod_counts counts;
    uint32_t taken; // held pods that the victim walk took
};

struct queue {
    const struct snapshot_queue *spec;
    enum queue_kind kind;
    uint32_t index; // into projects or departments
    const char *name;
    int64_t created_ms;
    struct queue *parent; // NULL for a department
    struct amounts fair_share;
    bool rank_decides[RESOURCE_COUNT]; // quotas of it and its siblings are more than there is: see ranking.h
    struct amounts requested;
    int64_t asked_in_quota_milli; // GPUs that wait and may not go beyond its quota: of them requested has what fits
    struct amounts allocated;
    struct amounts allocated_non_preemptible;
    struct amounts committed; // allocated when the last statement was committed
    uint64_t version;         // grows with each change of allocated
};

struct pool {
    uint32_t index;
    const struct snapshot_node_pool *spec;
    struct node **nodes; // by name
    size_t node_count;
    uint32_t *node_indices;          // the same as indices
    struct amounts total;            // of open nodes
    int64_t smallest_gpu_memory_mib; // of a device of an open node; 100 where none is known
    int64_t largest_gpu_memory_mib;
    int64_t largest_gpus;           // of one node, open or not
    int64_t least[DIMENSION_COUNT]; // of each, what every node has at least
    bool some_lack_cpu;             // nodes of unknown CPU
    struct queue *departments;      // one with departments off
    size_t department_count;
    struct queue *projects;
    struct workload **waiting; // workloads with pending pods for which the pool is being tried in this round
    size_t waiting_count;
    struct workload **holders; // workloads whose home it is, by name; some may hold nothing any more
    size_t holder_count;
    bool topology_is_known;
    const char *topology_off;        // sentence where its own topology does not count; NULL
    struct reservation *reservation; // for the largest gang that waits; NULL: none
};

// What became of the search for it in the action that is being run.
enum search_state {
    SEARCH_DONE, // or there was none to make
    SEARCH_CUT,
    SEARCH_PASSED, // it did not come to it
    SEARCH_STANDS  // it found nothing in an earlier cycle, and nothing has changed
};

struct workload {
    const struct snapshot_workload *spec;
    struct person *person; // who submitted it, where the project says something of people; NULL: it says nothing
    int64_t turn;          // of a project that is fair among people: who has least goes first; else 0
    uint32_t index;
    struct group *groups;
    uint32_t group_count;
    const uint32_t *children; // group indices
    const uint32_t *order;    // pod indices of the snapshot, leaf by leaf, in task order
    struct pod_counts counts;
    uint32_t home;    // the pool its pods stand in; SNAPSHOT_NONE
    bool asks_memory; // a pod of it asks for device memory: its charge depends on the node
    bool lost_pod;    // by a decision of this cycle
    bool takes_own;   // it preempts its submitter's alone: others' would not help against the submitter's bound
    bool takes_kept;  // it preempts what a budget keeps within the quota alone: others would go beyond it again
    enum search_state search;
    uint32_t scenario_count; // of the search that was cut
    bool was_passed;         // it is not known what would make room for it
    uint32_t stamp;          // of the simulation that served it last
    bool lost_promise;       // the same
    int64_t last_start_ms;   // SNAPSHOT_TIME_NONE: holds nothing that has started
    uint32_t unit_cap;       // of the open search: only so many pods of the unit; SNAPSHOT_COUNT_UNLIMITED
    struct explanation_list *explanations;
    // The next unit to allocate; see unit.h.
    bool unit_is_known;
    uint32_t *unit;
    uint32_t unit_count;
};

// Why the nodes refused a request, kept while nothing changes: many workloads in a row ask for the same.
struct nodes_memo {
    const struct pool *pool;
    size_t decision_count;
    const struct snapshot_placement_rules *rules;
    struct request request;
    const struct node_survey *survey;
};

// Steps of searches for victims, about looks at a queue: see actions/search_turn.h.
struct search_budget {
    int64_t taken; // so far
    int64_t taken_thoroughly;
    int64_t spared;    // of what quick turns might have taken
    int64_t end;       // of the turn
    int64_t allowed;   // to the end of the search that is made now
    size_t turn;       // quick turns that have begun
    size_t turn_count; // all there are: actions in node pools
};

struct share_log;
struct queue_log;
struct vacancy;

struct cycle {
    const struct snapshot *snapshot;
    struct arena *arena;   // of the plan
    struct arena *scratch; // of what the plan does not point to
    struct node *nodes;
    struct pool *pools;
    struct workload *workloads;
    struct pod *pods;
    struct undo_log *log;
    struct journal *journal;
    struct rules_cache *rules;
    struct device_table *devices;
    const struct place *start_places; // by pod
    struct topology_cache *topologies;
    struct fragmentation **fragmentation; // by pool; NULL until it is asked for
    struct nodes_memo nodes_memo;
    struct vacancy **vacancies;   // by pool; NULL until they are asked for
    enum scheduler_action action; // that is being run
    struct plan_action_counts counts[ACTION_COUNT];
    struct evidence_memo *evidence_memo;
    struct search_bounds *bounds;
    struct victim_marks *victim_marks;
    struct free_gpu_index **free_gpu; // by pool; NULL until they are asked for
    struct node_scores **node_scores; // the same
    uint32_t stamp;                   // of the latest simulation
    bool has_inexact_gpus;            // somebody asks for device memory or for a part finer than a hundredth
    bool has_min_run_time;
    bool is_plain;               // nothing is left out of a search: for tests
    bool is_silent;              // no sentences, explanations and receipts
    uint32_t opened_count;       // divisions of a pool so far
    uint32_t statement_count;    // committed so far
    struct share_log *share_log; // who asks how shares came about, and in which order workloads are tried; NULL: nobody
    struct queue_log *queue_log;
    struct plan_search_cut *cuts;
    size_t cut_count;
    size_t cut_capacity;
    uint32_t preference; // of the node pools that are planned now
    struct search_budget search_budget;
    struct snapshot_search_turn *turns;
    size_t turn_count;
    size_t turn_capacity;
    bool turns_go_on;      // some of them are not over
    int64_t good_until_ms; // see plan.h
};

// Whoever looks at the clock says when it would have seen another answer: until_ms, if that is still to come. Every use
// of snapshot->now_ms on which a decision hangs goes with a call of this.
static inline bool cycle_is_before(struct cycle *cycle, int64_t until_ms)
{
    if (cycle->snapshot->now_ms >= until_ms)
        return false;
    if (until_ms < cycle->good_until_ms)
        cycle->good_until_ms = until_ms;
    return true;
}

// Checks the snapshot and builds the state that it describes.
int cycle_open(const struct snapshot *snapshot, struct arena *arena, struct cycle **out_cycle, struct error *err);
// The same with what the plan does not need in memory of its own.
int cycle_open_with(const struct snapshot *snapshot, struct arena *arena, struct arena *scratch,
                    struct cycle **out_cycle, struct error *err);

static inline bool place_is(struct place place)
{
    return place.node != SNAPSHOT_NONE;
}

static inline struct queue *cycle_queue(const struct pool *pool, const struct workload *workload)
{
    return &pool->projects[workload->spec->project];
}

static inline int64_t node_free(const struct node *node, enum dimension dimension)
{
    return node->idle[dimension] + node->releasing[dimension];
}
