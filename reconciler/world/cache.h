// What the rows say, in memory: the workloads that there is something to do for, and their pods. A cache: it is thrown
// away and read again after any error. A turn changes it in place, writes what it changed, and reads those rows again
// by their revision, so that what others wrote at the same time comes in too.
#pragma once
#include "model/facts.h"
#include "reconciler/world/id_map.h"
#include "reconciler/world/world.h"

// A node that has refused a pod of the workload.
struct avoided_node {
    int64_t node_id; // 0: none
    int64_t until_ms;
};
enum {
    AVOIDED_NODES = 16 // of a workload; the one whose time is over first makes room
};

struct autoscale_memory; // reconciler/serving/autoscale.h
struct cache_workload;

// CPU and memory that something uses.
struct load {
    int64_t cpu_milli, memory_bytes; // negative: nobody has measured it
};

// Memory of devices that a pod uses, and of how much of it that is known.
struct gpu_memory {
    int64_t used_bytes;  // negative: nobody has measured it
    int64_t held_bytes;  // its part of the devices of which it is known; 0: their memory is not known
    int32_t *device_mib; // used of each device, by index; -1: none, or not known. Owned
    size_t device_count;
};

struct cache_pod {
    union {
        struct pod_facts facts;
        struct { // the same by name
#define POD_FACT(kind, member, column, plan) FACT_MEMBER_##kind(member)
#include "model/pod_facts.def"
#undef POD_FACT
        };
    };
    uint32_t *gpu_indices;
    size_t gpu_index_count;
    const char *promise_groups_json; // of a shared request, where it is known: not after a restart
    struct cache_workload *workload;
    const struct placement *placement; // of placement_world
    const struct world *placement_world;
    double throughput, latency_ms; // of a replica, as its page said last; negative: it has not
    double gpu_utilization;        // as the backend said last; negative: it has said nothing
    struct load load;              // likewise
    struct gpu_memory gpu_memory;  // likewise
    int64_t unused_since_ms; // its devices do nothing since then, as far as a limit asks; 0: they do, or nobody knows
    // Of the present turn.
    bool is_touched;
    bool begins_allocation, ends_allocation;
    bool has_exit_code;
    int64_t exit_code;
    const char *message; // turn's arena; NULL: unchanged
    uint32_t position;   // in the snapshot
};

struct cache_workload {
    union {
        struct workload_facts facts;
        struct { // the same by name
#define WORKLOAD_FACT(kind, member, column, plan) FACT_MEMBER_##kind(member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
        };
    };
    uint64_t explanation_hash;  // of what was written last; 0: not known
    uint64_t explanation_codes; // hash of its codes
    uint64_t told_code;         // the code, and the pool, of which an event told last; 0: none
    int64_t explained_ms;
    struct cache_pod **pods; // by role (master first), index, attempt
    size_t pod_count, pod_capacity;
    bool pods_unread;                   // it came into the cache, and its pods have not been read
    struct autoscale_memory *autoscale; // of an inference; owned; NULL: nothing was measured
    int64_t read_round;                 // of the page reader, taken into it last
    bool misses_metric;                 // no replica showed it, and an event said so
    struct avoided_node avoided[AVOIDED_NODES];
    char *volume_terms; // volume_rules.h; owned; NULL: nothing is known
    int64_t volume_terms_until_ms;
    // Of the present turn.
    bool is_touched;
    bool scales; // pods_wanted has changed
    bool changes_phase;
    int64_t pending_spent_ms, running_spent_ms; // in the phases it left
    const char *last_phase_message;
    bool creates_all_pods;
    bool stopped_by_rule;
    bool explains;
    const char *explanation_json, *messages_json;
    const char *phase_message; // turn's arena
    uint32_t position;         // in the snapshot
};

struct cache {
    struct world *world; // NULL: not read
    struct extended_names asked;
    struct id_map workloads; // by row id
    struct id_map pods;      // by row id
    struct id_map pods_by_uuid;
    struct id_map node_loads;      // struct load of all that runs on a node, by the node's row id
    struct cache_workload **order; // by name, project, id
    size_t workload_count, order_capacity;
    bool is_sorted;
    int64_t seen_revision; // -1: nothing read
    bool needs_plan;       // something that a plan depends on has changed
    int fruitless_plans;   // in a row that changed promises alone
};

void cache_init(struct cache *cache);
// Forgets everything: the next refresh reads all.
void cache_clear(struct cache *cache);
void cache_done(struct cache *cache);

// Reads what is newer than seen. reads_world: the organisation or nodes have changed. *out_changed: any row came.
int cache_refresh(struct cache *cache, struct db_conn *conn, int64_t last_revision, bool reads_world, bool reads_rows,
                  struct arena *arena, bool *out_changed, struct error *err);

struct cache_pod *cache_find_pod(const struct cache *cache, const char *uuid);
struct cache_workload *cache_find_workload(const struct cache *cache, int64_t id);
// Drops workloads that need nothing any more. Their last changes must have been written.
void cache_drop_settled(struct cache *cache);
// Sorts order where it is not.
void cache_sort(struct cache *cache);

void cache_set_node_load(struct cache *cache, int64_t node_id, const struct load *load);
// Keeps the workload's pods off a node until then. Forgotten by a restart.
void cache_avoid_node(struct cache_workload *workload, int64_t node_id, int64_t until_ms);
// What it uses of each device of its node, in MiB by index; count 0: nobody measures it. device_mib: of one of these
// devices in all; 0: not known.
void cache_set_gpu_memory(struct cache_pod *pod, const int32_t *used_mib, size_t count, int64_t device_mib);
void cache_set_devices(struct cache_pod *pod, const uint32_t *indices, size_t count, const char *groups_json);
// [0,1]: the devices that it holds.
const char *cache_indices_json(const struct cache_pod *pod, struct arena *arena);
// The GPUs that the pod holds at the moment, in thousandths.
static inline int64_t cache_gpus_held(const struct cache_pod *pod)
{
    return pod_status_holds_place(pod->status) ? pod->gpu_allocated_milli : 0;
}
// NULL: none. groups_json: of a shared request, or NULL.
void cache_set_promise(struct cache_pod *pod, const char *node_name, const char *groups_json);
