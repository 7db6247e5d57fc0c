// The cluster of a replay: a snapshot that is edited in place. Only jobs that wait or run are in it, in the byte order
// of their ids; what changes at an event is moved, nothing is built again.
//
// Between cycles it obeys as simulation/ does: what is bound runs at once, what is evicted is pending at once and off
// its node, what is promised keeps its promise.
#pragma once
#include "replay/devices.h"
#include "scheduler/plan.h"
#include "scheduler/snapshot.h"

struct arena;
struct error;
struct policy;
struct trace;

struct cluster {
    struct snapshot snapshot; // for the next cycle; its workloads and pods are the arrays below
    const struct trace *trace;
    const struct policy *policy;
    struct snapshot_workload *workloads;
    struct snapshot_pod *pods;
    uint32_t *jobs; // by workload: the job
    size_t workload_capacity;
    size_t pod_capacity;
    uint32_t waiting; // workloads with a pod that does not run
    struct devices devices;
    struct snapshot_queue *projects; // those of the snapshot, to be changed: past usage
    struct snapshot_queue *departments;
    uint32_t *touched; // workloads whose pods the last plan started or stopped, ascending
    size_t touched_count;
    size_t touched_capacity;
};

// base: a snapshot without workloads, which has to outlive the cluster.
void cluster_init(struct cluster *cluster, const struct snapshot *base, const struct trace *trace,
                  const struct policy *policy, struct arena *arena);
void cluster_done(struct cluster *cluster);
// A job arrives and waits. O(jobs in the snapshot behind it).
void cluster_add(struct cluster *cluster, uint32_t job);
// A job that runs or waits is gone.
void cluster_remove(struct cluster *cluster, uint32_t job);
// Does what the plan of the snapshot says. Fails where the plan gives what is not there.
int cluster_obey(struct cluster *cluster, const struct plan *plan, struct error *err);
// How many pods of the workload run.
uint32_t cluster_running_pods(const struct cluster *cluster, uint32_t workload);
