// The clusters of the benchmark's rows: snapshots made by rule, the same on every machine. Nodes have eight devices.
#pragma once
#include "base/arena.h"
#include "scheduler/snapshot.h"

enum {
    CLUSTER_GPUS_PER_NODE = 8
};

struct cluster {
    struct arena arena;
    struct snapshot snapshot;
    struct snapshot_node *nodes;
    struct snapshot_project *projects;
    struct snapshot_queue *queues; // of projects
    struct snapshot_workload *workloads;
    struct snapshot_pod *pods;
    size_t pod_capacity;
};

void cluster_init(struct cluster *cluster);
void cluster_done(struct cluster *cluster);

// Parts to make others from.
void cluster_make_nodes(struct cluster *cluster, size_t count);
void cluster_make_projects(struct cluster *cluster, size_t departments, size_t projects, int64_t deserved_gpus);
void cluster_reserve(struct cluster *cluster, size_t workloads, size_t pods);
// A gang of pods with so many GPUs each: pod i stands behind the device first_gpu + i * step (counted over all nodes),
// or all wait where first_gpu is SNAPSHOT_NONE. Preemptible.
struct snapshot_workload *cluster_add(struct cluster *cluster, uint32_t project, uint32_t pods, uint32_t gpus_per_pod,
                                      uint32_t first_gpu, uint32_t step);

// The rows' clusters; what is in them stands with the rows.
void cluster_make_idle(struct cluster *cluster, size_t nodes);
void cluster_make_pending(struct cluster *cluster, size_t nodes);
void cluster_make_fill(struct cluster *cluster, size_t nodes);
void cluster_make_refused(struct cluster *cluster, size_t nodes);
void cluster_make_one_short(struct cluster *cluster, size_t nodes);
void cluster_make_pair_short(struct cluster *cluster, size_t nodes);
void cluster_make_reclaim(struct cluster *cluster, size_t nodes);
void cluster_make_consolidation(struct cluster *cluster, size_t nodes);
void cluster_make_gangs_to_move(struct cluster *cluster, size_t nodes);
void cluster_make_mixed(struct cluster *cluster, size_t nodes);
void cluster_make_backlog(struct cluster *cluster, size_t nodes);
// A site as people have it: projects with quotas for two thirds of the GPUs, and ten workloads a node that ask for more
// than there is: single pods, parts of devices, gangs. All wait.
void cluster_make_site(struct cluster *cluster, size_t nodes);
void cluster_make_site_from(struct cluster *cluster, size_t nodes, uint64_t seed);
