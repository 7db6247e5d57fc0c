// What the reconciler reads. The organisation and the nodes are small and read whole; workloads and pods, of which
// there may be many, by revision. Texts are the arena's.
#pragma once
#include "model/budget.h"
#include "model/facts.h"
#include "model/node.h"
#include "model/pod_status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

struct pool_row {
    int64_t id;
    const char *name;
    bool is_default;
    const char *gpu_placement; // binpack, spread, fragmentation
    const char *cpu_placement;
    const char *topology_name; // of its network; NULL: none
    bool reserves;             // keeps room for the largest gang that waits
    bool reclaims_by_rank;     // a higher rank takes from within a lower one's quota
    int64_t min_guaranteed_runtime_ms;
    const char *time_based_fairshare_json; // NULL: off
};

struct node_row {
    int64_t id;
    const char *name;
    int64_t node_pool_id;
    bool ready;
    bool cordoned;          // by the backend or a person
    bool reported_cordoned; // by the backend
    enum node_drain drain;
    bool is_drained; // and nothing was left to send away
    const char *status_reason;
    const char *labels_json;
    const char *taints_json;
    int64_t gpu_count;
    int64_t gpu_memory_mib;
    const char *gpu_type;
    const char *mig_strategy;
    const char *mig_instances_json;
    const char *unhealthy_gpus_json; // [indices]
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t max_pods;
    int64_t others_cpu_milli, others_memory_bytes, others_pods; // held by pods of other schedulers
    int64_t gpus_withheld;
};

struct topology_row {
    const char *name;
    const char *levels_json;
};

struct department_row {
    int64_t id;
    const char *name;
    int64_t created_ms;
    int64_t preempt_min_runtime_ms; // -1: the pool's
    int64_t reclaim_min_runtime_ms;
};

struct project_row {
    int64_t id;
    int64_t department_id;
    const char *name;
    const char *node_pools_json;    // where work goes that names none; NULL: to the default pool
    int64_t preempt_min_runtime_ms; // -1: the department's or the pool's
    int64_t reclaim_min_runtime_ms;
    // What each person may have of it, its own or the department's word; -1: no bound.
    int64_t person_gpu_milli;         // held at once
    int64_t person_waiting_gpu_milli; // asked for by workloads that hold nothing
    int64_t person_workloads;         // that hold something
    bool is_fair_among_people;        // who has used least goes first
    int64_t person_half_life_ms;      // of what they have used
    struct budget budget;             // its own or the department's word
    bool is_deleting;
    int64_t created_ms;
};

struct queue_row {
    int64_t id;
    bool is_department;
    int64_t owner_id;
    int64_t node_pool_id;
    int64_t rank;
    int64_t gpu_deserved_milli, gpu_limit_milli; // QUANTITY_UNLIMITED where there is no bound
    int64_t cpu_deserved_milli, cpu_limit_milli;
    int64_t memory_deserved_bytes, memory_limit_bytes;
    double gpu_weight, cpu_weight, memory_weight;
};

struct world_rows {
    int64_t cluster_id;
    const char *cluster_uuid;
    bool has_departments; // tenant settings (db/settings.h)
    bool has_cpu_quota;
    bool has_over_quota_weight;
    struct pool_row *pools; // by name, as all of these
    size_t pool_count;
    struct node_row *nodes;
    size_t node_count;
    struct topology_row *topologies;
    size_t topology_count;
    struct department_row *departments;
    size_t department_count;
    struct project_row *projects;
    size_t project_count;
    struct queue_row *queues;
    size_t queue_count;
};

// Everything of the one cluster.
int db_read_world(struct db_conn *conn, struct arena *arena, struct world_rows *out_rows, struct error *err);

// A pod's facts, and what the cache keeps in another form.
struct workload_pod_row {
    struct pod_facts facts;
    int64_t workload_id;
    const char *role;
    const char *gpu_indices_json;
    const char *node_name; // NULL: none
};

// Workloads that the reconciler has something to do for (since_revision 0), or all that changed after since_revision.
int db_read_workload_rows(struct db_conn *conn, int64_t since_revision, struct arena *arena,
                          struct workload_facts **out_rows, size_t *out_count, struct error *err);
// Pods that changed after since_revision.
int db_read_pod_rows(struct db_conn *conn, int64_t since_revision, struct arena *arena,
                     struct workload_pod_row **out_rows, size_t *out_count, struct error *err);
// A workload's pods that are not deleted.
int db_read_pod_rows_of(struct db_conn *conn, int64_t workload_id, struct arena *arena,
                        struct workload_pod_row **out_rows, size_t *out_count, struct error *err);

// What a backend must know of a pod beside its row.
struct pod_context {
    const char *workload_uuid;
    const char *workload_name;
    const char *workload_type;
    const char *project_name;
    const char *namespace;
    const char *spec_json; // of the pod's role
    const char *submitted_by;
    const char *machine_user;       // NAME:NUMBER; "": nobody's
    int64_t project_number;         // that no other project ever has
    const char *workload_spec_json; // where that is another; NULL: the same
    int64_t grace_period_ms;
    int64_t pods_wanted;
};
// The name of a workload's project; NULL where there is no such workload, or it is deleted.
int db_find_workload_project(struct db_conn *conn, const char *uuid, struct arena *arena, const char **out_project,
                             struct error *err);
// Whose a pod is, unless its workload is deleted. 1 found, 0 not.
int db_find_pod_owner(struct db_conn *conn, const char *pod_uuid, struct arena *arena, const char **out_workload_uuid,
                      const char **out_project_name, struct error *err);
int db_read_pod_context(struct db_conn *conn, int64_t workload_id, const char *role, struct arena *arena,
                        struct pod_context *out_context, struct error *err);
// Which pod of a workload; the first member that is set decides.
struct pod_search {
    const char *uuid;        // this one
    const char *uuid_before; // the one that has started in place of this one, or else after its end
    const char *name;        // of several with the name the newest, or with previous the one before. NULL: the newest
    bool previous;
};
// 1 found, 0 not.
int db_find_pod_for_logs(struct db_conn *conn, int64_t workload_id, const struct pod_search *search,
                         struct arena *arena, struct workload_pod_row *out_row, struct error *err);
